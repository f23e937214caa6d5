"""/v1/apply on tensors as models and kernels lay them out, against torch in float64: at least
APPLY_ELEMENTS elements of each layout."""

import io
import json
import math
import os
import unittest

import numpy
import torch

from server import ServerCase
from test_apply import read_file
from test_compare import NPY, SAFETENSORS, npy, safetensors

F64 = torch.float64
WANTED = int(os.environ.get("APPLY_ELEMENTS", 4000))
NAMES = {
    "float64": "F64",
    "float32": "F32",
    "int64": "I64",
    "int32": "I32",
    "complex64": "C64",
}


def file_of(**tables):
    return safetensors(
        {
            name: (NAMES[str(table.dtype)], list(table.shape), table.tobytes())
            for name, table in tables.items()
        }
    )


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


def deepseek(x, positions):
    """Neighbours come in, halves go out."""
    *axes, dim = x.shape
    halves = x.view(*axes, dim // 2, 2).transpose(-1, -2).reshape(x.shape)
    return llama(halves, positions)


def turn(x, positions, base=10000):
    """Rotate halves; `positions` are broadcast over the axes of x but the last one."""
    angles = positions[..., None].to(F64) * frequencies(x.shape[-1], base)
    angles = torch.cat((angles, angles), -1)
    return x * angles.cos() + rotate_half(x) * angles.sin()


def turn_neighbours(x, positions):
    angles = positions[..., None].to(F64) * frequencies(x.shape[-1])
    angles = angles.repeat_interleave(2, -1)
    return x * angles.cos() + rotate_neighbours(x) * angles.sin()


class Layouts(ServerCase):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(33)

    def table(self, *shape):
        table = self.random.standard_normal(shape)
        return table, torch.from_numpy(table)

    def rows(self, *others):
        """How many rows there must be of these other axes for the elements wanted."""
        return max(2, -(-WANTED // int(numpy.prod(others))))

    def post(self, scheme, query, body, media_type):
        return self.server.request(
            "POST", f"/v1/apply/{scheme}?{query}", {"Content-Type": media_type}, body
        )

    def array(self, scheme, query, table):
        reply = self.assert_ok(self.post(scheme, query, npy(table), NPY))
        return numpy.load(io.BytesIO(reply.body))

    def tensors(self, scheme, query, /, **tables):
        """{name: table of float64} of the answer."""
        reply = self.assert_ok(self.post(scheme, query, file_of(**tables), SAFETENSORS))
        return {
            name: bits.view(numpy.float64) for name, (_, bits) in read_file(reply.body).items()
        }

    def refuse(self, status, parameter, scheme, query, body, media_type=NPY, text=""):
        problem = self.assert_problem(
            self.post(scheme, query, body, media_type), status, parameter
        )
        self.assertIn(text, problem["detail"])

    def check(self, found, expected, tolerance=1e-11):
        """To the precision of sums of float64 whose angles have errors of their own."""
        expected = expected.numpy()
        self.assertEqual(found.shape, expected.shape)
        self.assertGreaterEqual(found.size, WANTED)
        wrong = int((abs(found - expected) > tolerance).sum())
        self.assertEqual(wrong, 0, f"of {found.size} elements")
        if "APPLY_ELEMENTS" in os.environ:
            print(f"{self.id().split('.')[-1]}: {found.size} elements, {wrong} wrong")


class Positions(Layouts):
    def test_left_padding(self):
        batch, heads, dim = 3, 4, 32
        length = self.rows(batch, heads, dim)
        table, query = self.table(batch, heads, length, dim)
        mask = numpy.arange(length)[None] >= numpy.array([0, 5, length // 2])[:, None]
        ids = numpy.maximum(mask.cumsum(-1) - 1, 0)
        found = self.tensors("rope", f"dim={dim}", query=table, position_ids=ids)["query"]
        self.check(found, turn(query, torch.from_numpy(ids)[:, None]))
        by_row = self.tensors(
            "rope",
            f"dim={dim}&axes=batch,length,heads,dim",
            query=numpy.ascontiguousarray(table.transpose(0, 2, 1, 3)),
            position_ids=ids.astype(numpy.int32),
        )["query"]
        numpy.testing.assert_array_equal(by_row.transpose(0, 2, 1, 3), found)

    def test_packed_sequences_with_their_starts(self):
        heads, dim = 3, 16
        tokens = self.rows(heads, dim)
        table, query = self.table(tokens, heads, dim)
        starts = numpy.array([0, tokens // 5, tokens // 2])
        ids = (
            numpy.arange(tokens)
            - starts[numpy.searchsorted(starts, numpy.arange(tokens), "right") - 1]
        )
        found = self.tensors(
            "rope", f"dim={dim}&axes=length,heads,dim", query=table, position_ids=ids
        )
        self.check(found["query"], turn(query, torch.from_numpy(ids)[:, None]))

    def test_decoding_with_one_position_for_each_row(self):
        heads, dim = 4, 64
        batch = self.rows(heads, dim)
        table, query = self.table(batch, heads, 1, dim)
        ids = self.random.integers(0, 5000, (batch, 1))
        for positions in (ids, ids[:, 0]):
            found = self.tensors("rope", f"dim={dim}", query=table, position_ids=positions)
            self.check(found["query"], turn(query, torch.from_numpy(ids)[:, None]))

    def test_positions_far_from_each_other_and_negative_ones(self):
        dim = 128
        batch = self.rows(2, 4, dim)
        table, query = self.table(batch, 2, 5, dim)
        ids = self.random.integers(-3, 400000, (batch, 5))
        found = self.tensors("rope", f"dim={dim}", query=table, position_ids=ids)["query"]
        self.check(found, turn(query, torch.from_numpy(ids)[:, None]), 1e-9)

    def test_one_row_of_positions_is_that_of_all(self):
        dim, length = 16, 40
        batch = self.rows(length, dim)
        table, query = self.table(batch, length, dim)
        ids = self.random.permutation(length)[None]
        found = self.tensors("rope", f"dim={dim}", query=table, position_ids=ids)["query"]
        self.check(found, turn(query, torch.from_numpy(ids)))

    def test_sinusoidal_of_padded_batches(self):
        batch, dim = 4, 32
        length = self.rows(batch, dim)
        table, x = self.table(batch, length, dim)
        ids = numpy.maximum(numpy.arange(length)[None] - numpy.arange(batch)[:, None] * 3, 0)
        angles = torch.from_numpy(ids)[..., None].to(F64) * frequencies(dim)
        encoding = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
        found = self.tensors("sinusoidal", f"dim={dim}", x=table, position_ids=ids)["x"]
        self.check(found, x + encoding)

    def test_queries_of_alibi_at_positions_of_their_own(self):
        heads, keys = 4, 50
        batch = self.rows(heads, keys)
        table, scores = self.table(batch, heads, 1, keys)
        ids = self.random.integers(0, keys, (batch, 1))
        slopes = 2.0 ** (-8 / heads * torch.arange(1, heads + 1, dtype=F64))
        distance = (torch.from_numpy(ids)[:, None, :, None] - torch.arange(keys)).abs()
        found = self.tensors(
            "alibi", f"length={keys}&heads={heads}", scores=table, position_ids=ids
        )["scores"]
        self.check(found, scores - slopes[:, None, None] * distance)

    def test_positions_that_do_not_fit_are_refused(self):
        x = numpy.ones((2, 3, 4, 8))
        ids = numpy.zeros((2, 4), numpy.int64)

        def refuse(status, parameter, query, positions, text="", x=x):
            self.refuse(
                status,
                parameter,
                "rope",
                query,
                file_of(query=x, position_ids=positions),
                SAFETENSORS,
                text,
            )

        for name in ("length", "offset", "positions", "step"):
            refuse(400, name, f"dim=8&{name}=1", ids, "which has the positions")
        refuse(422, "position_ids", "dim=8", ids.astype(float), "integers")
        refuse(422, "position_ids", "dim=8", ids[:, :3].copy(), "[2, 4] here")
        refuse(422, "position_ids", "dim=8", numpy.zeros((3, 4), numpy.int64), "[2, 4] here")
        refuse(422, "position_ids", "dim=8", ids[None], "[2, 4] here")
        refuse(422, "position_ids", "dim=8", ids + 2**62, "2^53")
        far = ids.copy()
        far[0, 0] = 2**33
        refuse(422, "position_ids", "dim=8", far, "2^32 from each other")
        self.refuse(
            422,
            "body",
            "sinusoidal_2d",
            "height=2&width=2&dim=8",
            file_of(x=x, position_ids=ids),
            SAFETENSORS,
            "(given: position_ids)",
        )


def turn_by_axis(x, positions, axis, layout="half", base=10000):
    """Rotate each pair by one of its positions [axes, ..., length], that of axis [dim/2]."""
    dim = x.shape[-1]
    of_pair = torch.from_numpy(positions).to(F64)[torch.as_tensor(axis)].movedim(0, -1)
    angles = of_pair * frequencies(dim, base)
    if layout == "interleaved":
        angles = angles.repeat_interleave(2, -1)
        return x * angles.cos() + rotate_neighbours(x) * angles.sin()
    angles = torch.cat((angles, angles), -1)
    return x * angles.cos() + rotate_half(x) * angles.sin()


class SeveralAxes(Layouts):
    """Positions on several axes, as transformers and diffusers hand them on."""

    def chunked(self, section):
        return numpy.repeat(numpy.arange(3), section)

    def interleaved(self, section):
        axis = numpy.zeros(sum(section), int)
        for number in (1, 2):
            axis[number : 3 * section[number] : 3] = number
        return axis

    def test_m_rope_by_time_height_and_width(self):
        section, dim, batch, heads = (16, 24, 24), 128, 2, 3
        length = self.rows(batch, heads, dim) + 4
        table, query = self.table(batch, heads, length, dim)
        ids = self.random.integers(0, 70, (3, batch, length))
        cases = (
            ("section_order=chunked", self.chunked(section), section),
            ("section_order=interleaved", self.interleaved((24, 20, 20)), (24, 20, 20)),
        )
        for order, axis, widths in cases:
            asked = f"dim={dim}&{order}&mrope_section={','.join(map(str, widths))}"
            for full in ("", "&table=full"):
                found = self.tensors("mrope", asked + full, query=table, position_ids=ids)
                self.check(found["query"], turn_by_axis(query, ids[:, :, None], axis))
            one = self.tensors("mrope", asked, query=table, position_ids=ids[:, :1].copy())
            flat = self.tensors("mrope", asked, query=table, position_ids=ids[:, 0].copy())
            numpy.testing.assert_array_equal(one["query"], flat["query"])
            self.check(flat["query"], turn_by_axis(query, ids[:, None, None, 0], axis))

    def test_the_same_positions_in_the_query(self):
        """Bit for bit, in float32, at positions far from each other."""
        ids = self.random.integers(0, 2**24, (3, 36))
        query = self.random.standard_normal((2, 36, 128)).astype("f4")
        asked = "dim=128&preset=qwen3_vl&mrope_section=24,20,20&rope_theta=5000000"
        reply = self.post(
            "mrope", asked, file_of(query=query, position_ids=ids.astype("i4")), SAFETENSORS
        )
        written = self.array(
            "mrope",
            f"{asked}&result=query&position_ids=" + ",".join(map(str, ids.ravel())),
            query,
        )
        found = read_file(self.assert_ok(reply).body)["query"][1].view(numpy.float32)
        numpy.testing.assert_array_equal(found, written)

    def test_a_layer_of_a_model(self):
        length, dim = 20, 128
        table, query = self.table(2, 4, length, dim)
        ids = self.random.integers(0, 40, (3, 1, length))
        reply = self.server.request(
            "POST",
            "/v1/apply?model=qwen2-vl-7b&part=text&layer=1&image=56,56",
            {"Content-Type": SAFETENSORS},
            file_of(query=table, position_ids=ids),
        )
        expected = turn_by_axis(query, ids[:, None], self.chunked((16, 24, 24)), base=1e6)
        found = self.assert_ok(reply).body[-table.nbytes :]
        self.check(numpy.frombuffer(found).reshape(table.shape), expected)
        text = "/v1/apply?model=qwen2-vl-7b&part=text&layer=1"
        body = file_of(query=table, position_ids=ids)
        reply = self.server.request("POST", text, {"Content-Type": SAFETENSORS}, body)
        problem = self.assert_problem(reply, 422, "position_ids")
        self.assertIn("image must be given", problem["detail"])

    def test_positions_that_do_not_fit_are_refused(self):
        x, section = numpy.ones((2, 3, 4, 128)), "dim=128"
        for ids, text in (
            (numpy.zeros((2, 4), int), "[3, length] or [3, batch, length]"),
            (numpy.zeros((4, 2, 4), int), "(given: [4, 2, 4])"),
            (numpy.zeros((3, 2, 5), int), "[2, 4] here"),
            (numpy.zeros(12, int), "[3, length]"),
        ):
            file = file_of(query=x, position_ids=ids)
            self.refuse(422, "position_ids", "mrope", section, file, SAFETENSORS, text)
        ids = numpy.zeros((3, 2, 4), int)
        for name, value in (("text", 4), ("grids", "1,2,2"), ("first_position", 1)):
            file = file_of(query=x, position_ids=ids)
            self.refuse(400, name, "mrope", f"{section}&{name}={value}", file, SAFETENSORS)
        negative = file_of(query=x, position_ids=ids - 1)
        self.refuse(422, "first_position", "mrope", section, negative, SAFETENSORS)


class Strangers(Layouts):
    """Tensors that are none of the scheme's."""

    def test_unknown_tensors_are_refused_by_name(self):
        x, ids = numpy.ones((9, 8)), numpy.arange(9)
        bounds = numpy.array([0, 9])
        for name, query, others in (
            ("seqlen_offsets", "dim=8", {}),
            ("positions", "dim=8", {}),
            ("cu_seqlens", "dim=8", {}),
            ("slot_mapping", "dim=8&length=9&inputs=query", {}),
            ("max_seqlen", "dim=8", {"position_ids": ids}),
        ):
            file = file_of(**{"query": x, name: bounds, **others})
            self.refuse(422, "body", "rope", query, file, SAFETENSORS, f"(given: {name})")
            self.refuse(422, "body", "rope", query, file, SAFETENSORS, "are position_ids, also")
        file = file_of(query=x, position_ids=ids)
        for scheme, query in (("axial_rope", "sizes=9,1&dim=8"), ("swin", "height=3&heads=2")):
            self.refuse(422, "body", scheme, query, file, SAFETENSORS, "are parameters")


class Packed(Layouts):
    def test_queries_keys_and_values_along_an_axis(self):
        batch, heads, dim = 2, 3, 32
        length = self.rows(batch, 3, heads, dim)
        table, qkv = self.table(batch, length, 3, heads, dim)
        found = self.array(
            "rope", f"length={length}&dim={dim}&axes=batch,length,qkv,heads,dim", table
        )
        positions = torch.arange(length)[:, None, None]
        expected = turn(qkv, positions)
        expected[:, :, 2] = qkv[:, :, 2]
        self.check(found, expected)
        self.assertEqual(found[:, :, 2].tobytes(), table[:, :, 2].tobytes())

    def test_values_keep_the_bytes_of_every_dtype(self):
        for kind, integers in (("<f2", "<u2"), ("<f4", "<u4"), ("<f8", "<u8")):
            bits = self.random.integers(
                0, 2 ** (8 * int(kind[2])), (5, 3, 2, 8), dtype=integers
            )
            found = self.array(
                "rope", "length=5&dim=8&axes=length,qkv,heads,dim", bits.view(kind)
            )
            self.assertEqual(found[:, 2].tobytes(), bits[:, 2].tobytes())

    def test_all_queries_then_all_keys_then_all_values(self):
        heads, kv_heads, dim = 8, 2, 16
        width = (heads + 2 * kv_heads) * dim
        tokens = self.rows(width)
        table, qkv = self.table(tokens, width)
        query = f"length={tokens}&dim={dim}&heads={heads}&kv_heads={kv_heads}"
        split = qkv.view(tokens, heads + 2 * kv_heads, dim)
        expected = turn(split, torch.arange(tokens)[:, None])
        expected[:, heads + kv_heads :] = split[:, heads + kv_heads :]
        for axes in ("&qkv=stacked", "&axes=length,(qkv,dim)"):
            found = self.array("rope", query + axes, table)
            self.check(found, expected.reshape(tokens, width))
            value = (heads + kv_heads) * dim
            self.assertEqual(found[:, value:].tobytes(), table[:, value:].tobytes())
        found = self.array("rope", query + "&axes=length,qkv,dim", split.numpy())
        self.check(found, expected)

    def test_each_key_with_its_queries(self):
        heads, kv_heads, dim, batch = 8, 2, 16, 3
        width = (heads + 2 * kv_heads) * dim
        length = self.rows(batch, width)
        table, qkv = self.table(length, batch, width)
        found = self.array(
            "rope",
            f"length={length}&dim={dim}&heads={heads}&kv_heads={kv_heads}&qkv=grouped"
            "&axes=length,batch,dim",
            table,
        )
        split = qkv.view(length, batch, kv_heads, heads // kv_heads + 2, dim)
        expected = turn(split, torch.arange(length)[:, None, None, None])
        expected[:, :, :, -1] = split[:, :, :, -1]
        self.check(found, expected.reshape(length, batch, width))

    def test_groups_in_an_axis_of_their_own(self):
        kv_heads, each, dim, batch = 2, 3, 16, 2
        heads, width = kv_heads * each, kv_heads * (each + 2)
        length = self.rows(batch, width, dim)
        table, qkv = self.table(batch, length, width, dim)
        split = qkv.view(batch, length, kv_heads, each + 2, dim)
        expected = turn(split, torch.arange(length)[:, None, None])
        expected[:, :, :, -1] = split[:, :, :, -1]
        asked = f"length={length}&dim={dim}&heads={heads}&kv_heads={kv_heads}&qkv=grouped&axes="
        found = self.array("rope", asked + "batch,length,(groups,qkv),dim", table)
        self.check(found, expected.flatten(2, 3))
        found = self.array("rope", asked + "batch,length,groups,qkv,dim", split.numpy())
        self.check(found, expected)
        one = asked + "batch,length,qkv,dim"
        self.refuse(422, "shape", "rope", one, npy(table), text="call it (groups,qkv)")

    def test_what_does_not_divide_is_refused(self):
        x = npy(numpy.ones((4, 96)))
        stacked = "length=4&dim=8&qkv=stacked"
        self.refuse(400, "qkv", "rope", stacked, x)
        self.refuse(400, "kv_heads", "rope", "length=4&dim=8&kv_heads=2", x)
        self.refuse(400, "kv_heads", "rope", stacked + "&heads=8&kv_heads=3", x)
        self.refuse(422, "shape", "rope", stacked + "&heads=8&kv_heads=4", x, text="128")
        self.refuse(422, "shape", "rope", "length=4&dim=8&heads=8", x, text="64")
        self.refuse(
            422,
            "axes",
            "xpos",
            "length=4&dim=8&axes=length,(qkv,dim)&heads=4",
            x,
            text="tables of their own",
        )


class Merged(Layouts):
    def test_heads_in_the_last_axis(self):
        heads, kv_heads, dim = 6, 2, 16
        tokens = self.rows(heads, dim)
        (q, query), (k, key) = self.table(tokens, heads * dim), self.table(
            tokens, kv_heads * dim
        )
        found = self.tensors(
            "rope",
            f"length={tokens}&dim={dim}&heads={heads}&kv_heads={kv_heads}",
            query=q,
            key=k,
        )
        positions = torch.arange(tokens)[:, None]
        self.check(found["query"], turn(query.view(tokens, heads, dim), positions).flatten(-2))
        numpy.testing.assert_allclose(
            found["key"],
            turn(key.view(tokens, kv_heads, dim), positions).flatten(-2),
            atol=1e-11,
        )

    def test_length_first_and_heads_in_the_last_axis(self):
        batch, heads, dim = 3, 4, 32
        length = self.rows(batch, heads, dim)
        table, query = self.table(length, batch, heads * dim)
        expected = turn(
            query.view(length, batch, heads, dim), torch.arange(length)[:, None, None]
        ).flatten(-2)
        for axes in (f"length,batch,dim&heads={heads}", "length,batch,(heads,dim)"):
            found = self.array("rope", f"length={length}&dim={dim}&axes={axes}", table)
            self.check(found, expected)

    def test_merged_heads_with_positions_of_their_own(self):
        batch, heads, dim = 3, 4, 16
        length = self.rows(batch, heads, dim)
        table, query = self.table(length, batch, heads * dim)
        ids = self.random.integers(0, 99, (batch, length))
        found = self.tensors(
            "rope", f"dim={dim}&axes=length,batch,(heads,dim)", query=table, position_ids=ids
        )["query"]
        expected = turn(
            query.view(length, batch, heads, dim), torch.from_numpy(ids.T)[:, :, None]
        )
        self.check(found, expected.flatten(-2))

    def test_batch_and_heads_in_one_axis(self):
        batch, heads = 3, 4
        queries = keys = math.isqrt(self.rows(batch, heads)) + 1
        table, scores = self.table(batch * heads, queries, keys)
        axes = "&axes=(batch,heads),queries,keys"
        found = self.array(
            "alibi", f"length={keys}&query_length={queries}&heads={heads}{axes}", table
        )
        slopes = 2.0 ** (-8 / heads * torch.arange(1, heads + 1, dtype=F64))
        distance = torch.arange(keys) - (torch.arange(queries) + keys - queries)[:, None]
        bias = -slopes[:, None, None] * distance.abs()
        self.check(found, scores + bias.repeat(batch, 1, 1))
        for scheme, query in (("t5", "seed=3"), ("kerple", "seed=1")):
            query = f"length=30&heads={heads}&{query}"
            table = self.random.standard_normal((batch, heads, 30, 30))
            straight = self.array(scheme, query, table)
            found = self.array(scheme, query + axes, table.reshape(-1, 30, 30))
            numpy.testing.assert_array_equal(found, straight.reshape(-1, 30, 30))

    def test_what_cannot_be_told_apart_is_refused(self):
        x = npy(numpy.ones((4, 96)))
        query = "length=4&dim=8&axes=length,"
        self.refuse(422, "shape", "rope", query + "(groups,heads,dim)", x, text="all but one")
        for axes in (
            "(heads,dim",
            "heads,dim)",
            "((heads,dim))",
            "(heads),dim",
            "()",
            "(dim,heads)",
        ):
            self.refuse(400, "axes", "rope", query + axes, x)
        self.refuse(422, "shape", "rope", "length=4&dim=10&axes=length,(heads,dim)", x)


class Columns(Layouts):
    def test_the_last_columns_are_turned(self):
        nope, dim, batch, heads = 48, 16, 2, 3
        length = self.rows(batch, heads, nope + dim)
        table, query = self.table(batch, heads, length, nope + dim)
        expected = torch.cat(
            (query[..., :nope], turn_neighbours(query[..., nope:], torch.arange(length))), -1
        )
        for offset in (nope, -dim):
            found = self.array(
                "rope",
                f"length={length}&dim={dim}&layout=interleaved&rotary_offset={offset}",
                table,
            )
            self.check(found, expected)
            self.assertEqual(found[..., :nope].tobytes(), table[..., :nope].tobytes())

    def test_the_last_columns_of_merged_heads(self):
        nope, dim, heads = 32, 16, 4
        tokens = self.rows(heads, nope + dim)
        table, query = self.table(tokens, heads * (nope + dim))
        found = self.array(
            "rope", f"length={tokens}&dim={dim}&heads={heads}&rotary_offset=-{dim}", table
        )
        split = query.view(tokens, heads, nope + dim)
        expected = torch.cat(
            (split[..., :nope], turn(split[..., nope:], torch.arange(tokens)[:, None])), -1
        )
        self.check(found, expected.flatten(-2))

    def test_deepseek_takes_neighbours_and_gives_halves(self):
        nope, dim, heads = 32, 64, 2
        length = self.rows(heads, nope + dim)
        table, query = self.table(heads, length, nope + dim)
        asked = f"length={length}&dim={dim}&layout=interleaved&rotary_offset={nope}"
        found = self.array("rope", asked + "&output_layout=half", table)
        turned = deepseek(query[..., nope:], torch.arange(length, dtype=F64))
        self.check(found, torch.cat((query[..., :nope], turned), -1))
        back = self.array(
            "rope",
            f"length={length}&dim={dim}&layout=half&output_layout=interleaved&inverse=true"
            f"&rotary_offset={nope}",
            found,
        )
        numpy.testing.assert_allclose(back, table, atol=1e-14)

    def test_rows_of_another_width_are_refused(self):
        x = npy(numpy.ones((4, 24)))
        self.refuse(422, "shape", "rope", "length=4&dim=16", x, text="with rotary_offset")
        for offset in (9, 17, -8, -25):
            asked = f"length=4&dim=16&rotary_offset={offset}"
            self.refuse(422, "shape", "rope", asked, x, text=f"from rotary_offset={offset} on")

    def test_columns_anywhere_are_turned_for_every_rotation(self):
        heads, head, dim = 3, 44, 24
        length = self.rows(heads, head) // 6 * 6 + 6
        table, query = self.table(heads, length, head)
        for scheme, asked in (
            ("rope", f"length={length}"),
            ("rope", f"length={length}&layout=interleaved"),
            ("rope", f"length={length}&table=full&partial_rotary_factor=0.5"),
            ("xpos", f"length={length}"),
            ("axial_rope", f"sizes=2,3,{length // 6}&layout=half_by_axis&table=full"),
            ("mrope", f"text={length}&mrope_section=4,4,4"),
        ):
            for offset in (0, 3, 20, -dim, -40):
                first = offset % head
                part = numpy.ascontiguousarray(table[..., first : first + dim])
                expected = table.copy()
                expected[..., first : first + dim] = self.array(
                    scheme, f"{asked}&dim={dim}&result=query", part
                )
                found = self.array(
                    scheme, f"{asked}&dim={dim}&result=query&rotary_offset={offset}", table
                )
                numpy.testing.assert_array_equal(found, expected, (scheme, offset))

    def test_columns_of_complex_numbers_begin_at_one(self):
        x = npy(numpy.ones((4, 12), numpy.complex64))
        asked = "length=4&dim=8&layout=interleaved&rotary_offset="
        self.assertEqual(self.post("rope", asked + "2", x, NPY).status, 200)
        self.refuse(422, "rotary_offset", "rope", asked + "3", x, text="even")


class TwoReadings(Layouts):
    def test_axes_are_asked_for_where_two_are_as_long_as_the_positions(self):
        scores = "batch,heads,queries,keys or batch,queries,heads,keys"
        rows = "batch,length,dim or length,batch,dim"
        four = "batch,axis_1,length,dim or batch,length,axis_1,dim"
        for scheme, asked, shape, readings in (
            ("rope", "length=8&dim=16", (2, 8, 8, 16), four),
            ("rope", "length=8&dim=16", (8, 8, 16), rows),
            ("rope", "length=8&dim=4&heads=4", (8, 8, 16), rows),
            ("sinusoidal", "length=8&dim=16", (8, 8, 16), rows),
            ("alibi", "length=5&query_length=3&heads=3", (2, 3, 3, 5), scores),
        ):
            x = npy(numpy.ones(shape))
            self.refuse(422, "axes", scheme, asked, x, text=readings)
            for axes in readings.split(" or "):
                self.assertEqual(self.post(scheme, f"{asked}&axes={axes}", x, NPY).status, 200)
        file = file_of(query=numpy.ones((2, 8, 8, 16)), position_ids=numpy.ones((2, 8), int))
        self.refuse(422, "axes", "rope", "dim=16", file, SAFETENSORS, "length,axis_1,dim")

    def test_they_are_not_where_one_is_or_both_mean_the_same(self):
        for scheme, asked, shape in (
            ("rope", "length=8&dim=8", (8, 8)),
            ("rope", "length=1&dim=16", (1, 4, 1, 16)),
            ("rope", "length=8&dim=16", (16, 3, 8, 16)),
            ("alibi", "length=5&heads=3", (5, 3, 5, 5)),
            ("sinusoidal_2d", "height=4&width=4&dim=8", (4, 8, 4, 4)),
        ):
            if scheme == "alibi":  # a batch of as many as there are queries
                self.refuse(422, "axes", scheme, asked, npy(numpy.ones(shape)))
            else:
                self.array(scheme, asked, numpy.ones(shape))

    def test_columns_elsewhere_are_refused_with_how_they_are_sent(self):
        blocks, heads, dim, size = 3, 2, 64, 16
        cache = self.random.standard_normal((blocks, heads, dim // 8, size, 8))  # of vLLM
        asked = f"length={size}&dim={dim}&axes="
        wrong = asked + "blocks,heads,dim,length,dim"
        how = "send query.transpose(0, 1, 3, 2, 4), whose last axes are made one"
        self.refuse(400, "axes", "rope", wrong, npy(cache), text=how)
        sent = cache.transpose(0, 1, 3, 2, 4).reshape(blocks, heads, size, dim)
        found = self.array("rope", asked + "blocks,heads,length,dim", sent.copy())
        self.check(found, turn(torch.from_numpy(sent.copy()), torch.arange(size)))
        for axes, shape, order in (
            ("batch,heads,dim,length", (2, 3, 8, 5), "(0, 1, 3, 2) "),
            ("dim,length", (8, 5), "(1, 0) "),
        ):
            asked = f"length=5&dim=8&axes={axes}"
            x = npy(numpy.ones(shape))
            self.refuse(400, "axes", "rope", asked, x, text=f"send query.transpose{order}")
        for axes in ("batch,rows,dim", "length,length,dim", "batch,rows,columns"):
            x = npy(numpy.ones((2, 5, 8)))
            self.refuse(400, "axes", "rope", f"length=5&dim=8&axes={axes}", x, text="all of")


class Scores(Layouts):
    def test_heads_of_one_tensor_parallel_rank(self):
        heads, first, of, keys, queries = 6, 6, 12, 30, 5
        batch = self.rows(heads, queries, keys)
        table, scores = self.table(batch, heads, queries, keys)
        powers = [2.0 ** (-8 * h / 8) for h in range(1, 9)]  # as ALiBi's code has 12 heads
        powers += [2.0 ** (-8 * h / 16) for h in range(1, 9, 2)]
        slopes = torch.tensor(powers[first : first + heads], dtype=F64)
        found = self.array(
            "alibi",
            f"length={keys}&query_length={queries}&heads={heads}&heads_total={of}"
            f"&first_head={first}&mask=from_last_key&axes=batch,heads,queries,keys",
            table,
        )
        bias = slopes[:, None, None] * (torch.arange(keys) - (keys - 1))
        self.check(found, scores + bias)

    def test_heads_after_keys(self):
        batch, heads = 2, 4
        queries = keys = math.isqrt(self.rows(batch, heads)) + 1
        table, scores = self.table(batch, queries, keys, heads)
        slopes = 2.0 ** (-8 / heads * torch.arange(1, heads + 1, dtype=F64))
        distance = torch.arange(keys) - (torch.arange(queries) + keys - queries)[:, None]
        found = self.array(
            "alibi",
            f"length={keys}&query_length={queries}&heads={heads}&axes=batch,queries,keys,heads",
            table,
        )
        bias = (-slopes[:, None, None] * distance.abs()).permute(1, 2, 0)
        self.check(found, scores + bias)

    def test_heads_after_keys_of_tables_that_are_not_kept(self):
        heads, keys, queries = 9, 2000, 300
        table = self.random.standard_normal((queries, keys, heads)).astype(numpy.float32)
        asked = f"length={keys}&query_length={queries}&heads={heads}"
        found = self.array("alibi", asked + "&axes=queries,keys,heads", table)
        straight = self.array("alibi", asked, numpy.ascontiguousarray(table.transpose(2, 0, 1)))
        numpy.testing.assert_array_equal(found.transpose(2, 0, 1), straight)

    def test_heads_after_keys_for_every_scheme_of_scores(self):
        for scheme, query in (("t5", "seed=3"), ("retnet", "dim=48"), ("sandwich", "dim=16")):
            query = f"length=25&heads=3&{query}"
            table = self.random.standard_normal((2, 3, 25, 25))
            straight = self.array(scheme, query, table)
            found = self.array(
                scheme,
                query + "&axes=batch,queries,keys,heads",
                numpy.ascontiguousarray(table.transpose(0, 2, 3, 1)),
            )
            numpy.testing.assert_array_equal(found, straight.transpose(0, 2, 3, 1))

    def test_a_bias_of_a_stored_table(self):
        table, scores = self.table(2, 3, 40, 40)
        weights = self.random.standard_normal((32, 3))
        stored = file_of(table=weights)
        reply = self.server.request("PUT", "/v1/sets/t5", {"Content-Type": SAFETENSORS}, stored)
        self.assertEqual(reply.status, 201, reply)
        asked = "length=40&heads=3&set=t5"
        reply = self.assert_ok(self.get(f"/v1/encodings/t5?{asked}&tensor=bucket&format=npy"))
        bias = torch.from_numpy(weights)[numpy.load(io.BytesIO(reply.body))].permute(2, 0, 1)
        self.check(self.array("t5", asked, table), scores + bias)

    def test_errors_are_found_by_head(self):
        table = self.random.standard_normal((2, 6, 6, 3))
        asked = "length=6&heads=3&axes=batch,queries,keys,heads"
        mine = self.array("alibi", asked, table)
        mine[1, 2, 3, 1] += 1
        reply = self.post(
            "alibi", asked + "&against=mine", file_of(scores=table, mine=mine), SAFETENSORS
        )
        found = self.assert_ok(reply).json()
        self.assertEqual((found["differing"], found["max_abs"]["at"]), (1, [1, 2, 3, 1]))
        self.assertEqual([part["differing"] for part in found["by"]["heads"]], [0, 1, 0])


class Orders(Layouts):
    def test_fortran_order_and_big_endian_numbers(self):
        dim = 16
        length = self.rows(2, 3, dim)
        table, query = self.table(2, 3, length, dim)
        expected = turn(query, torch.arange(length))
        for kind in ("<f8", ">f8"):
            for order in ("C", "F"):
                stored = numpy.array(table, kind, order=order)
                found = self.array("rope", f"length={length}&dim={dim}", stored)
                self.check(found, expected)

    def test_complex_numbers_are_pairs(self):
        dim, heads = 32, 4
        length = self.rows(2, heads, dim)
        table, query = self.table(2, length, heads, dim)
        asked = f"length={length}&dim={dim}&layout=interleaved&axes=batch,length,heads,dim"
        expected = turn_neighbours(query, torch.arange(length)[:, None])
        for order in ("C", "F"):
            pairs = numpy.array(table.view(numpy.complex128), order=order)
            found = self.array("rope", asked, pairs)
            self.assertEqual(found.dtype, numpy.complex128)
            self.check(found.view(numpy.float64), expected)
        short = table.view(numpy.complex128).astype(numpy.complex64)
        found = self.array("rope", asked, short)
        straight = self.array("rope", asked, short.view(numpy.float32))
        self.assertEqual(found.dtype, numpy.complex64)
        numpy.testing.assert_array_equal(found.view(numpy.float32), straight)

    def test_a_complex_result_is_compared_with_complex_numbers(self):
        table = self.random.standard_normal((3, 5, 8)).astype(numpy.float32)
        pairs = table.view(numpy.complex64)
        asked = "length=5&dim=8&layout=interleaved"
        mine = self.array("rope", asked, pairs)
        for query in (pairs, table):
            for against in (mine, mine.view(numpy.float32)):
                reply = self.post(
                    "rope",
                    asked + "&against=mine&tolerance=0",
                    file_of(query=query, mine=against),
                    SAFETENSORS,
                )
                self.assertTrue(self.assert_ok(reply).json()["equal"])
        reply = self.post("rope", asked, file_of(query=pairs), SAFETENSORS)
        body = self.assert_ok(reply).body
        size = int.from_bytes(body[:8], "little")
        head = json.loads(body[8 : 8 + size])["query"]
        self.assertEqual((head["dtype"], head["shape"]), ("C64", [3, 5, 4]))

    def test_complex_numbers_of_halves_are_refused(self):
        pairs = npy(numpy.ones((3, 4), numpy.complex64))
        self.refuse(422, "layout", "rope", "length=3&dim=8", pairs)
        self.refuse(
            422, "layout", "rope", "length=3&dim=8&layout=interleaved&output_layout=half", pairs
        )
        self.refuse(422, "dtype", "rope", "length=3&dim=8&layout=interleaved&dtype=f16", pairs)


class Several(Layouts):
    """Query and key of one kernel in one body."""

    def setUp(self):
        super().setUp()
        self.q, self.k = (
            self.random.standard_normal((2, heads, 7, 16)).astype(numpy.float32)
            for heads in (4, 2)
        )
        exact = read_file(
            self.assert_ok(
                self.post(
                    "rope", "length=7&dim=16", file_of(query=self.q, key=self.k), SAFETENSORS
                )
            ).body
        )
        self.exact = {name: bits.view(numpy.float32) for name, (_, bits) in exact.items()}

    def judge(self, query, status=200, /, **tables):
        reply = self.post("rope", f"length=7&dim=16&{query}", file_of(**tables), SAFETENSORS)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def test_each_has_its_verdict(self):
        wrong = self.exact["key"].copy()
        wrong[1, 0, 3, 5] += 1
        for inputs, names in (("", ("query", "key")), ("&inputs=q,k", ("q", "k"))):
            given = dict(zip(names, (self.q, self.k)))
            query = f"against=q_out,k_out&tolerance=1e-6{inputs}"
            found = self.judge(
                query, q_out=self.exact["query"], k_out=self.exact["key"], **given
            )
            self.assertTrue(found["equal"] and found["within_tolerance"])
            found = self.judge(query, 409, q_out=self.exact["query"], k_out=wrong, **given)
            self.assertFalse(found["equal"] or found["within_tolerance"])
            first, second = found["results"]
            self.assertEqual(
                [(one["request"]["tensor"], one["file"]["tensor"]) for one in (first, second)],
                list(zip(names, ("q_out", "k_out"))),
            )
            self.assertTrue(first["equal"])
            self.assertEqual((second["differing"], second["max_abs"]["at"]), (1, [1, 0, 3, 5]))

    def test_names_that_do_not_fit_are_refused(self):
        def refuse(status, parameter, query, /, **tables):
            self.refuse(
                status,
                parameter,
                "rope",
                f"length=7&dim=16&{query}",
                file_of(**tables),
                SAFETENSORS,
            )

        q, k, a, b = self.q, self.k, self.exact["query"], self.exact["key"]
        refuse(422, "against", "against=a,c", query=q, key=k, a=a, b=b)
        refuse(422, "against", "against=a,b", query=q, a=a, b=b)
        refuse(400, "result", "against=a", query=q, key=k, a=a)
        refuse(422, "body", "against=a,b", query=q, key=k, a=a, b=b, c=b)
        refuse(422, "inputs", "inputs=q,k,a", q=q, k=k, a=a)
        refuse(422, "inputs", "inputs=q,x", q=q, k=k)
        refuse(422, "inputs", "inputs=q,q", q=q)
        refuse(422, "against", "against=a,a", query=q, key=k, a=a)

    def test_one_of_the_inputs_may_be_left_out(self):
        found = self.judge("inputs=k&result=key&against=b", k=self.k, b=self.exact["key"])
        self.assertTrue(found["equal"])
        self.assertEqual(found["shape"], [2, 2, 7, 16])

    def test_merged_heads_are_judged_by_head(self):
        q = numpy.ascontiguousarray(self.q.transpose(0, 2, 1, 3)).reshape(2, 7, 64)
        mine = numpy.ascontiguousarray(self.exact["query"].transpose(0, 2, 1, 3)).reshape(
            2, 7, 64
        )
        mine[0, 1, 33] += 1
        found = self.judge("axes=batch,length,(heads,dim)&against=m", query=q, m=mine)
        self.assertEqual([part["differing"] for part in found["by"]["heads"]], [0, 0, 1, 0])
        self.assertEqual(found["max_abs"]["at"], [0, 1, 2, 1])


class Factors(Layouts):
    def temperature(self, positions, length, beta=0.1, shift=0):
        return 1 + beta * torch.log1p(((positions + shift) // length).to(F64))

    def test_ministral_multiplies_all_queries_by_a_temperature(self):
        dim, heads = 32, 2
        length = self.rows(heads, dim)
        (q, query), (k, key) = self.table(heads, length, dim), self.table(heads, length, dim)
        asked = f"length={length}&dim={dim}&step=7&temperature=ministral3&temperature_length=16"
        found = self.tensors("rope", asked + "&query_factors=true", query=q, key=k)
        positions = torch.arange(length) * 7
        factor = self.temperature(positions, 16)[:, None]
        self.check(found["query"], turn(query, positions) * factor)
        self.check(found["key"], turn(key, positions))
        plain = self.tensors("rope", asked, query=q)["query"]
        self.check(plain, turn(query, positions))

    def test_llama_4_multiplies_queries_that_it_does_not_turn(self):
        dim, heads = 32, 4
        length = self.rows(heads, dim)
        (q, query), (k, _) = self.table(heads, length, dim), self.table(heads, length, dim)
        found = self.tensors(
            "rope",
            f"length={length}&dim={dim}&temperature=llama4&temperature_length=8"
            "&query_factors=true&rotation=false",
            query=q,
            key=k,
        )
        factor = self.temperature(torch.arange(length), 8, shift=1)[:, None]
        self.check(found["query"], query * factor)
        self.assertEqual(found["key"].tobytes(), k.tobytes())

    def test_deepseek_multiplies_scores_by_a_factor(self):
        dim, nope, heads = 16, 32, 2
        length = self.rows(heads, nope + dim)
        table, query = self.table(heads, length, nope + dim)
        asked = (
            f"length={length}&dim={dim}&rope_type=yarn&factor=40&mscale=1&mscale_all_dim=1"
            f"&original_max_position_embeddings=4096&rotary_offset={nope}"
        )
        plain = torch.from_numpy(self.array("rope", asked, table))
        found = self.array("rope", asked + "&softmax_factor=true&query_factors=true", table)
        factor = (0.1 * numpy.log(40) + 1) ** 2
        self.check(found, plain * factor)

    def test_factors_of_packed_queries_alone(self):
        heads, kv_heads, dim = 4, 2, 16
        width = (heads + 2 * kv_heads) * dim
        tokens = self.rows(width)
        table, qkv = self.table(tokens, width)
        found = self.array(
            "rope",
            f"length={tokens}&dim={dim}&heads={heads}&kv_heads={kv_heads}&qkv=stacked"
            "&temperature=ministral3&temperature_length=8&query_factors=true",
            table,
        )
        split = qkv.view(tokens, -1, dim)
        expected = turn(split, torch.arange(tokens)[:, None])
        expected[:, :heads] *= self.temperature(torch.arange(tokens), 8)[:, None, None]
        expected[:, heads + kv_heads :] = split[:, heads + kv_heads :]
        self.check(found, expected.flatten(-2))

    def test_factors_that_are_not_asked_for_are_refused(self):
        x = npy(numpy.ones((4, 8)))
        self.refuse(422, "query_factors", "rope", "length=4&dim=8&query_factors=true", x)
        self.refuse(400, "rotation", "rope", "length=4&dim=8&rotation=false", x)

    def test_what_turns_is_refused_where_nothing_is_turned(self):
        x, query = npy(numpy.ones((4, 8))), (
            "length=4&dim=8&temperature=llama4&temperature_length=8&query_factors=true"
            "&rotation=false"
        )
        self.assert_ok(self.post("rope", query, x, NPY))
        for option, value in (("inverse", "true"), ("output_layout", "interleaved")):
            self.refuse(400, option, "rope", f"{query}&{option}={value}", x)


if __name__ == "__main__":
    unittest.main()
