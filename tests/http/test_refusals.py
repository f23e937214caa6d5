"""What rotary and trained schemes refuse: one problem document that names the parameter, what
was given and the rule."""

import struct
import unittest

from server import ServerCase
from stored import PATH, write

DIM = 8
LONGROPE = {
    "rope_type": "longrope", "factor": 4, "original_max_position_embeddings": 4096,
    "seq_len": 8000,
}  # fmt: skip
# legal requests of each type, complete
TYPES = {
    "default": {},
    "linear": {"factor": 2},
    "ntk": {"factor": 2},
    "ntk_fixed": {"factor": 2},
    "dynamic": {"factor": 2, "original_max_position_embeddings": 2048, "seq_len": 4096},
    "yarn": {"factor": 4, "original_max_position_embeddings": 4096},
    "longrope": {**LONGROPE, "short_factor": [1] * 4, "long_factor": [1, 2, 3, 4]},
    "llama3": {},
    "proportional": {},
}
KEYS = {
    "factor": (
        "linear", "ntk", "ntk_fixed", "dynamic", "yarn", "longrope", "llama3", "proportional"
    ),  # fmt: skip
    "original_max_position_embeddings": ("dynamic", "yarn", "longrope", "llama3"),
    "max_position_embeddings": ("dynamic", "longrope"),
    "seq_len": ("dynamic", "longrope"),
    "alpha": ("dynamic",),
    "attention_factor": ("yarn", "longrope"),
    "mscale": ("yarn",),
    "mscale_all_dim": ("yarn",),
    "beta_fast": ("yarn",),
    "beta_slow": ("yarn",),
    "truncate": ("yarn",),
    "low_freq_factor": ("llama3",),
    "high_freq_factor": ("llama3",),
    "short_factor": ("longrope",),
    "long_factor": ("longrope",),
}
VALUES = {"truncate": True, "short_factor": [1, 1, 1, 1], "long_factor": [1, 1, 1, 1]}
REQUIRED = {
    "linear": ["factor"],
    "ntk": ["factor"],
    "ntk_fixed": ["factor"],
    "dynamic": ["factor", "seq_len", "original_max_position_embeddings"],
    "yarn": ["factor", "original_max_position_embeddings"],
    "longrope": ["original_max_position_embeddings", "seq_len", "short_factor", "long_factor"],
}


def zeros(*shape):
    count = 1
    for extent in shape:
        count *= extent
    return ("F32", list(shape), struct.pack(f"<{count}f", *[0.5] * count))


def items(count):
    return "1 item" if count == 1 else f"{count} items"


class RefusalCase(ServerCase):
    def refuse(self, scheme, options, status, *parameters, rule=None, given=None):
        """Check a refusal by POST and, if a query can express the values, by GET."""
        target = f"/v1/encodings/{scheme}"
        query = "&".join(
            f"{name}=" + (",".join(map(str, value)) if isinstance(value, list)
                          else str(value).lower() if isinstance(value, bool) else str(value))
            for name, value in options.items())  # fmt: skip
        for reply in (self.post(target, options), self.get(f"{target}?{query}")):
            problem = self.assert_problem(reply, status, *parameters)
            (first, *_) = problem["errors"]
            if rule:
                self.assertIn(rule, first["allowed"])
            if given:
                self.assertIn(given, first["given"])
        self.assertEqual(self.get(f"{target}?{query}").json(), problem)
        return problem

    def accept(self, scheme, options):
        self.assert_ok(self.post(f"/v1/encodings/{scheme}", options))


