"""Mistakes in a query: one problem document that names every one of them."""

import unittest
from urllib.parse import quote

from server import ServerCase

SINUSOIDAL = "/v1/encodings/sinusoidal"
NOT_NUMBERS = [
    "abc", "0x10", "0b1", "1_000", "inf", "-inf", "Infinity", "nan", "NaN", "1e", "1e+", "e5",
    "1.", ".5", "01", "--1", "-", "%2B4", "1f", "1,5", "1;5", "%204", "4%20", "4%0A", "%09",
    "%D9%A4", "%EF%BC%94", "true", "null", "4abc", "1e1e1", "1e1.5", "4/1", "1e99999x",
]  # fmt: skip
NOT_LISTS = [
    "0,,1", ",0", "0,", ",", "0,%201", "0%20,1", "%200", "0;1", "[0,1]", "0,x", "0,inf",
    "0,nan",
    "0,0x1", "0%2C%2C1",
]  # fmt: skip
NOT_UTF8 = ["%ff", "%c3%28", "%c0%80", "%ed%a0%80", "%f5%80%80%80", "%e2%82", "a%80", "%fe"]
BAD_PERCENT = ["%", "%4", "%zz", "%4g", "a%", "%%34", "%u0034"]


class Mistakes(ServerCase):
    def refuse(self, query, status, *parameters, **expected):
        """The problem document for a query of sinusoidal."""
        reply = self.get(f"{SINUSOIDAL}?{query}")
        return self.assert_problem(reply, status, *parameters, **expected)

    def assert_allowed(self, problem, parameter, text):
        (error,) = (error for error in problem["errors"] if error["parameter"] == parameter)
        self.assertIn(text, error["allowed"])

    def test_three_wrong_parameters_are_three_errors(self):
        problem = self.refuse("length=abc&dim=-5&layout=spiral", 400, "length", "dim", "layout")
        given = {error["parameter"]: error["given"] for error in problem["errors"]}
        self.assertEqual(given, {"length": "abc", "dim": "-5", "layout": "spiral"})

    def test_mistakes_of_every_kind_are_listed_at_once(self):
        query = "length=abc&dim=0&colour=red&dtype=f23&format=pdf&positions&preset=gpt9"
        names = ["length", "dim", "colour", "dtype", "format", "positions", "preset"]
        self.refuse(query, 400, *names)

    def test_a_wrong_tensor_is_listed_beside_other_mistakes(self):
        self.refuse("length=abc&dim=8&tensor=keys", 400, "length", "tensor")

    def test_a_wrong_parameter_is_listed_once(self):
        for query in ("length=&dim=8", "length&dim=8", "length=abc&dim=8", "length=%ff&dim=8"):
            with self.subTest(query):
                self.refuse(query, 400, "length")

    def test_more_mistakes_than_fit_are_counted(self):
        query = "&".join(f"p{i}=1" for i in range(50))
        problem = self.refuse(f"length=4&dim=8&{query}", 400)
        self.assertEqual(len(problem["errors"]) + problem["errors_dropped"], 50)

    def test_status_is_422_where_every_value_is_well_formed(self):
        self.refuse("length=0&dim=8", 422, "length")
        self.refuse("length=-1&dim=0", 422, "length", "dim")
        self.refuse("length=4&dim=8&offset=1e300", 422, "offset")
        self.refuse("length=4&dim=8&offset=1e999", 422, "offset")
        self.refuse("length=0&dim=x", 400, "length", "dim")

    def test_what_is_allowed_is_said(self):
        problem = self.refuse("length=0&dim=8", 422, "length")
        self.assert_allowed(problem, "length", "1 to 9007199254740992")
        problem = self.refuse("length=4&dim=8&layout=x", 400, "layout")
        self.assert_allowed(problem, "layout", "interleaved, concat, concat_cos_first")
        self.assertIn("concat_cos_first", problem["detail"])

    def test_a_missing_parameter_is_named_with_its_alternative(self):
        problem = self.refuse("dim=8&layout=concat", 400, "length")
        self.assertIsNone(problem["errors"][0]["given"])
        self.assert_allowed(problem, "length", "positions")
        self.assertEqual(
            problem["detail"],
            'missing parameter "length": sinusoidal needs an '
            "integer from 1 to 9007199254740992, unless positions is given "
            "(number of rows)",
        )

    def test_the_detail_names_the_parameters_that_are_wrong(self):
        for query, detail in {
            "length=abc&dim=-5&layout=spiral": "length, dim and layout are wrong",
            "length=abc&dim=8&tensor=keys": "length and tensor are wrong",
            "preset=marian": "length and dim are missing",
            "dim=8&length=4&dim=8&dim=8": "dim is given more than once",
        }.items():
            problem = self.refuse(query, 400)
            self.assertTrue(problem["detail"].startswith(detail), problem)
            messages = [error["message"] for error in problem["errors"]]
            self.assertEqual(
                "errors has a message" in problem["detail"], len(set(messages)) > 1
            )
        strangers = "&".join(f"p{i}=1" for i in range(50))
        detail = self.refuse(f"length=4&dim=8&{strangers}", 400)["detail"]
        self.assertRegex(detail, r"\Ap0, .* and 34 more are wrong")

    def test_an_unknown_parameter_is_told_what_there_is(self):
        problem = self.refuse("lenght=4&dim=8", 400, "lenght")
        self.assertTrue(
            problem["detail"].startswith(
                'unknown parameter "lenght"; did you mean "length"? sinusoidal takes length, '
                "offset, "
            )
        )
        self.assertIn("GET /v1/schemes/sinusoidal describes them", problem["detail"])
        for name in ("positions", "dtype", "preset", "format", "tensor"):
            self.assert_allowed(problem, "lenght", name)
        reply = self.get("/v1/similarity/integer?length=4&metric=l2&colour=1")
        detail = self.assert_problem(reply, 400, "colour")["detail"]
        self.assertIn('unknown parameter "colour"; the similarity of integer takes', detail)
        self.assertIn("rows", detail)

    def test_an_open_bound_is_said_to_be_open(self):
        for alpha in ("0", "1", "1.5"):
            reply = self.get(
                f"/v1/encodings/hierarchical?length=4&dim=4&base_length=4&alpha={alpha}"
            )
            problem = self.assert_problem(reply, 422, "alpha")
            self.assertEqual(
                problem["detail"],
                f"alpha must be a number above 0 and below 1 (given: {alpha})",
            )

    def test_an_odd_dim_names_odd_dim_as_the_way_out(self):
        problem = self.refuse("length=4&dim=7", 422, "dim")
        self.assertEqual(problem["errors"][0]["given"], "7")
        self.assert_allowed(problem, "dim", "odd_dim=")
        for choice in ("truncate", "pad"):
            reply = self.get(f"{SINUSOIDAL}?length=4&dim=7&odd_dim={choice}")
            self.assertEqual(self.assert_ok(reply).header("Tensor-Shape"), "4, 7")

    def test_positions_exclude_length_offset_and_step(self):
        for name, value in {"length": 3, "offset": 0, "step": 1}.items():
            with self.subTest(name):
                problem = self.refuse(f"positions=0,1,2&dim=8&{name}={value}", 422, name)
                self.assert_allowed(problem, name, "positions")

    def test_unknown_parameters_are_refused_whatever_their_value(self):
        for name in ("foo", "LENGTH", "Length", "length ", "dim[]", "_", "é", "a.b", "accept"):
            for value in ("1", "x"):
                with self.subTest(name):
                    problem = self.refuse(f"length=4&dim=8&{quote(name)}={value}", 400, name)
                    self.assertEqual(problem["errors"][0]["given"], value)

    def test_empty_and_valueless_parameters_are_refused(self):
        for name in ("offset", "dtype", "format", "tensor", "preset", "positions", "foo"):
            for written in (name, f"{name}="):
                with self.subTest(written):
                    self.refuse(f"length=4&dim=8&{written}", 400, name)

    def test_nameless_pairs_are_refused(self):
        complete = "length=4&dim=8"
        for query in ("=4", "&", "length=4&&dim=8", f"&{complete}", f"{complete}&", "=", "&=&"):
            with self.subTest(query):
                self.refuse(query, 400)

    def test_repeated_parameters_are_refused_even_if_equal(self):
        values = {"length": 4, "dtype": "f32", "format": "npy", "tensor": "encoding"}
        for name, value in values.items():
            with self.subTest(name):
                query = f"{name}={value}&{name}={value}"
                rest = "&dim=8" if name == "length" else "&length=4&dim=8"
                self.refuse(query + rest, 400, name)
        self.refuse("preset=marian&length=4&dim=8&preset=whisper", 400, "preset")
        self.refuse("length=4&dim=8&%6cength=4", 400, "length")

    def test_text_that_is_no_number_is_400(self):
        for text in NOT_NUMBERS:
            for name in ("length", "offset"):
                with self.subTest(f"{name}={text}"):
                    rest = "dim=8" if name == "length" else "length=4&dim=8"
                    self.refuse(f"{rest}&{name}={text}", 400, name)

    def test_a_fraction_is_no_integer(self):
        for text in ("4.5", "1e-1", "0.1e0"):
            reply = self.get(f"{SINUSOIDAL}?length={text}&dim=8")
            self.assertIn(reply.status, (400, 422))
            self.assert_problem(reply, reply.status, "length")

    def test_a_raw_plus_is_a_blank_and_the_error_says_so(self):
        queries = {"length=1e+1&dim=8": "length", "positions=0,1e+2&dim=8": "positions"}
        for query, name in queries.items():
            problem = self.refuse(query, 400, name)
            self.assert_allowed(problem, name, "write 1e4")
            self.assertIn("1e ", problem["errors"][0]["given"])
        self.assert_ok(self.get(f"{SINUSOIDAL}?length=1e%2B1&dim=8"))

    def test_positions_are_numbers_separated_by_commas_alone(self):
        for text in NOT_LISTS:
            with self.subTest(text):
                self.refuse(f"positions={text}&dim=8", 400, "positions")
        problem = self.refuse("positions=0,1e17&dim=8", 422, "positions")
        self.assertEqual(problem["errors"][0]["given"], "1e17")

    def test_booleans_are_true_or_false(self):
        for text in ("True", "1", "yes", "on", "%20true", "truee"):
            self.refuse(f"length=4&dim=8&zero_first_row={text}", 400, "zero_first_row")

    def test_malformed_text_is_refused_in_names_and_values(self):
        for text in NOT_UTF8 + BAD_PERCENT:
            with self.subTest(text):
                self.refuse(f"length=4&dim=8&layout={text}", 400, "layout")
                self.refuse(f"length=4&dim=8&{text}=4", 400)
                self.refuse(f"length=4&dim=8&{text}", 400)

    def test_a_nul_does_not_end_a_name_or_value(self):
        complete = "length=4&dim=8"
        for query in (
            "length=4%00&dim=8",
            "length=4%005&dim=8",
            "length%00=4&dim=8",
            f"{complete}&layout=concat%00",
            f"{complete}&layout%00=concat",
            f"{complete}&layout=concat%00x&format=npy",
            f"{complete}&format=npy%00",
            f"{complete}&tensor=encoding%00",
            f"{complete}&%00",
            f"{complete}%00",
        ):
            with self.subTest(query):
                self.refuse(query, 400)

    def test_raw_8_bit_characters_in_the_target_are_refused(self):
        for text in (b"\xc3\xa9", b"\xff", b"\x80"):
            with self.subTest(text), self.server.wire() as wire:
                target = SINUSOIDAL.encode() + b"?length=4&dim=8&layout=" + text
                self.assert_problem(wire.exchange("GET", target), 400)

    def test_what_was_given_comes_back_as_it_was(self):
        texts = ["<script>", '"quoted"', "back\\slash", "é€😀", "a\nb\x01\x7f", "{}", "%41"]
        for text in texts:
            with self.subTest(text):
                problem = self.refuse(f"length=4&dim=8&layout={quote(text)}", 400, "layout")
                self.assertEqual(problem["errors"][0]["given"], text)

    def test_long_values_do_not_make_long_answers(self):
        for name in ("layout", "offset", "dtype", "format", "foo", "€" * 1000):
            reply = self.get(f"{SINUSOIDAL}?length=4&dim=8&{quote(name)}={'z' * 5000}")
            self.assert_problem(reply, 400)
            self.assertLess(len(reply.body), 3000)
        reply = self.get(f"{SINUSOIDAL}?length=4&dim=8&layout={quote('€' * 1500)}")
        given = self.assert_problem(reply, 400, "layout")["errors"][0]["given"]
        self.assertTrue(given.startswith("€€€"), "cut at a character's boundary")

    def test_a_value_over_its_dtype_names_dtype(self):
        self.refuse("length=4&dim=8&dtype=f16&amplitude=1e6", 422, "dtype")
        reply = self.get("/v1/encodings/integer?length=1&offset=70000&dtype=f16")
        self.assert_problem(reply, 422, "dtype")

    def test_the_scheme_rules_between_parameters_are_422(self):
        self.refuse("length=4&dim=8&frequencies=per_column&layout=concat", 422, "layout")
        self.refuse("length=4&dim=2&frequencies=tensor2tensor", 422, "dim")
        targets = {
            "binary?positions=0,8&width=3": "width",
            "binary?positions=0,1.5&width=3": "positions",
            "binary?length=4&offset=-1&width=3": "offset",
            "sinusoidal_2d?height=2&width=2&dim=6": "dim",
            "sinusoidal_2d?height=2&width=2&dim=8&grouping=function": "grouping",
            "sinusoidal_2d?height=2&width=2&dim=8&extra_tokens=1": "extra_tokens",
        }
        for target, name in targets.items():
            with self.subTest(target):
                self.assert_problem(self.get(f"/v1/encodings/{target}"), 422, name)


