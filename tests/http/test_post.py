"""POST: a request as one JSON object."""

import json
import unittest

from server import ServerCase

SINUSOIDAL = "/v1/encodings/sinusoidal"
FORMATS = ("json", "npy", "safetensors", "raw")


class Post(ServerCase):
    def refuse(self, document, status, *parameters):
        """The problem document for a body posted to sinusoidal."""
        return self.assert_problem(self.post(SINUSOIDAL, document), status, *parameters)

    def test_a_post_has_the_bytes_of_the_get(self):
        pairs = [
            ("sinusoidal", "length=4&dim=8", {"length": 4, "dim": 8}),
            ("sinusoidal", "positions=0,0.5,-3&dim=4", {"dim": 4, "positions": [0, 0.5, -3]}),
            (
                "sinusoidal",
                "length=4&dim=8&preset=whisper",
                {"preset": "whisper", "length": 4, "dim": 8},
            ),
            (
                "sinusoidal",
                "length=2&dim=4&zero_first_row=true&dtype=f64",
                {"length": 2, "dim": 4, "zero_first_row": True, "dtype": "f64"},
            ),
            (
                "sinusoidal_2d",
                "height=2&width=3&dim=4&shape=nc",
                {"height": 2, "width": 3, "dim": 4, "shape": "nc"},
            ),
        ]
        for scheme, query, document in pairs:
            for name in FORMATS:
                with self.subTest(f"{scheme} {query} {name}"):
                    get = self.get(f"/v1/encodings/{scheme}?{query}&format={name}")
                    posted = self.post(f"/v1/encodings/{scheme}", {**document, "format": name})
                    self.assert_ok(posted, get.header("Content-Type"))
                    self.assertEqual(posted.body, self.assert_ok(get).body)
                    for field in ("Content-Length", "Content-Disposition", "Tensor-Shape"):
                        self.assertEqual(posted.header(field), get.header(field))

    def test_the_parameters_of_a_reply_can_be_posted_back(self):
        for scheme in json.loads(self.get("/v1/schemes").body)["schemes"]:
            with self.subTest(scheme["name"]):
                path = f"/v1/encodings/{scheme['name']}"
                first = self.assert_ok(self.get(f"{path}?{scheme['example']}"))
                reply = self.post(path, json.loads(first.body)["parameters"])
                self.assertEqual(self.assert_ok(reply).body, first.body)

    def test_a_null_is_not_given_but_its_name_is_checked(self):
        given = {"length": 4, "dim": 8}
        plain = self.assert_ok(self.post(SINUSOIDAL, given)).body
        nulls = {"offset": None, "layout": None, "preset": None, "format": None, "slice": None}
        self.assertEqual(self.assert_ok(self.post(SINUSOIDAL, {**given, **nulls})).body, plain)
        problem = self.refuse({**given, "offse": None}, 400, "offse")
        self.assertIn('did you mean "offset" (', problem["detail"])
        self.refuse({"length": 4, "dim": None}, 400, "dim")
        reply = self.post("/v1/encodings/integer", {"length": 4, "preset": None})
        self.assert_problem(reply, 400, "preset")

    def test_a_reply_names_the_preset_and_the_revision(self):
        query = "length=4&dim=8&preset=whisper"
        explicit = "length=4&dim=8&layout=concat&frequencies=tensor2tensor"
        tags = set()
        for text, preset in ((query, "whisper"), (explicit, None), (query, "whisper")):
            reply = self.get(f"{SINUSOIDAL}?{text}")
            document = json.loads(self.assert_ok(reply).body)
            self.assertEqual(document["preset"], preset)
            self.assertEqual(document["revision"], 2)
            tags.add(reply.header("ETag"))
            self.assertNotIn("whisper", reply.header("Content-Disposition"))
        self.assertEqual(len(tags), 2)
        head = self.get(f"{SINUSOIDAL}?{query}&format=safetensors").body[8:]
        metadata = json.JSONDecoder().raw_decode(head.decode("latin-1"))[0]["__metadata__"]
        self.assertEqual((metadata["preset"], metadata["revision"]), ("whisper", "2"))

    def test_a_coded_body_is_refused(self):
        for coding in ("gzip", "br", "identity, gzip"):
            reply = self.post(SINUSOIDAL, {"length": 4, "dim": 8}, {"Content-Encoding": coding})
            self.assert_problem(reply, 415)
            self.assertEqual(reply.header("Accept-Encoding"), "identity")
        reply = self.post(SINUSOIDAL, {"length": 4, "dim": 8}, {"Content-Encoding": "identity"})
        self.assert_ok(reply)

    def test_a_post_is_not_for_caches(self):
        document = {"length": 3, "dim": 14}
        for status in ("fwd=miss", "hit"):
            reply = self.assert_ok(self.post(SINUSOIDAL, document))
            self.assertEqual(reply.header("Cache-Control"), "no-store")
            self.assertIsNone(reply.header("ETag"))
            self.assertIn(f"posenc; {status}", reply.header("Cache-Status"))
            self.assertEqual(reply.header("Server-Timing") is not None, status == "fwd=miss")

    def test_conditions_are_no_business_of_a_post(self):
        tag = self.get(f"{SINUSOIDAL}?length=4&dim=8").header("ETag")
        for value in (tag, "*"):
            reply = self.post(SINUSOIDAL, {"length": 4, "dim": 8}, {"If-None-Match": value})
            self.assertTrue(self.assert_ok(reply).body)

    def test_a_post_shares_the_cache_of_the_get(self):
        self.get(f"{SINUSOIDAL}?length=4&dim=16")
        before = self.server.computed()
        reply = self.post(SINUSOIDAL, {"dim": 16.0, "length": 4})
        self.assertIn("hit", reply.header("Cache-Status"))
        self.assertEqual(self.server.computed(), before)

    def test_an_integer_may_be_written_as_a_number_without_fraction(self):
        plain = self.post(SINUSOIDAL, {"length": 4, "dim": 8}).body
        for body in (b'{"length": 4.0, "dim": 8e0}', b'{"length":0.4e1,"dim":80E-1}'):
            self.assertEqual(self.assert_ok(self.post(SINUSOIDAL, body)).body, plain)
        self.assertIn(self.post(SINUSOIDAL, {"length": 4.5, "dim": 8}).status, (400, 422))

    def test_long_lists_fit_a_body(self):
        positions = list(range(0, 200_000, 2))
        reply = self.post("/v1/encodings/integer", {"positions": positions, "format": "raw"})
        self.assertEqual(self.assert_ok(reply).header("Tensor-Shape"), "100000, 1")

    def test_the_list_limit_is_422_that_names_it(self):
        server = self.start("--max-list-length", "10")
        for count, status in ((10, 200), (11, 422)):
            body = json.dumps({"positions": [0] * count, "dim": 2})
            json_type = {"Content-Type": "application/json"}
            reply = server.request("POST", SINUSOIDAL, json_type, body)
            self.assertEqual(reply.status, status)
        problem = self.assert_problem(reply, 422, "positions")
        self.assertIn("10", problem["errors"][0]["allowed"])
        self.assertIn("11", problem["errors"][0]["given"])

    def test_the_content_type_must_be_json(self):
        types = ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"]
        types += ["json"]
        types += ["multipart/form-data; boundary=x", "text/json", "application/problem+json"]
        for value in types:
            with self.subTest(value):
                reply = self.post(SINUSOIDAL, {"length": 4, "dim": 8}, {"Content-Type": value})
                problem = self.assert_problem(reply, 415, code="unsupported_media_type")
                detail = problem["detail"]
                self.assertIn("curl --json", detail)
        with self.server.wire() as wire:
            self.assert_problem(wire.exchange("POST", SINUSOIDAL, body=b'{"length": 4}'), 415)
        accepted = ["application/json", "Application/JSON", "application/json; charset=utf-8"]
        for value in [*accepted, "application/json;charset=utf-8", "application/json ; a=b"]:
            with self.subTest(value):
                headers = {"Content-Type": value}
                self.assert_ok(self.post(SINUSOIDAL, {"length": 4, "dim": 8}, headers))

    def test_a_query_string_with_a_body_is_400(self):
        for query in ("length=4&dim=8", "format=npy", "x", ""):
            with self.subTest(query):
                reply = self.post(f"{SINUSOIDAL}?{query}", {"length": 4, "dim": 8})
                self.assert_problem(reply, 400)

    def test_a_duplicate_member_is_400(self):
        for body in (
            b'{"length": 4, "dim": 8, "length": 4}',
            b'{"length": 4, "dim": 8, "l\\u0065ngth": 5}',
            b'{"length": 4, "dim": 8, "format": "npy", "format": "raw"}',
        ):
            problem = self.refuse(body, 400)
            self.assertIn("dup", json.dumps(problem).lower())

    def test_one_number_for_all_needs_no_list(self):
        """As in a query."""
        video = {"preset": "qwen2_5_vl", "dim": 128, "text": [1, 1, 1], "grids": [4, 4, 4] * 2}
        video["frame_positions"] = "seconds"
        for scheme, body, name, numbers in (
            ("fourier", {"sizes": [6, 9], "bands": 8}, "max_frequency", [128, 128]),
            ("mrope", video, "seconds_per_grid", [0.5, 0.5]),
            ("axial_rope", {"sizes": [2, 3], "dim": 8}, "first_index", [1, 1]),
        ):
            with self.subTest(name):
                tables = [
                    self.post(f"/v1/encodings/{scheme}", {**body, name: value}).json()
                    for value in (numbers[0], numbers[:1], numbers)
                ]
                self.assertEqual(tables[0]["tensors"], tables[1]["tensors"])
                self.assertEqual(tables[0]["tensors"], tables[2]["tensors"])
        reply = self.post("/v1/encodings/fourier", {"sizes": 6, "bands": 8})
        self.assert_problem(reply, 400, "sizes")

    def test_an_unknown_member_is_400_with_a_suggestion(self):
        problem = self.refuse({"lenght": 4, "dim": 8}, 400)
        self.assertEqual(problem["did_you_mean"], "length")
        self.assertIn("lenght", [error["parameter"] for error in problem["errors"]])
        self.refuse({"length": 4, "dim": 8, "": 1}, 400)
        self.refuse({"length": 4, "dim": 8, "a\nb": 1}, 400, "a\nb")

    def test_several_wrong_members_are_several_errors(self):
        document = {"length": "x", "dim": None, "layout": 3, "colour": "red", "format": "pdf"}
        self.refuse(document, 400, "length", "dim", "layout", "colour", "format")

    def test_values_of_the_wrong_kind_are_400(self):
        wrong = {
            "length": ["4", "", True, [4], {}, {"value": 4}, "4.0"],
            "offset": ["0", "1e3", False, [], [0]],
            "positions": [0, True, {}, [], "0,1", ["0"], [None], [True], [[0]], [0, "1"]],
            "layout": [0, True, ["concat"], {}, "", "spiral"],
            "zero_first_row": ["true", 1, 0, [True], {}, ""],
            "dtype": [32, ["f32"], {}, ""],
            "format": [1, ["npy"], {}, "", True],
            "tensor": [0, ["encoding"], {}, "", False],
            "preset": [0, ["marian"], {}, "", True],
        }
        for name, values in wrong.items():
            for value in values:
                with self.subTest(f"{name} {value!r}"):
                    document = {"length": 4, "dim": 8, name: value}
                    if name == "positions":
                        del document["length"]
                    self.refuse(document, 400, name)

    def test_a_value_of_the_wrong_kind_is_told_how_json_writes_it(self):
        wrong = {
            "length": ("4", 'integer from 1 to 9007199254740992, written as a JSON number '
                            '(given: "4", a string)'),
            "layout": (3, "one of interleaved, concat, concat_cos_first, written as a JSON "
                          "string"),
            "zero_first_row": ("true", 'true or false, written without quotes (given: "true", '
                               'a string)'),
            "positions": ([], "a list of numbers from -9007199254740992 to 9007199254740992, "
                          "with at least one item"),
            "format": (1, "a name, written as a JSON string (given: 1)"),
        }  # fmt: skip
        for name, (value, rule) in wrong.items():
            document = {"dim": 8, **({} if name == "positions" else {"length": 4}), name: value}
            self.assertIn(rule, self.refuse(document, 400, name)["detail"])
        by_query = self.get(f"{SINUSOIDAL}?dim=8&positions=a")
        detail = self.assert_problem(by_query, 400, "positions")["detail"]
        self.assertIn('separated by commas (given: "a")', detail)

    def test_what_was_given_comes_back_as_json_has_it(self):
        given = [("length", 0, 422), ("length", -1, 422), ("offset", 1e300, 422)]
        given += [("dim", 4.5, 400)]
        given += [("length", True, 400), ("layout", "spiral", 400)]
        given += [("positions", ["0"], 400), ("dim", {"a": 1}, 400)]
        for name, value, status in given:
            with self.subTest(f"{name} {value!r}"):
                document = {"length": 4, "dim": 8, name: value}
                problem = self.assert_problem(self.post(SINUSOIDAL, document), status)
                said = [e["given"] for e in problem["errors"] if e["parameter"] == name][0]
                self.assertIsInstance(said, str)
                self.assertEqual(value if isinstance(value, str) else json.loads(said), value)
                self.assertFalse(said.endswith(".0"), "an integer was given")

    def test_bodies_that_are_no_object_are_400(self):
        bodies = [b"", b" ", b"null", b"4", b'"x"', b"true", b"[]", b"}", b"[["]
        bodies += [b'[{"length": 4, "dim": 8}]', b"{", b'{"length"', b'{"length']
        bodies += [b'{"length": 4, "dim": 8', b'{"length": 4, "dim":', b'{"length": 4,}']
        bodies += [b'{"length": 4, "dim": 8} x', b'{"length": 4, "dim": 8}{}']
        bodies += [b"{'length': 4}", b"{length: 4}", b'{"length": 04}', b'{"length": +4}']
        bodies += [b'{"length": 4 /* rows */, "dim": 8}', b"length=4&dim=8", b'{"length": 0x4}']
        bodies += [b'{"length": NaN, "dim": 8}', b'{"length": Infinity}']
        bodies += [b'{"length": 4, "dim": .8}']
        for body in bodies:
            with self.subTest(body):
                self.refuse(body, 400)

    def test_bodies_that_are_no_utf_8_text_are_400(self):
        texts = [b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\x00", b"\\u0000", b"\\ud800"]
        for text in texts:
            with self.subTest(text):
                self.refuse(b'{"length": 4, "dim": 8, "layout": "' + text + b'"}', 400)
                self.refuse(b'{"length": 4, "dim": 8, "' + text + b'": 1}', 400)
        self.refuse(b"\xff\xfe" + '{"length": 4}'.encode("utf-16-le"), 400)
        self.refuse(b'{"length": 4, "dim": 8}\x00', 400)
        for text in (rb'"layout": "concat\u0000"', rb'"layout\u0000x": "concat"'):
            self.refuse(b'{"length": 4, "dim": 8, ' + text + b"}", 400)

    def test_deep_nesting_is_400(self):
        for depth in (100, 10_000, 400_000):
            for opening, closing in ((b"[", b"]"), (b'{"length":', b"}")):
                self.refuse(opening * depth, 400)
                self.refuse(opening * depth + b"1" + closing * depth, 400)
            self.refuse(b'{"positions": ' + b"[" * depth + b"]" * depth + b', "dim": 8}', 400)

    def test_huge_numbers_are_refused(self):
        numbers = ["1e999", "-1e999", "1e99999999999", "9" * 400, f"0.{'0' * 5000}1e9999"]
        for number in numbers:
            for name in ("length", "offset"):
                with self.subTest(f"{name} {number[:20]}"):
                    members = {"length": "4", "dim": "8", name: number}
                    body = ", ".join(f'"{key}": {value}' for key, value in members.items())
                    reply = self.post(SINUSOIDAL, f"{{{body}}}".encode())
                    self.assertIn(reply.status, (400, 422), reply)
                    self.assert_problem(reply, reply.status)
        for number in (1e17, -(10**30), 2**63, 2**64, 9007199254740994):
            self.refuse({"length": 4, "dim": 8, "offset": number}, 422, "offset")
            self.refuse({"length": number, "dim": 8}, 422, "length")

    def test_a_number_that_rounds_to_an_integer_keeps_its_limits(self):
        self.refuse({"length": 4, "dim": 8, "offset": 9007199254740993.5}, 422, "offset")
        self.refuse(b'{"length": 0.4e-400, "dim": 8}', 422, "length")

    def test_a_number_that_reading_would_change_is_refused(self):
        for number in (
            *("9007199254740993", "-9007199254740993", "9007199254740992.4", "1e-400"),
            *("8999999999999991.2", "9.007199254740993e15", "4.0000000000000001"),
        ):
            body = f'{{"length": 1, "dim": 8, "offset": {number}}}'.encode()
            problem = self.refuse(body, 422, "offset")
            self.assertIn("a number that float64 keeps, such as ", problem["detail"])
            self.assertEqual(problem["errors"][0]["given"], number)
            reply = self.get(f"{SINUSOIDAL}?length=1&dim=8&offset={number}")
            self.assertIn(number, self.assert_problem(reply, 422, "offset")["detail"])
            listed = self.get(f"{SINUSOIDAL}?dim=8&positions=0,{number},1")
            self.assert_problem(listed, 422, "positions")
            body = f'{{"positions": [0, {number}, 1], "dim": 8}}'.encode()
            self.refuse(body, 422, "positions")
        for number in ("9007199254740992", "9007199254740992.0", "0.1000000000000000055511"):
            self.assert_ok(self.get(f"{SINUSOIDAL}?length=1&dim=8&offset={number}"))
            self.assert_ok(
                self.post(SINUSOIDAL, f'{{"length":1,"dim":8,"offset":{number}}}'.encode())
            )
        self.refuse(b'{"length": 2, "a\\u00e9": 9007199254740993}', 422)

    def test_many_members_are_400(self):
        document = {"length": 4, "dim": 8, **{f"member{i}": i for i in range(5000)}}
        reply = self.post(SINUSOIDAL, document)
        self.assert_problem(reply, 400)
        self.assertLess(len(reply.body), 9000)


if __name__ == "__main__":
    unittest.main()