class Rotary(RefusalCase):
    def rope(self, rope_type="default", **options):
        return {"length": 4, "dim": DIM, "rope_type": rope_type, **TYPES[rope_type], **options}

    def test_the_complete_requests_are_taken(self):
        for rope_type in TYPES:
            self.accept("rope", self.rope(rope_type))

    def test_odd_dims(self):
        for dim in (1, 7, 127):
            self.refuse("rope", {"length": 4, "dim": dim}, 422, "dim", rule="an even integer")
            self.refuse(
                "rotation_matrix", {"length": 4, "dim": dim}, 422, "dim", rule="an even integer"
            )
        for share in (0.1, 0.4, 0.125):  # of 8 columns
            self.refuse(
                "rope",
                self.rope(partial_rotary_factor=share),
                422,
                "partial_rotary_factor",
                rule="even number of columns",
            )

    def test_a_dim_of_2_has_no_exponent(self):
        for rope_type in ("ntk", "dynamic"):
            self.refuse("rope", self.rope(rope_type, dim=2), 422, "dim", rule="dim/(dim-2)")
            narrow = self.rope(rope_type, partial_rotary_factor=0.25)
            self.refuse("rope", narrow, 422, "dim", rule="at least 4")
            self.accept("rope", self.rope(rope_type, dim=4))

    def test_keys_of_other_types(self):
        for rope_type in TYPES:
            for name, types in KEYS.items():
                if rope_type not in types:
                    with self.subTest(rope_type=rope_type, name=name):
                        options = self.rope(rope_type, **{name: VALUES.get(name, 2)})
                        self.refuse("rope", options, 422, name, rule=f"rope_type={rope_type}")

    def test_keys_that_are_missing(self):
        for rope_type, names in REQUIRED.items():
            for name in names:
                options = self.rope(rope_type)
                del options[name]
                self.refuse("rope", options, 422, name, rule=f"rope_type={rope_type}")
        options = self.rope("longrope")
        del options["factor"]
        self.refuse("rope", options, 422, "factor", rule="max_position_embeddings")

    def test_factor_lists_of_another_length(self):
        for name in ("short_factor", "long_factor"):
            for count in (1, 3, 5, 8):
                options = self.rope("longrope", **{name: [1] * count})
                self.refuse("rope", options, 422, name, rule="4 items", given=items(count))
        options = self.rope("longrope", partial_rotary_factor=0.5)
        self.refuse("rope", options, 422, "short_factor", "long_factor", rule="2 items")

    def test_factors_out_of_range_or_in_disorder(self):
        self.refuse("rope", self.rope("linear", factor=0.5), 422, "factor", rule="from 1")
        options = self.rope("llama3", low_freq_factor=4, high_freq_factor=3.5)
        self.refuse("rope", options, 422, "high_freq_factor", rule="low_freq_factor")
        options = self.rope("yarn", beta_fast=1, beta_slow=2)
        self.refuse("rope", options, 422, "beta_fast", rule="beta_slow")
        self.accept("rope", self.rope("llama3", low_freq_factor=4, high_freq_factor=4))
        self.accept("rope", self.rope("yarn", mscale=0.7))  # Hugging Face ignores it

    def test_a_configuration_of_hugging_face_is_told_what_to_change(self):
        scaling = {"type": "linear", "factor": 2.0}
        options = {"length": 4, "dim": DIM}
        target = "/v1/encodings/rope"
        problem = self.assert_problem(self.post(target, {**options, **scaling}), 400, "type")
        self.assertEqual(problem["did_you_mean"], "rope_type")
        reply = self.post(target, {**options, "rope_scaling": scaling})
        problem = self.assert_problem(reply, 400, "rope_scaling")
        self.assertIn("among the other parameters", problem["detail"])
        self.assert_ok(self.post(target, {**options, "factor": None}))  # null: not given
        reply = self.post(target, {**options, "rope_type": "YARN"})
        self.assertEqual(self.assert_problem(reply, 400)["did_you_mean"], "yarn")
        reply = self.post(target, {"length": 4, "head_dim": DIM})
        self.assertEqual(self.assert_problem(reply, 400)["did_you_mean"], "dim")


