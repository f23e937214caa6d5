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


NOT_BOOLEANS = ["True", "1", "yes", "on", "%20true", "truee"]
# what a value may not be, by the parameter that is given it
NO_VALUES = {
    "length": NOT_NUMBERS,
    "offset": NOT_NUMBERS,
    "positions": NOT_LISTS,
    "zero_first_row": NOT_BOOLEANS,
    "layout": NOT_UTF8 + BAD_PERCENT,
}
COMPLETE = "length=4&dim=8"
# queries whose mistake may belong to no parameter
NO_PAIRS = ["=4", "&", "length=4&&dim=8", f"&{COMPLETE}", f"{COMPLETE}&", "=", "&=&"]
NULS = ["length=4%00&dim=8", "length=4%005&dim=8", "length%00=4&dim=8", f"{COMPLETE}%00"]
NULS += [
    f"{COMPLETE}&{pair}"
    for pair in ("layout=concat%00", "layout%00=concat", "layout=concat%00x&format=npy")
    + ("format=npy%00", "tensor=encoding%00", "%00")
]
NOT_DECODED = [
    f"{COMPLETE}&{pair}" for text in NOT_UTF8 + BAD_PERCENT for pair in (f"{text}=4", text)
]

# query of sinusoidal (or scheme?query), status, parameters, and words of the detail or a rule
REFUSED = (
    # every mistake is named at once, and once
    ("length=abc&dim=-5&layout=spiral", 400, "length dim layout", "length, dim and layout are"),
    (
        "length=abc&dim=0&colour=red&dtype=f23&format=pdf&positions&preset=gpt9",
        400,
        "length dim colour dtype format positions preset",
        "",
    ),
    ("length=abc&dim=8&tensor=keys", 400, "length tensor", "length and tensor are wrong"),
    ("preset=marian", 400, "length dim", "length and dim are missing"),
    ("m=4&n=8&dim=2", 400, "m n length", "m and n are unknown, length is missing;"),
    ("learned?set=none", 400, "set length", "set is unknown, length is missing;"),
    ("mrope?text=2,1&grids=1,2&dim=128", 422, "grids", "a list of 3 items"),
    # 2^53 + 0.5, which no double is
    (
        "length=4&dim=8&offset=9007199254740991&step=0.5",
        422,
        "length",
        "9007199254740991 + 3 * 0.5",
    ),
    ("dim=8&length=4&dim=8&dim=8", 400, "dim", "dim is given more than once"),
    ("length=&dim=8", 400, "length", ""),
    ("length&dim=8", 400, "length", ""),
    ("length=abc&dim=8", 400, "length", ""),
    ("length=%ff&dim=8", 400, "length", ""),
    # 422 where every value is well-formed
    ("length=0&dim=8", 422, "length", "1 to 9007199254740992"),
    ("length=-1&dim=0", 422, "length dim", ""),
    ("length=4&dim=8&offset=1e300", 422, "offset", ""),
    ("length=4&dim=8&offset=1e999", 422, "offset", ""),
    ("length=0&dim=x", 400, "length dim", ""),
    ("length=4&dim=8&layout=x", 400, "layout", "interleaved, concat, concat_cos_first"),
    (
        "dim=8&layout=concat",
        400,
        "length",
        'missing parameter "length": sinusoidal needs an integer from 1 to 9007199254740992, '
        "unless positions is given (number of rows)",
    ),
    ("length=4&dim=7", 422, "dim", "odd_dim="),
    ("positions=0,1,2&dim=8&length=3", 422, "length", "positions"),
    ("positions=0,1,2&dim=8&offset=0", 422, "offset", "positions"),
    ("positions=0,1,2&dim=8&step=1", 422, "step", "positions"),
    ("positions=0,1e17&dim=8", 422, "positions", "1e17"),
    # a raw + is a blank
    ("length=1e+1&dim=8", 400, "length", "write 1e4"),
    ("positions=0,1e+2&dim=8", 400, "positions", "write 1e4"),
    # repeated, even if equal
    ("length=4&length=4&dim=8", 400, "length", ""),
    ("length=4&dim=8&%6cength=4", 400, "length", ""),
    ("dtype=f32&dtype=f32&length=4&dim=8", 400, "dtype", ""),
    ("format=npy&format=npy&length=4&dim=8", 400, "format", ""),
    ("tensor=encoding&tensor=encoding&length=4&dim=8", 400, "tensor", ""),
    ("preset=marian&length=4&dim=8&preset=whisper", 400, "preset", ""),
    # unknown names
    (
        "lenght=4&dim=8",
        400,
        "lenght",
        'mean "length" (number of rows)? sinusoidal takes length,',
    ),
    ("lenght=4&dim=8", 400, "lenght", "GET /v1/schemes/sinusoidal describes its own"),
    # what a dtype holds, and rules between parameters
    ("length=4&dim=8&dtype=f16&amplitude=1e6", 422, "dtype", ""),
    ("length=4&dim=8&frequencies=per_column&layout=concat", 422, "layout", ""),
    ("length=4&dim=2&frequencies=tensor2tensor", 422, "dim", ""),
    ("length=4&dim=4&base=0", 422, "base", ""),
    ("length=4&dim=8&base=0.001&offset=4503599627370496", 422, "base", ""),
    ("length=4&dim=8&base=0.001&position_scale=1000&offset=4503599627370", 422, "base", ""),
    ("integer?length=1&offset=70000&dtype=f16", 422, "dtype", ""),
    ("binary?positions=0,8&width=3", 422, "width", ""),
    ("binary?positions=0,1.5&width=3", 422, "positions", ""),
    ("binary?length=4&offset=-1&width=3", 422, "offset", ""),
    ("sinusoidal_2d?height=2&width=2&dim=6", 422, "dim", ""),
    ("sinusoidal_2d?height=2&width=2&dim=4&frequencies=tensor2tensor", 422, "dim", ""),
    ("sinusoidal_3d?depth=1&height=2&width=2&dim=6&frequencies=tensor2tensor", 422, "dim", ""),
    ("sinusoidal_2d?height=2&width=2&dim=8&grouping=function", 422, "grouping", ""),
    ("sinusoidal_2d?height=2&width=2&dim=8&extra_tokens=1", 422, "extra_tokens", ""),
    *(
        (
            f"hierarchical?length=4&dim=4&base_length=4&alpha={alpha}",
            422,
            "alpha",
            f"alpha must be a number above 0 and below 1 (given: {alpha})",
        )
        for alpha in ("0", "1", "1.5")
    ),
)


