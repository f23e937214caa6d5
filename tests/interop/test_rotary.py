"""Rotary tables: entries and frequencies of every type against mpmath, bit for bit, the values
that Hugging Face prints, and what turned queries and keys have in common."""

import random
import sys
from fractions import Fraction

import numpy as np

import exact
from rotary_frequencies import RULES, Rotary
from service import REAL, ServiceTest

ROWS = 64  # of a window
WINDOWS = 24  # of each type
FARTHEST = 10**9
ENTRIES_LEAST = 400_000

compared = {}  # rope_type: entries


def tearDownModule():
    if compared:
        print(
            "\nrotary entries compared with mpmath:",
            compared,
            sum(compared.values()),
            file=sys.stderr,
        )


def round_f32(value):
    return exact.round_rational(value, "f32")


# ---- random requests ----


def draw_keys(rng, rope_type, width):
    """Legal keys of a type, as model configurations or anybody else may have them."""
    factor = rng.choice([1.0, 2.0, 8.0, 32.0, rng.uniform(1, 64)])
    original = rng.choice([512, 2048, 4096, 8192, 32768])
    seq_len = rng.choice([1, original, original + 1, rng.randint(1, 10**6)])
    if rope_type in ("linear", "ntk", "proportional"):
        return {"factor": factor}
    if rope_type == "dynamic":
        name = rng.choice(["max_position_embeddings", "original_max_position_embeddings"])
        return {"factor": factor, name: original, "seq_len": seq_len}
    if rope_type == "yarn":
        return {
            "factor": factor,
            "original_max_position_embeddings": original,
            "beta_fast": rng.choice([32.0, 1000.0, rng.uniform(4, 64)]),
            "beta_slow": rng.choice([1.0, rng.uniform(0.01, 4)]),
            "truncate": rng.random() < 0.5,
            **rng.choice(
                [
                    {},
                    {"attention_factor": rng.uniform(0.3, 3)},
                    {"mscale": 1.0},
                    {"mscale": 1.0, "mscale_all_dim": 0.0},
                    {"mscale": rng.uniform(0.1, 2), "mscale_all_dim": 0.707},
                ]
            ),
        }
    if rope_type == "longrope":
        lists = {
            name: [rng.uniform(1, 64) for _ in range(width // 2)]
            for name in ("short_factor", "long_factor")
        }
        more = rng.choice(
            [
                {"factor": factor},
                {"max_position_embeddings": original * 32},
                {"attention_factor": rng.uniform(0.3, 3)},
            ]
        )
        return {
            "original_max_position_embeddings": original,
            "seq_len": seq_len,
            **lists,
            **more,
        }
    if rope_type == "llama3":
        low = rng.uniform(0.5, 4)
        return {
            "factor": factor,
            "original_max_position_embeddings": original,
            "low_freq_factor": low,
            "high_freq_factor": low * rng.uniform(1.01, 8),
        }
    return {}


def draw(rng, rope_type):
    dim = rng.choice([8, 16, 64, 80, 128])
    share = rng.choice([1.0, 1.0, 0.5])
    keys = draw_keys(rng, rope_type, int(dim * share))
    if rope_type == "proportional":
        share = rng.choice([1.0, 0.25, 0.3, rng.uniform(0, 1)])
    theta = rng.choice([10000.0, 500000.0, 1e6, 2.0, rng.uniform(2, 1e7)])
    return {
        "dim": dim,
        "rope_theta": theta,
        "partial_rotary_factor": share,
        "rope_type": rope_type,
        **keys,
    }


class ExactRopeTest(ServiceTest):
    def table_of(self, rotary, positions, step=None):
        """The exact [cosines, sines] of the frequencies that turn."""
        columns = [
            exact.Column(kind, wave) for kind in ("cos", "sin") for wave in rotary.waves()
        ]
        return exact.Table(columns, positions, rotary.attention(), step)

    def widened(self, rotary, bits, kind, dtype):
        """A table's columns and those of the frequencies that are 0."""
        still = rotary.width // 2 - rotary.turning
        value = rotary.attention() if kind == "cos" else Fraction(0)
        return np.pad(
            bits, ((0, 0), (0, still)), constant_values=exact.round_rational(value, dtype)
        )

    def compare(self, options, table, where, dtype="f32"):
        rotary = Rotary.of(options)
        for kind in ("cos", "sin"):
            got = self.bits("rope", {**options, **where, "tensor": kind, "dtype": dtype})
            want = self.widened(
                rotary,
                table.arranged([c for c in table.columns if c.kind == kind]).rounded(dtype),
                kind,
                dtype,
            )
            np.testing.assert_array_equal(got, want, f"{kind} {dtype} {options} {where}")
            count = compared.get(rotary.type, 0)
            compared[rotary.type] = count + got.size

    def test_windows_of_every_type_are_exact(self):
        """Windows begin anywhere from 0 to 10^9, as likely between 10 and 100 as elsewhere."""
        rng = random.Random(41)
        for rope_type in RULES:
            for number in range(WINDOWS):
                options = draw(rng, rope_type)
                offset = int(10 ** rng.uniform(0, 9)) if number else FARTHEST - ROWS + 1
                positions = [Fraction(offset + row) for row in range(ROWS)]
                table = self.table_of(Rotary.of(options), positions, Fraction(1))
                with self.subTest(**options):
                    self.compare(options, table, {"offset": offset, "length": ROWS})

    def test_positions_all_over_are_exact_in_every_dtype(self):
        rng = random.Random(42)
        for rope_type in RULES:
            options = draw(rng, rope_type)
            drawn = [rng.randint(0, FARTHEST) for _ in range(12)]
            drawn += [0, FARTHEST, -rng.randint(0, FARTHEST), rng.uniform(-1000, 1000)]
            table = self.table_of(Rotary.of(options), [Fraction(k) for k in drawn])
            for dtype in ("f32", "f16", "bf16"):
                with self.subTest(dtype=dtype, **options):
                    self.compare(options, table, {"positions": drawn}, dtype)
            for kind in ("cos", "sin"):
                got = self.bits(
                    "rope", {**options, "positions": drawn, "tensor": kind, "dtype": "f64"}
                )
                part = table.arranged([c for c in table.columns if c.kind == kind])
                error = part.distance(got[:, : len(part.columns)].view(REAL["f64"]))
                bound = 2.0**-51 * max(1, float(table.amplitude))
                self.assertLessEqual(error.max(initial=0), bound, f"{kind} {options}")

    def test_frequencies_of_every_type_are_exact(self):
        rng, count = random.Random(43), 0
        for rope_type in RULES:
            for _ in range(12):
                options = draw(rng, rope_type)
                rotary = Rotary.of(options)
                want = [wave.bits(round_f32) for wave in rotary.waves()]
                want += [0] * (rotary.width // 2 - rotary.turning)
                got = self.bits("rope", {**options, "length": 1, "tensor": "inv_freq"})
                self.assertEqual(got.tolist(), want, options)
                count += len(want)
        self.assertGreater(count, 1000)

    def test_full_tables_hold_every_column_twice(self):
        rng = random.Random(44)
        for rope_type in RULES:
            options = {**draw(rng, rope_type), "length": 5, "offset": rng.randint(0, FARTHEST)}
            for kind in ("cos", "sin"):
                half = self.bits("rope", {**options, "tensor": kind})
                for layout, want in (
                    ("half", np.hstack([half, half])),
                    ("interleaved", np.repeat(half, 2, axis=1)),
                ):
                    got = self.bits(
                        "rope", {**options, "tensor": kind, "table": "full", "layout": layout}
                    )
                    np.testing.assert_array_equal(got, want, f"{options} {layout}")

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        if sum(compared.values()) < ENTRIES_LEAST:
            raise AssertionError(f"too few entries compared: {compared}")


# ---- Hugging Face ----

# inv_freq as tests/utils/test_modeling_rope_utils.py of transformers prints it: a head of 128,
# theta 10000, 2048 positions, factor 10
PRINTED = {
    "default": """
1.0000e+00 8.6596e-01 7.4989e-01 6.4938e-01 5.6234e-01 4.8697e-01 4.2170e-01 3.6517e-01
3.1623e-01 2.7384e-01 2.3714e-01 2.0535e-01 1.7783e-01 1.5399e-01 1.3335e-01 1.1548e-01
1.0000e-01 8.6596e-02 7.4989e-02 6.4938e-02 5.6234e-02 4.8697e-02 4.2170e-02 3.6517e-02
3.1623e-02 2.7384e-02 2.3714e-02 2.0535e-02 1.7783e-02 1.5399e-02 1.3335e-02 1.1548e-02
1.0000e-02 8.6596e-03 7.4989e-03 6.4938e-03 5.6234e-03 4.8697e-03 4.2170e-03 3.6517e-03
3.1623e-03 2.7384e-03 2.3714e-03 2.0535e-03 1.7783e-03 1.5399e-03 1.3335e-03 1.1548e-03
1.0000e-03 8.6596e-04 7.4989e-04 6.4938e-04 5.6234e-04 4.8697e-04 4.2170e-04 3.6517e-04
3.1623e-04 2.7384e-04 2.3714e-04 2.0535e-04 1.7783e-04 1.5399e-04 1.3335e-04 1.1548e-04""",
    "dynamic": """
1.0000e+00 8.0931e-01 6.5498e-01 5.3008e-01 4.2900e-01 3.4720e-01 2.8099e-01 2.2741e-01
1.8404e-01 1.4895e-01 1.2055e-01 9.7558e-02 7.8955e-02 6.3899e-02 5.1714e-02 4.1853e-02
3.3872e-02 2.7413e-02 2.2185e-02 1.7955e-02 1.4531e-02 1.1760e-02 9.5176e-03 7.7027e-03
6.2339e-03 5.0451e-03 4.0831e-03 3.3045e-03 2.6744e-03 2.1644e-03 1.7517e-03 1.4176e-03
1.1473e-03 9.2852e-04 7.5146e-04 6.0817e-04 4.9220e-04 3.9834e-04 3.2238e-04 2.6091e-04
2.1115e-04 1.7089e-04 1.3830e-04 1.1193e-04 9.0585e-05 7.3312e-05 5.9332e-05 4.8018e-05
3.8861e-05 3.1451e-05 2.5453e-05 2.0600e-05 1.6672e-05 1.3492e-05 1.0920e-05 8.8374e-06
7.1522e-06 5.7883e-06 4.6845e-06 3.7912e-06 3.0683e-06 2.4832e-06 2.0097e-06 1.6265e-06""",
    "yarn": """
1.0000e+00 8.6596e-01 7.4989e-01 6.4938e-01 5.6234e-01 4.8697e-01 4.2170e-01 3.6517e-01
3.1623e-01 2.7384e-01 2.3714e-01 2.0535e-01 1.7783e-01 1.5399e-01 1.3335e-01 1.1548e-01
1.0000e-01 8.3479e-02 6.9590e-02 5.7925e-02 4.8136e-02 3.9931e-02 3.3061e-02 2.7315e-02
2.2515e-02 1.8512e-02 1.5177e-02 1.2403e-02 1.0101e-02 8.1924e-03 6.6143e-03 5.3120e-03
4.2400e-03 3.3599e-03 2.6396e-03 2.0520e-03 1.5746e-03 1.1882e-03 8.7713e-04 6.2810e-04
4.3007e-04 2.7384e-04 2.3714e-04 2.0535e-04 1.7783e-04 1.5399e-04 1.3335e-04 1.1548e-04
1.0000e-04 8.6596e-05 7.4989e-05 6.4938e-05 5.6234e-05 4.8697e-05 4.2170e-05 3.6517e-05
3.1623e-05 2.7384e-05 2.3714e-05 2.0535e-05 1.7783e-05 1.5399e-05 1.3335e-05 1.1548e-05""",
    "llama3": """
1.0000e+00 8.6596e-01 7.4989e-01 6.4938e-01 5.6234e-01 4.8697e-01 4.2170e-01 3.6517e-01
3.1623e-01 2.7384e-01 2.3714e-01 2.0535e-01 1.7783e-01 1.5399e-01 1.3335e-01 1.1548e-01
1.0000e-01 8.6596e-02 7.4989e-02 6.4938e-02 5.6234e-02 4.8697e-02 4.2170e-02 3.6517e-02
3.1623e-02 2.7384e-02 2.3714e-02 2.0535e-02 1.7783e-02 1.5399e-02 1.3335e-02 1.0730e-02
7.7785e-03 5.6009e-03 3.9991e-03 2.8248e-03 1.9675e-03 1.3449e-03 8.9549e-04 5.7363e-04
3.4539e-04 2.7384e-04 2.3714e-04 2.0535e-04 1.7783e-04 1.5399e-04 1.3335e-04 1.1548e-04
1.0000e-04 8.6596e-05 7.4989e-05 6.4938e-05 5.6234e-05 4.8697e-05 4.2170e-05 3.6517e-05
3.1623e-05 2.7384e-05 2.3714e-05 2.0535e-05 1.7783e-05 1.5399e-05 1.3335e-05 1.1548e-05""",
}
KEYS = {
    "default": {},
    "dynamic": {"factor": 10, "max_position_embeddings": 2048, "seq_len": 16384},
    "yarn": {"factor": 10, "original_max_position_embeddings": 2048},
    "llama3": {
        "factor": 10,
        "original_max_position_embeddings": 2048,
        "low_freq_factor": 1,
        "high_freq_factor": 4,
    },
}


class HuggingFaceTest(ServiceTest):
    def inv_freq(self, rope_type, **keys):
        bits = self.bits(
            "rope",
            {"length": 1, "dim": 128, "rope_type": rope_type, **keys, "tensor": "inv_freq"},
        )
        return bits.view(REAL["f32"])

    def test_frequencies_print_as_in_the_tests_of_transformers(self):
        for rope_type, text in PRINTED.items():
            got = [f"{float(w):.4e}" for w in self.inv_freq(rope_type, **KEYS[rope_type])]
            self.assertEqual(got, text.split(), rope_type)

    def test_frequencies_are_divided_as_in_the_tests_of_transformers(self):
        plain = self.inv_freq("default")
        for factor in (2, 10, 20):
            np.testing.assert_allclose(
                self.inv_freq("linear", factor=factor), plain / factor, rtol=2e-7
            )
        lists = {
            "short_factor": [2] * 64,
            "long_factor": list(range(1, 65)),
            "original_max_position_embeddings": 2048,
            "factor": 10,
        }
        for seq_len, divisors in ((2048, lists["short_factor"]), (2049, lists["long_factor"])):
            got = self.inv_freq("longrope", seq_len=seq_len, **lists)
            np.testing.assert_allclose(got, plain / np.float32(divisors), rtol=2e-7)
        short = self.inv_freq("dynamic", factor=10, max_position_embeddings=2048, seq_len=1)
        np.testing.assert_array_equal(short, plain)

    def test_factors_are_those_of_the_models(self):
        """DeepseekV3Attention's scale, Llama4TextAttention's and Ministral 3's temperatures."""

        def tensor(name, **options):
            return self.bits(
                "rope", {"dim": 64, "tensor": name, "dtype": "f64", **options}
            ).view(REAL["f64"])

        got = tensor("softmax_factor", length=1, preset="deepseek_v3", softmax_factor=True)
        np.testing.assert_allclose(got, [(0.1 * np.log(40) + 1) ** 2], rtol=1e-15)
        k = np.arange(0, 200000, 1001, dtype=np.float64)
        positions = {"length": len(k), "step": 1001}
        llama4 = np.log(np.floor((k + 1.0) / 8192) + 1.0) * 0.1 + 1.0
        got = tensor("temperature", temperature="llama4", preset="llama4_scout", **positions)
        np.testing.assert_allclose(got, llama4, rtol=1e-15)
        ministral3 = 1 + 0.1 * np.log(1 + np.floor(k / 16384))
        got = tensor("temperature", temperature="ministral3", preset="ministral3", **positions)
        np.testing.assert_allclose(got, ministral3, rtol=1e-15)

    def test_a_cache_is_cosines_beside_sines(self):
        """_compute_cos_sin_cache of vLLM: torch.cat((cos, sin), dim=-1)."""
        options = {"length": 50, "dim": 16, "offset": 7}
        cos, sin = (
            self.bits("rope", {**options, "tensor": name}).reshape(50, 8)
            for name in ("cos", "sin")
        )
        cache = self.bits("rope", {**options, "cos_sin": True, "tensor": "cos_sin"})
        np.testing.assert_array_equal(
            cache.reshape(50, 16), np.concatenate([cos, sin], axis=-1)
        )


class TorchscaleTest(ServiceTest):
    def test_xpos_is_that_of_torchscale(self):
        """XPOS.forward of xpos_relative_position.py, for queries and downscaled keys."""
        for n, dim in ((40, 12), (33, 64), (1, 2)):
            least = -n // 2
            base = (np.arange(0, dim, 2) + 0.4 * dim) / (1.4 * dim)
            scale = base ** (np.arange(least, n + least) / 512)[:, None]
            angle = np.arange(n)[:, None] * 10000.0 ** (-np.arange(dim // 2) / (dim // 2))
            for name, wave, factor in (
                ("q_cos", np.cos, scale),
                ("q_sin", np.sin, scale),
                ("k_cos", np.cos, 1 / scale),
                ("k_sin", np.sin, 1 / scale),
            ):
                got = self.bits(
                    "xpos",
                    {
                        "length": n,
                        "dim": dim,
                        "centre": (n + 1) // 2,
                        "table": "full",
                        "tensor": name,
                        "dtype": "f64",
                    },
                )
                want = np.repeat(wave(angle) * factor, 2, axis=-1)
                np.testing.assert_allclose(got.view(REAL["f64"]), want, rtol=0, atol=1e-14)


# ---- application ----


def turned_half(x, cos, sin):
    """Columns i and dim/2 + i make a pair; the tables are full."""
    first, second = np.split(x, 2, axis=-1)
    return x * cos + np.concatenate([-second, first], axis=-1) * sin


def turned_interleaved(x, cos, sin):
    """Columns 2i and 2i + 1 make a pair; the tables are full."""
    pairs = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1)
    return x * cos + pairs.reshape(x.shape) * sin


TURNED = {"half": turned_half, "interleaved": turned_interleaved}
SCALED = {
    "default": {},
    "linear": {"factor": 4.0},
    "ntk": {"factor": 4.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 4096},
    "llama3": {},
    "proportional": {"partial_rotary_factor": 0.5},
}


class ApplicationTest(ServiceTest):
    DIM, ROWS = 32, 48
    PLACES = (0, 1, 100_000, 10**9 - 100)
    ERROR = 1e-13

    def full(self, layout, **options):
        """Full cosines and sines in double."""
        return [
            self.bits(
                "rope",
                {
                    "dim": self.DIM,
                    "table": "full",
                    "layout": layout,
                    "dtype": "f64",
                    "tensor": kind,
                    **options,
                },
            ).view(REAL["f64"])
            for kind in ("cos", "sin")
        ]

    def scores(self, layout, **options):
        """q_i · k_j [rows, rows] of one random query and one random key, put everywhere."""
        q, k = np.random.default_rng(5).standard_normal((2, self.DIM))
        cos, sin = self.full(layout, length=self.ROWS, **options)
        return (
            TURNED[layout](np.tile(q, (self.ROWS, 1)), cos, sin)
            @ TURNED[layout](np.tile(k, (self.ROWS, 1)), cos, sin).T
        )

    def test_scores_depend_on_the_distance_alone(self):
        for layout in TURNED:
            for rope_type, keys in SCALED.items():
                origin = self.scores(layout, rope_type=rope_type, **keys)
                by_distance = {
                    j - i: origin[i, j] for i in range(self.ROWS) for j in range(self.ROWS)
                }
                want = np.array(
                    [[by_distance[j - i] for j in range(self.ROWS)] for i in range(self.ROWS)]
                )
                self.assertGreater(np.ptp(want), 1, "distances differ")
                for offset in self.PLACES:
                    got = self.scores(layout, rope_type=rope_type, offset=offset, **keys)
                    np.testing.assert_allclose(
                        got,
                        want,
                        rtol=0,
                        atol=100 * self.ERROR,
                        err_msg=f"{layout} {rope_type} {offset}",
                    )

    def test_the_score_of_equal_positions_is_that_before_turning(self):
        q, k = np.random.default_rng(5).standard_normal((2, self.DIM))
        for layout in TURNED:
            for rope_type, keys in SCALED.items():
                factor = float(
                    Rotary.of({"dim": self.DIM, "rope_type": rope_type, **keys}).attention()
                )
                got = np.diag(self.scores(layout, rope_type=rope_type, offset=777, **keys))
                np.testing.assert_allclose(
                    got, factor**2 * (q @ k), rtol=0, atol=100 * self.ERROR
                )

    def test_layouts_turn_alike_but_for_the_order_of_columns(self):
        x = np.random.default_rng(6).standard_normal((self.ROWS, self.DIM))
        order = np.arange(self.DIM).reshape(2, -1).T.ravel()  # 0, dim/2, 1, dim/2 + 1, …
        options = {"length": self.ROWS, "offset": 4321}
        half = turned_half(x, *self.full("half", **options))
        interleaved = turned_interleaved(x[:, order], *self.full("interleaved", **options))
        np.testing.assert_array_equal(interleaved, half[:, order])

    # ---- rotation_matrix ----

    def matrices(self, convention="rope", **options):
        bits = self.bits(
            "rotation_matrix",
            {"dim": self.DIM, "dtype": "f64", "convention": convention, **options},
        )
        return bits.view(REAL["f64"])

    def table(self, layout, **options):
        bits = self.bits(
            "sinusoidal", {"dim": self.DIM, "dtype": "f64", "layout": layout, **options}
        )
        return bits.view(REAL["f64"])

    def test_matrices_turn_as_the_tables_do(self):
        x = np.random.default_rng(7).standard_normal((self.ROWS, self.DIM))
        for offset in self.PLACES:
            options = {"length": self.ROWS, "offset": offset}
            want = turned_interleaved(x, *self.full("interleaved", **options))
            got = np.einsum("nij,nj->ni", self.matrices(**options), x)
            np.testing.assert_allclose(got, want, rtol=0, atol=self.ERROR)

    def test_a_matrix_transposed_times_another_is_that_of_the_distance(self):
        for offset in self.PLACES:
            turns = self.matrices(length=self.ROWS, offset=offset)
            for i, j in ((0, 0), (0, 1), (5, 40), (40, 5), (47, 0)):
                (want,) = self.matrices(positions=[j - i])
                np.testing.assert_allclose(turns[i].T @ turns[j], want, rtol=0, atol=self.ERROR)

    def test_shift_matrices_move_the_sinusoidal_table(self):
        for m in self.PLACES:
            rows = self.table("interleaved", length=self.ROWS, offset=m)
            for k in (1, 7, -3, 1000, 0.5):
                (shift,) = self.matrices("shift", positions=[k])
                want = self.table("interleaved", length=self.ROWS, offset=m + k)
                np.testing.assert_allclose(rows @ shift.T, want, rtol=0, atol=self.ERROR)

    def test_shift_matrices_move_concatenated_tables_by_their_columns(self):
        columns = np.arange(self.DIM).reshape(2, -1).T.ravel()  # sin 0, cos 0, sin 1, …
        rows = self.table("concat", length=self.ROWS)
        (shift,) = self.matrices("shift", positions=[12])
        there = self.table("concat", length=self.ROWS, offset=12)
        np.testing.assert_allclose(
            rows[:, columns] @ shift.T, there[:, columns], rtol=0, atol=self.ERROR
        )
        wrong = np.abs(rows @ shift.T - there).max()
        self.assertGreater(wrong, 0.1, "without the columns' order they do not")

    def test_shifts_are_the_transposed_turns(self):
        np.testing.assert_array_equal(
            self.matrices("shift", length=9, offset=-4),
            self.matrices(length=9, offset=-4).transpose(0, 2, 1),
        )