class Trained(RefusalCase):
    SETS = {
        "table": {"table": zeros(16, 8)},
        "vector": {"table": zeros(8)},
        "cube": {"table": zeros(2, 2, 2)},
        "bert": {"position_embeddings.weight": zeros(16, 8)},
        "waves": {"amplitude": zeros(9, 4), "frequency": zeros(9, 4)},
        "shared": {"amplitude": zeros(9, 4), "frequency": zeros(4), "phase": zeros(9, 4)},
    }
    FLOW = {"p0": (4,), "w1": (6, 5), "b1": (6,), "w2": (4, 7), "b2": (4,)}

    def setUp(self):
        for name, tensors in self.SETS.items():
            self.put(name, tensors)

    def put(self, name, tensors):
        reply = self.server.request("PUT", f"{PATH}/{name}", None, write(tensors))
        self.assertIn(reply.status, (201, 204), reply)

    def refuse_set(self, scheme, name, tensor, wanted, there=None, **options):
        """A refusal that names the set, the tensor and both shapes."""
        problem = self.refuse(
            scheme, {"length": 4, **options, "set": name}, 422, "set", rule=tensor
        )
        allowed = problem["errors"][0]["allowed"]
        if "trained tensors: " not in allowed:  # else it lists all that the scheme wants
            self.assertIn(f"tensor {tensor} of shape {wanted}", allowed)
        given = f"{name} with {tensor} {there} of f32" if there else f"{name} without {tensor}"
        self.assertEqual(problem["errors"][0]["given"], given)

    def test_unknown_sets(self):
        for scheme in ("learned", "hierarchical", "floater", "complex_order", "shaw", "t5"):
            for name in ("nosuch", "Table", "a" * 65, "../table"):
                reply = self.post(f"/v1/encodings/{scheme}", {"length": 4, "set": name})
                problem = reply.json()
                self.assert_problem(reply, problem["status"])
                self.assertIn(problem["status"], (400, 422))
                (error,) = [e for e in problem["errors"] if e["parameter"] == "set"]
                self.assertIn("GET /v1/sets lists them", error["allowed"])
        self.assert_problem(self.get(f"{PATH}/nosuch"), 404, code="unknown_set")

    def test_sets_of_other_shapes(self):
        for scheme in ("learned", "hierarchical"):
            self.refuse_set(scheme, "bert", "table", "[n, n]")
            self.refuse_set(scheme, "vector", "table", "[n, n]", "[8]")
            self.refuse_set(scheme, "cube", "table", "[n, n]", "[2, 2, 2]")
        self.refuse_set("complex_order", "table", "amplitude", "[n, n]")
        self.refuse_set("complex_order", "waves", "frequency", "[4]", "[9, 4]", sharing="dim")
        self.refuse_set(
            "complex_order", "waves", "frequency", "[9, 1]", "[9, 4]", sharing="word"
        )
        self.refuse_set("complex_order", "shared", "frequency", "[9, 4]", "[4]")
        self.refuse_set("complex_order", "shared", "phase", "[4]", "[9, 4]", sharing="dim")

    def test_networks_whose_layers_do_not_meet(self):
        self.put("flow", {name: zeros(*shape) for name, shape in self.FLOW.items()})
        self.accept("floater", {"length": 4, "set": "flow"})
        wrong = {"w1": ((6, 4), "[n, 5]"), "b1": ((5,), "[6]"), "w2": ((7, 4), "[4, 7]"),
                 "b2": ((4, 1), "[4]")}  # fmt: skip
        for tensor, (shape, wanted) in wrong.items():
            self.put("wrong", {name: zeros(*(shape if name == tensor else right))
                               for name, right in self.FLOW.items()})  # fmt: skip
            self.refuse_set("floater", "wrong", tensor, wanted, str(list(shape)))
            self.put("wrong", {name: zeros(*right) for name, right in self.FLOW.items()
                               if name != tensor})  # fmt: skip
            rule = "[n, 5]" if tensor == "w1" else str(list(self.FLOW[tensor]))
            self.refuse_set("floater", "wrong", tensor, rule)
        self.refuse_set("floater", "table", "p0", "[n]")

    def test_extents_that_differ_from_the_sets(self):
        for scheme, name, options in (
            ("learned", "dim", {"set": "table", "dim": 9}),
            ("learned", "base_length", {"set": "table", "base_length": 15}),
            ("hierarchical", "base_length", {"set": "table", "base_length": 8}),
            ("complex_order", "vocab", {"set": "waves", "vocab": 10}),
        ):
            self.refuse(scheme, {"length": 4, **options}, 422, name, rule="set")
        options = {"length": 4, "set": "table", "seed": 1}
        self.refuse("learned", options, 422, "seed", rule="set")

    def test_alphas_that_make_no_hierarchy(self):
        whole = {"length": 4, "dim": 4, "base_length": 4}
        for alpha in (0.5, 0.50000000000000000001):
            self.refuse(
                "hierarchical", {**whole, "alpha": alpha}, 422, "alpha", rule="other than 0.5"
            )
        for alpha in (0, 1, -0.1, 1.5):
            self.refuse(
                "hierarchical",
                {**whole, "alpha": alpha},
                422,
                "alpha",
                rule="a number above 0 and below 1",
            )

    def test_rows_beyond_the_square_of_the_table(self):
        whole = {"dim": 4, "base_length": 4}
        self.accept("hierarchical", {**whole, "length": 16})
        self.refuse("hierarchical", {**whole, "length": 17}, 422, "length", rule="below 16")
        self.refuse(
            "hierarchical", {**whole, "length": 1, "offset": 16}, 422, "length", rule="below 16"
        )
        self.refuse(
            "hierarchical", {**whole, "positions": [3, 16]}, 422, "positions", rule="below 16"
        )
        self.refuse(
            "hierarchical",
            {"length": 257, "set": "table"},
            422,
            "length",
            rule="below 256",
        )
        self.refuse(
            "learned",
            {"length": 17, "set": "table"},
            422,
            "length",
            rule="extend=random",
        )

    def test_words_outside_the_vocabulary(self):
        whole = {"length": 3, "dim": 4, "vocab": 10}
        self.accept("complex_order", {**whole, "tokens": [9, 0, 9]})
        self.refuse(
            "complex_order",
            {**whole, "tokens": [9, 10, 0]},
            422,
            "tokens",
            rule="below 10",
            given="10",
        )
        self.refuse("complex_order", {**whole, "tokens": [0, -1, 0]}, 422, "tokens")
        self.refuse("complex_order", {**whole, "tokens": [0, 0.5, 0]}, 400, "tokens")
        for tokens in ([1], [1, 2, 3, 4]):
            self.refuse(
                "complex_order",
                {**whole, "tokens": tokens},
                422,
                "tokens",
                rule="3 words, one for each row",
                given=items(len(tokens)),
            )
        self.refuse(
            "complex_order",
            {"length": 1, "set": "waves", "tokens": [9]},
            422,
            "tokens",
            rule="below 9",
        )

    def test_values_that_no_element_holds(self):
        large = ("F64", [2, 2], struct.pack("<4d", 1e5, 1, 1, 1))
        self.put("large", {"table": large})
        for scheme in ("learned", "hierarchical"):
            options = {"length": 2, "set": "large"}
            self.accept(scheme, options)
            self.refuse(scheme, {**options, "dtype": "f16"}, 422, "dtype", rule="65520")


if __name__ == "__main__":
    unittest.main()
