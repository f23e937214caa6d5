"""/v1/compare with tolerance=float32, bfloat16 and float16: tables as torch computes them are
accepted up to position 100000, and those of another base are not."""

import io
import json
import math
import os
import random

import numpy
import torch

from service import ServiceTest
from test_identify_arithmetic import llama3, yarn

NPY = {"Content-Type": "application/x-npy"}


def reciprocals(base, dim):
    return 1.0 / (base ** (torch.arange(0, dim, 2, dtype=torch.int64).float() / dim))


def exponentials(base, dim):
    return torch.exp(torch.arange(0, dim, 2).float() * (-math.log(base) / dim))


def negative_powers(base, dim):
    return torch.pow(torch.tensor(float(base)), -torch.arange(0, dim, 2).float() / dim)


FORMULAS = (reciprocals, exponentials, negative_powers)


class Verdicts(ServiceTest):
    def verdict(self, scheme, query, table):
        """The status, how many entries are outside, and the largest error."""
        out = io.BytesIO()
        numpy.lib.format.write_array(out, numpy.ascontiguousarray(table.numpy()))
        reply = self.request("POST", f"/v1/compare/{scheme}?{query}", out.getvalue(), NPY)
        self.assertIn(reply.status, (200, 409), (query, reply.body[:500]))
        found = json.loads(reply.body)
        return reply.status, found["outside_tolerance"], found.get("max_abs")

    def assert_accepted(self, scheme, query, table):
        self.assertEqual(self.verdict(scheme, query, table)[:2], (200, 0), query)

    def test_rotary_tables_of_torch_up_to_position_100000(self):
        rng = random.Random(os.environ.get("TEST_SEED"))
        for base in (10000, 500000, 1000000, 150000.0, 10**7, 100):
            for formula in FORMULAS:
                dim = 2 * rng.randint(8, 128)
                rows = 600
                offset = rng.choice((0, 4000, rng.randint(1, 99400), 100000 - rows))
                positions = torch.arange(offset, offset + rows).float()
                name = rng.choice(("cos", "sin"))
                query = f"length={rows}&offset={offset}&dim={dim}&rope_theta={base}"
                query += f"&tensor={name}&tolerance=float32"
                function = getattr(torch, name)
                table = function(torch.outer(positions, formula(base, dim)))
                self.assert_accepted("rope", query, table)
                for dtype in (torch.float16, torch.bfloat16):
                    rounded = table.to(dtype)
                    wide = rounded.float()
                    if dtype == torch.float16:
                        self.assert_accepted("rope", query, rounded)
                    self.assert_accepted("rope", query.replace("float32", "bfloat16"), wide)
                other = function(torch.outer(positions, formula(base * 1.001, dim)))
                self.assertEqual(self.verdict("rope", query, other)[0], 409, query)

    def test_a_whole_table_of_100000_rows(self):
        angles = torch.outer(torch.arange(100000).float(), reciprocals(10000, 32))
        query = "length=100000&dim=32&tensor=cos&tolerance=float32"
        self.assert_accepted("rope", query, torch.cos(angles))
        late = torch.cos(torch.outer(torch.arange(100000).float(), reciprocals(10010, 32)))
        self.assertEqual(self.verdict("rope", query, late)[0], 409)
        self.assertEqual(
            self.verdict("rope", query.replace("float32", "1e-5"), torch.cos(angles))[0], 409
        )

    def test_sinusoidal_tables_of_torch(self):
        for rows, dim in ((5000, 512), (1500, 384), (100000, 16)):
            for base, good in ((10000.0, True), (10010.0, False)):
                table = torch.zeros(rows, dim)
                angles = torch.arange(rows).float()[:, None] * exponentials(base, dim)
                table[:, 0::2], table[:, 1::2] = torch.sin(angles), torch.cos(angles)
                query = f"length={rows}&dim={dim}&tolerance=float32"
                status = self.verdict("sinusoidal", query, table)[0]
                self.assertEqual(status, 200 if good else 409, (query, base))

    def test_scaled_frequencies(self):
        positions = torch.arange(90000, 90500).float()
        common = "length=500&offset=90000&tensor=sin&tolerance=float32"
        for frequencies, query in (
            (llama3(500000, 128, 8, 8192), "dim=128&rope_theta=500000&rope_type=llama3"),
            (
                yarn(1000000, 128, 4, 32768),
                "dim=128&rope_theta=1000000&rope_type=yarn&factor=4&attention_factor=1"
                "&original_max_position_embeddings=32768",
            ),
        ):
            frequencies = torch.tensor([float(w) for w in frequencies])
            table = torch.sin(torch.outer(positions, frequencies))
            self.assert_accepted("rope", f"{common}&{query}", table)

    def test_tables_in_16_bits(self):
        for dtype, name, rows in (
            (torch.bfloat16, "bfloat16", 256),
            (torch.float16, "float16", 2048),
        ):
            w = reciprocals(10000, 64).to(dtype)
            angles = torch.outer(torch.arange(rows).to(dtype).float(), w.float()).to(dtype)
            table = torch.cos(angles.float()).to(dtype).float()
            query = f"length={rows}&dim=64&tensor=cos&tolerance="
            self.assert_accepted("rope", query + name, table)
            self.assertEqual(self.verdict("rope", query + "float32", table)[0], 409)
            self.assertEqual(
                self.verdict("rope", query + name, torch.rand(rows, 32) * 2 - 1)[0], 409
            )

    def test_biases_of_float32_arithmetic(self):
        for heads in (8, 32):
            ratio = 2.0 ** (-8.0 / heads)
            slopes = torch.tensor([ratio ** (h + 1) for h in range(heads)])
            distance = -(torch.arange(500)[None, :] - torch.arange(500)[:, None]).abs()
            table = slopes[:, None, None] * distance.float()
            query = f"length=500&heads={heads}&tensor=bias&tolerance=float32"
            self.assert_accepted("alibi", query, table)
            self.assertEqual(self.verdict("alibi", query, table * 1.00001)[0], 409)


if __name__ == "__main__":
    import unittest

    unittest.main()
