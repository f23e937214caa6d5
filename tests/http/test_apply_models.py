"""/v1/apply against what models do to their tensors, in torch's float64."""

import io
import math
import unittest

import numpy
import torch

from server import ServerCase
from test_compare import NPY, SAFETENSORS, npy, safetensors

F64 = torch.float64


# ---- what models do, in float64 ----


def frequencies(dim, base=10000):
    return 1 / base ** (torch.arange(0, dim, 2, dtype=F64) / dim)


def rotate_half(x):
    one, other = x.chunk(2, -1)
    return torch.cat((-other, one), -1)


def rotate_neighbours(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)


def llama(x, positions, base=10000):
    angles = torch.outer(positions, frequencies(x.shape[-1], base))
    angles = torch.cat((angles, angles), -1)
    return x * angles.cos() + rotate_half(x) * angles.sin()


def gpt_j(x, positions):
    angles = torch.outer(positions, frequencies(x.shape[-1])).repeat_interleave(2, -1)
    return x * angles.cos() + rotate_neighbours(x) * angles.sin()


def neox(x, positions, fraction):
    width = int(x.shape[-1] * fraction)
    return torch.cat((llama(x[..., :width], positions), x[..., width:]), -1)


def deepseek(x, positions):
    """Neighbours come in, halves go out."""
    *axes, dim = x.shape
    halves = x.view(*axes, dim // 2, 2).transpose(-1, -2).reshape(x.shape)
    return llama(halves, positions)


def qwen2_vl(x, positions, sections, base):
    """`positions` are those in time, height and width: [3, n]."""
    angles = positions[..., None] * frequencies(x.shape[-1], base)
    angles = torch.cat((angles, angles), -1)
    angles = torch.cat(
        [part[i % 3] for i, part in enumerate(angles.split(2 * list(sections), -1))], -1
    )
    return x * angles.cos() + rotate_half(x) * angles.sin()


def t5_buckets(queries, keys, count, most):
    """Of an encoder."""
    distance = torch.arange(keys)[None] - torch.arange(queries)[:, None]
    half = count // 2
    near = half // 2
    size = distance.abs()
    far = (
        near
        + (torch.log(size.clamp(1).to(F64) / near) / math.log(most / near) * (half - near))
        .floor()
        .long()
    )
    return (distance > 0) * half + torch.where(size < near, size, far.clamp(max=half - 1))


def alibi(heads, keys):
    slopes = 2.0 ** (-8 / heads * torch.arange(1, heads + 1, dtype=F64))
    distance = torch.arange(keys, dtype=F64)
    return -slopes[:, None, None] * (distance[:, None] - distance[None]).abs()


def attend(scores, value):
    return scores.softmax(-1) @ value


class Models(ServerCase):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(20)

    def apply(self, scheme, query, table):
        reply = self.server.request(
            "POST", f"/v1/apply/{scheme}?{query}", {"Content-Type": NPY}, npy(table)
        )
        return numpy.load(io.BytesIO(self.assert_ok(reply).body))

    def assert_same(self, found, expected):
        """To the precision of sums of float64 whose angles have an error of their own."""
        numpy.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=1e-12)

    def query(self, *shape):
        table = self.random.standard_normal(shape)
        return table, torch.from_numpy(table)

    def test_llama(self):
        table, query = self.query(2, 4, 50, 128)
        self.assert_same(
            self.apply("rope", "length=50&dim=128&preset=llama2", table),
            llama(query, torch.arange(50, dtype=F64)),
        )
        self.assert_same(
            self.apply("rope", "length=50&dim=128&preset=llama3", table),
            llama(query, torch.arange(50, dtype=F64), 500000),
        )

    def test_llama_with_heads_last(self):
        table, query = self.query(2, 50, 4, 32)
        expected = llama(query.transpose(1, 2), torch.arange(50, dtype=F64)).transpose(1, 2)
        self.assert_same(
            self.apply("rope", "length=50&dim=32&axes=batch,length,heads,dim", table), expected
        )

    def test_gpt_j(self):
        table, query = self.query(3, 40, 64)
        self.assert_same(
            self.apply("rope", "length=40&dim=64&layout=interleaved", table),
            gpt_j(query, torch.arange(40, dtype=F64)),
        )

    def test_neox_turns_a_quarter_of_the_columns(self):
        table, query = self.query(2, 40, 96)
        self.assert_same(
            self.apply("rope", "length=40&dim=96&partial_rotary_factor=0.25", table),
            neox(query, torch.arange(40, dtype=F64), 0.25),
        )

    def test_deepseek_takes_neighbours_and_gives_halves(self):
        table, query = self.query(2, 40, 64)
        turned = self.apply("rope", "length=40&dim=64&layout=interleaved", table)
        reply = self.server.request(
            "POST",
            "/v1/convert/rope?from=interleaved&to=half&axis=2",
            {"Content-Type": NPY},
            npy(turned),
        )
        halves = numpy.load(io.BytesIO(self.assert_ok(reply).body))
        self.assert_same(halves, deepseek(query, torch.arange(40, dtype=F64)))

    def test_qwen2_vl(self):
        table, query = self.query(2, 8, 128)
        positions = self.get(
            "/v1/encodings/mrope?text=2,2&grids=1,4,4&dim=128&preset=qwen2_vl"
            "&tensor=position_ids&format=npy"
        )
        positions = numpy.load(io.BytesIO(self.assert_ok(positions).body))
        self.assertEqual(
            positions.T.tolist(),
            [
                [0, 0, 0],
                [1, 1, 1],
                [2, 2, 2],
                [2, 2, 3],
                [2, 3, 2],
                [2, 3, 3],
                [4, 4, 4],
                [5, 5, 5],
            ],
        )
        self.assert_same(
            self.apply("mrope", "text=2,2&grids=1,4,4&dim=128&preset=qwen2_vl", table),
            qwen2_vl(query, torch.from_numpy(positions).to(F64), (16, 24, 24), 1000000),
        )

    def test_attention_of_t5(self):
        (q, query), (k, key), (v, value) = (self.query(2, 3, 20, 8) for _ in range(3))
        weights = self.random.standard_normal((32, 3))
        file = safetensors({"table": ("F64", [32, 3], weights.tobytes())})
        self.assertEqual(
            self.server.request(
                "PUT", "/v1/sets/t5_bias", {"Content-Type": SAFETENSORS}, file
            ).status,
            201,
        )
        scores = query @ key.transpose(-1, -2)
        bias = torch.from_numpy(weights)[t5_buckets(20, 20, 32, 128)].permute(2, 0, 1)
        found = self.apply("t5", "length=20&heads=3&set=t5_bias", scores.numpy())
        self.assert_same(found, scores + bias)
        self.assert_same(attend(torch.from_numpy(found), value), attend(scores + bias, value))

    def test_attention_of_alibi(self):
        (q, query), (k, key), (v, value) = (self.query(2, 8, 20, 4) for _ in range(3))
        scores = query @ key.transpose(-1, -2) / 2
        masked = (scores + alibi(8, 20)).masked_fill(
            torch.ones(20, 20, dtype=torch.bool).triu(1), -math.inf
        )
        found = self.apply("alibi", "length=20&heads=8&mask=causal", scores.numpy())
        self.assertTrue(numpy.isneginf(found[..., 3, 4:]).all())
        self.assert_same(attend(torch.from_numpy(found), value), attend(masked, value))

    def test_rotations_of_two_positions_differ_by_that_of_their_distance(self):
        """R(i)^T R(j) = R(j - i): the rows of the identity become the columns of R."""
        identity = numpy.eye(32)
        rows = numpy.repeat(identity[:, None], 3, 1)
        for i, j in ((0, 5), (3, 1003), (100, 131072)):
            turned = self.apply("rope", f"positions={i},{j},{j - i}&dim=32", rows)
            one, other, between = (turned[:, at].T for at in range(3))
            numpy.testing.assert_allclose(one.T @ other, between, rtol=0, atol=1e-15)


if __name__ == "__main__":
    unittest.main()