class Mistakes(ServerCase):
    def refuse(self, query, status, *parameters, **expected):
        """The problem document for a query of sinusoidal, or scheme?query."""
        target = query if "?" in query else f"sinusoidal?{query}"
        reply = self.get(f"/v1/encodings/{target}")
        return self.assert_problem(reply, status, *parameters, **expected)

    def test_each_mistake_is_refused_named_and_explained(self):
        for query, status, names, words in REFUSED:
            with self.subTest(query):
                problem = self.refuse(query, status, *names.split())
                errors = problem["errors"]
                told = [problem["detail"], *(error["allowed"] for error in errors)]
                told += [error["given"] or "" for error in errors]
                self.assertTrue(any(words in text for text in told), told)
                self.assertEqual(
                    "errors has a message" in problem["detail"],
                    len({error["message"] for error in errors}) > 1,
                )

    def test_what_is_no_value_is_400(self):
        for name, texts in NO_VALUES.items():
            rest = "dim=8" if name in ("length", "positions") else COMPLETE
            for text in texts:
                with self.subTest(f"{name}={text}"):
                    self.refuse(f"{rest}&{name}={text}", 400, name)
        for text in ("4.5", "1e-1", "0.1e0"):  # fractions
            reply = self.get(f"{SINUSOIDAL}?length={text}&dim=8")
            self.assertIn(reply.status, (400, 422))
            self.assert_problem(reply, reply.status, "length")

    def test_what_is_no_query_is_400(self):
        for query in NO_PAIRS + NULS + NOT_DECODED:
            with self.subTest(query):
                self.refuse(query, 400)
        for name in ("offset", "dtype", "format", "tensor", "preset", "positions", "foo"):
            for written in (name, f"{name}="):
                with self.subTest(written):
                    self.refuse(f"{COMPLETE}&{written}", 400, name)

    def test_unknown_parameters_are_refused_whatever_their_value(self):
        for name in ("foo", "LENGTH", "Length", "length ", "dim[]", "_", "é", "a.b", "accept"):
            for value in ("1", "x"):
                with self.subTest(name):
                    problem = self.refuse(f"{COMPLETE}&{quote(name)}={value}", 400, name)
                    self.assertEqual(problem["errors"][0]["given"], value)
        (error,) = self.refuse(f"{COMPLETE}&colour=1", 400, "colour")["errors"]
        for name in ("positions", "dtype", "preset", "format", "tensor"):
            self.assertIn(name, error["allowed"])
        reply = self.get("/v1/similarity/integer?length=4&metric=l2&colour=1")
        detail = self.assert_problem(reply, 400, "colour")["detail"]
        self.assertIn('unknown parameter "colour"; the similarity of integer takes', detail)

    def test_documents_have_no_parameters(self):
        for path in ("models", "schemes", "schemes/rope", "info"):
            for method in ("GET", "HEAD"):
                with self.subTest(path, method=method):
                    self.assertEqual(self.server.request(method, f"/v1/{path}?x=1").status, 400)
            reply = self.get(f"/v1/{path}?lang=de&type=bert")
            problem = self.assert_problem(reply, 400, "lang", "type")
            self.assertIn('unknown parameter "lang"; it must be left out', str(problem))
            self.assert_ok(self.get(f"/v1/{path}?"))
        self.assert_problem(self.get("/openapi.json?v=2"), 400, "v")
        self.assert_problem(self.get("/v1/info?x"), 400, "x")

    def test_more_mistakes_than_fit_are_counted(self):
        query = "&".join(f"p{i}=1" for i in range(50))
        problem = self.refuse(f"{COMPLETE}&{query}", 400)
        self.assertEqual(len(problem["errors"]) + problem["errors_dropped"], 50)
        self.assertRegex(problem["detail"], r"\Ap0, .* and p49 are unknown, and 34 more;")

    def test_the_way_out_that_is_named_is_one(self):
        for query in ("length=4&dim=7&odd_dim=pad", "length=4&dim=7&odd_dim=truncate"):
            reply = self.assert_ok(self.get(f"{SINUSOIDAL}?{query}"))
            self.assertEqual(reply.header("Tensor-Shape"), "4, 7")
        self.assert_ok(self.get(f"{SINUSOIDAL}?length=1e%2B1&dim=8"))

    def test_raw_8_bit_characters_in_the_target_are_refused(self):
        for text in (b"\xc3\xa9", b"\xff", b"\x80"):
            with self.subTest(text), self.server.wire() as wire:
                target = SINUSOIDAL.encode() + b"?length=4&dim=8&layout=" + text
                self.assert_problem(wire.exchange("GET", target), 400)

    def test_what_was_given_comes_back_as_it_was(self):
        texts = ["<script>", '"quoted"', "back\\slash", "é€😀", "a\nb\x01\x7f", "{}", "%41"]
        for text in texts:
            with self.subTest(text):
                problem = self.refuse(f"{COMPLETE}&layout={quote(text)}", 400, "layout")
                self.assertEqual(problem["errors"][0]["given"], text)

    def test_long_values_do_not_make_long_answers(self):
        for name in ("layout", "offset", "dtype", "format", "foo", "€" * 1000):
            reply = self.get(f"{SINUSOIDAL}?{COMPLETE}&{quote(name)}={'z' * 5000}")
            self.assert_problem(reply, 400)
            self.assertLess(len(reply.body), 3000)
        reply = self.get(f"{SINUSOIDAL}?{COMPLETE}&layout={quote('€' * 1500)}")
        given = self.assert_problem(reply, 400, "layout")["errors"][0]["given"]
        self.assertTrue(given.startswith("€€€"), "cut at a character's boundary")


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
            "length=4&dim=8&dtype=fp32": ("dtype", "f32"),
            "length=4&dim=8&preset=wisper": ("preset", "whisper"),
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
        for query in (
            "zzzzzz=1",
            "layout=42",
            "dtype=f23",
            "format=npz",
            "q=1",
            f"{'length' * 20}=1",
        ):
            reply = self.get(f"{SINUSOIDAL}?length=4&dim=8&{query}")
            problem = self.assert_problem(reply, 400)
            self.assertNotIn("did_you_mean", problem)
        self.assertNotIn("did_you_mean", self.get("/v1/encodings/zzzzzzzz").json())


if __name__ == "__main__":
    unittest.main()