class Suggestions(ServerCase):
    def test_a_misspelt_scheme_is_404_with_the_right_one(self):
        for path in ("/v1/encodings/sinusodial", "/v1/schemes/sinusodial"):
            problem = self.assert_problem(self.get(path), 404, code="unknown_scheme")
            self.assertEqual(problem["did_you_mean"], "sinusoidal")
        problem = self.assert_problem(self.get("/v1/encodings/Integer?length=4"), 404)
        self.assertEqual(problem["did_you_mean"], "integer")
        problem = self.assert_problem(self.post("/v1/encodings/perodic", {}), 404)
        self.assertEqual(problem["did_you_mean"], "periodic")

    def test_misspelt_parameters_and_choices_suggest_the_right_ones(self):
        mistakes = {
            "lenght=4&dim=8": ("lenght", "length"),
            "length=4&dmi=8": ("dmi", "dim"),
            "length=4&dim=8&Layout=concat": ("Layout", "layout"),
            "length=4&dim=8&position=1": ("position", "positions"),
            "length=4&dim=8&dytpe=f64": ("dytpe", "dtype"),
            "length=4&dim=8&presets=marian": ("presets", "preset"),
            "length=4&dim=8&fromat=npy": ("fromat", "format"),
            "length=4&dim=8&tenser=encoding": ("tenser", "tensor"),
            "length=4&dim=8&layout=interleavd": ("layout", "interleaved"),
            "length=4&dim=8&dtype=f23": ("dtype", "f32"),
            "length=4&dim=8&dtype=fp32": ("dtype", "f32"),
            "length=4&dim=8&preset=wisper": ("preset", "whisper"),
            "length=4&dim=8&format=npz": ("format", "npy"),
            "length=4&dim=8&format=safetensor": ("format", "safetensors"),
            "length=4&dim=8&tensor=encodng": ("tensor", "encoding"),
        }
        for query, (parameter, suggestion) in mistakes.items():
            with self.subTest(query):
                problem = self.assert_problem(self.get(f"{SINUSOIDAL}?{query}"), 400)
                errors = {error["parameter"]: error for error in problem["errors"]}
                self.assertEqual(errors[parameter].get("did_you_mean"), suggestion)
                self.assertEqual(problem.get("did_you_mean"), suggestion)

    def test_nothing_is_suggested_for_what_resembles_nothing(self):
        for query in ("zzzzzz=1", "layout=42", "format=x", "q=1", f"{'length' * 20}=1"):
            reply = self.get(f"{SINUSOIDAL}?length=4&dim=8&{query}")
            problem = self.assert_problem(reply, 400)
            self.assertNotIn("did_you_mean", problem)
        self.assertNotIn("did_you_mean", self.get("/v1/encodings/zzzzzzzz").json())


if __name__ == "__main__":
    unittest.main()
