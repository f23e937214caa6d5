"""/v1/batch: the tensors of many requests in one reply."""

import gzip
import json
import struct
import unittest

from server import ServerCase

ROPE = {"name": "rope", "scheme": "rope", "length": 5, "dim": 8}
MIXED = [
    {"name": "text.full", "scheme": "rope", "length": 3, "dim": 8},
    {"name": "bias", "scheme": "alibi", "length": 3, "heads": 2},
    {
        "name": "wide",
        "scheme": "sinusoidal",
        "positions": [0, 0.5, -3],
        "dim": 4,
        "dtype": "f64",
    },
    {"name": "half", "scheme": "integer", "length": 3, "dtype": "f16"},
    {"name": "cos", "scheme": "rope", "length": 3, "dim": 8, "tensor": "cos"},
    {
        "name": "yarn",
        "scheme": "rope",
        "length": 2,
        "dim": 4,
        "rope_type": "yarn",
        "factor": 4,
        "original_max_position_embeddings": 32,
    },
]


def read_safetensors(data):
    """{name: (dtype, shape, bytes)} and the metadata, whose values are JSON."""
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    about = {name: json.loads(text) for name, text in header.pop("__metadata__").items()}
    start, tensors, ends = 8 + size, {}, [0]
    for name, tensor in header.items():
        first, end = tensor["data_offsets"]
        assert first == ends[-1], "no holes"
        ends.append(end)
        tensors[name] = tensor["dtype"], tensor["shape"], data[start + first : start + end]
    assert start + ends[-1] == len(data), "nothing behind the last tensor"
    return tensors, about


class Batch(ServerCase):
    flags = ("--cache-bytes", "16MiB", "--json-max-elements", "100000")

    def ask(self, requests, headers=None, **members):
        return self.post("/v1/batch", {"requests": requests, **members}, headers)

    def refuse(self, document, status, *parameters):
        return self.assert_problem(self.post("/v1/batch", document), status, *parameters)

    def raw(self, target, tensor):
        chosen = f"&tensor={tensor}" if tensor else ""
        return self.assert_ok(self.get(f"{target}{chosen}&format=raw")).body

    def assert_tensors_of(self, reply):
        """Every tensor has the bytes that the target in its metadata gives alone."""
        tensors, about = read_safetensors(self.assert_ok(reply).body)
        for name, (_, _, data) in tensors.items():
            part, tensor = (name, "") if name in about else name.rsplit(".", 1)
            self.assertEqual(self.raw(about[part]["request"], tensor), data, name)
        self.assertEqual(reply.header("Content-Length"), str(len(reply.body)))
        return tensors, about

    def test_every_tensor_has_the_bytes_of_its_own_request(self):
        reply = self.ask(MIXED, format="safetensors")
        tensors, about = self.assert_tensors_of(reply)
        self.assertEqual(reply.header("Content-Type"), "application/vnd.safetensors")
        self.assertEqual(
            set(tensors),
            {
                "text.full.cos",
                "text.full.sin",
                "text.full.inv_freq",
                "bias.bias",
                "bias.slopes",
                "wide",
                "half",
                "cos",
                "yarn.cos",
                "yarn.sin",
                "yarn.inv_freq",
            },
        )
        self.assertEqual(tensors["wide"][:2], ("F64", [3, 4]))
        self.assertEqual(list(tensors)[0], "wide", "the largest elements come first")
        self.assertEqual(about["yarn"]["rope_type"], "yarn")
        self.assertEqual(about["yarn"]["beta_fast"], "32", "defaults are stated")

    def test_json_holds_the_documents_of_the_requests(self):
        reply = self.assert_ok(self.ask(MIXED, format="json"), "application/json")
        results = reply.json()["results"]
        self.assertEqual([part["name"] for part in results], [part["name"] for part in MIXED])
        for part in results:
            alone = self.assert_ok(self.get(part["request"])).json()
            self.assertEqual(part["encoding"], alone, part["name"])

    def test_accept_chooses_the_format_and_the_coding(self):
        def kind(**headers):
            fields = {name.replace("_", "-"): value for name, value in headers.items()}
            return self.assert_ok(self.ask([ROPE], fields)).header("Content-Type")

        self.assertEqual(kind(), "application/vnd.safetensors")
        self.assertEqual(kind(Accept="application/json"), "application/json")
        self.assertEqual(
            kind(Accept="application/json;q=0.5, */*"), "application/vnd.safetensors"
        )
        self.assert_problem(self.ask([ROPE], {"Accept": "image/png"}), 406)
        plain = self.assert_ok(self.ask([ROPE], format="json"))
        coded = self.assert_ok(self.ask([ROPE], {"Accept-Encoding": "gzip"}, format="json"))
        self.assertEqual(coded.header("Content-Encoding"), "gzip")
        self.assertEqual(gzip.decompress(coded.body), plain.body)
        none = {"Accept-Encoding": "identity;q=0, br"}
        self.assert_problem(self.ask([ROPE], none, format="safetensors"), 406)

    def test_tables_come_from_the_cache_that_all_requests_share(self):
        part = {**ROPE, "offset": 12345}
        first = self.ask([part], format="safetensors")
        again = self.ask([part], format="safetensors")
        alone = self.assert_ok(self.get("/v1/encodings/rope?length=5&dim=8&offset=12345"))
        self.assertEqual(first.header("Cache-Status"), "posenc; fwd=miss")
        self.assertEqual(again.header("Cache-Status"), "posenc; hit")
        self.assertEqual(alone.header("Cache-Status"), "posenc; hit")
        self.assertEqual(first.body, again.body)

    def test_what_the_cache_cannot_hold_is_streamed_with_its_length(self):
        large = [
            {**ROPE, "name": f"n{i}", "length": 30000, "dim": 64, "offset": i} for i in range(3)
        ]
        reply = self.ask([*large, *MIXED], format="safetensors")
        self.assertEqual(reply.header("Cache-Status"), "posenc; fwd=bypass; detail=streamed")
        self.assert_tensors_of(reply)

    def test_too_many_large_tensors_and_too_many_elements_are_refused(self):
        large = [{**ROPE, "name": f"n{i}", "length": 30000, "dim": 64} for i in range(7)]
        self.refuse({"requests": large}, 422, "requests")
        many = [{**ROPE, "name": f"n{i}", "length": 500, "dim": 128} for i in range(2)]
        self.refuse({"requests": many, "format": "json"}, 422, "requests")
        self.refuse({"requests": [ROPE] * 65}, 422, "requests")
        alibi = {"name": ROPE["name"], "scheme": "alibi", "length": 2, "heads": 1}
        for form in ("json", "safetensors"):
            reply = self.refuse({"requests": [ROPE, alibi], "format": form}, 422, "name")
            self.assertIn(
                "name must be one that no other request has (given: rope)", reply["detail"]
            )

    def test_all_problems_come_at_once_with_index_and_name(self):
        document = self.refuse(
            {
                "format": "jsn",
                "request": [],
                "requests": [
                    {"name": "a", "scheme": "intger", "length": 2},
                    {"name": "b b", "scheme": "rope", "length": 2, "dim": 4},
                    {"name": "c", "scheme": "rope", "length": -2, "dim": 3, "lenght": 1},
                    {**ROPE, "format": "raw"},
                    {"scheme": "rope"},
                    {"name": "d"},
                    7,
                ],
            },
            400,
        )
        told = {
            (error.get("request"), error.get("name"), error["parameter"])
            for error in document["errors"]
        }
        self.assertEqual(
            told,
            {
                (None, None, "format"),
                (None, None, "request"),
                (0, "a", "scheme"),
                (1, None, "name"),
                (2, "c", "length"),
                (2, "c", "dim"),
                (2, "c", "lenght"),
                (3, "rope", "format"),
                (4, None, "name"),
                (5, "d", "scheme"),
                (6, None, "request"),
            },
        )
        guesses = {
            error["did_you_mean"] for error in document["errors"] if "did_you_mean" in error
        }
        self.assertEqual(guesses, {"requests", "integer", "length"})
        self.assertIn("requests[0] (a): ", document["detail"])

    def test_no_tensor_is_called_as_the_metadata_are(self):
        request = {"name": "__metadata__", "scheme": "integer", "length": 2}
        document = self.refuse({"requests": [ROPE, request]}, 400)
        self.assertIn("not __metadata__", document["detail"])

    def test_names_must_keep_the_tensors_apart(self):
        for other in (ROPE, {"name": "rope.cos", "scheme": "integer", "length": 2}):
            document = self.refuse({"requests": [ROPE, other]}, 422)
            self.assertTrue(
                all(error["request"] == 1 for error in document["errors"]), document
            )

    def test_a_body_that_is_no_batch_is_refused(self):
        for document in (b"", b"[]", b"{", {}, {"requests": {}}, {"requests": []}):
            with self.subTest(document):
                self.refuse(document, 400)
        plain = {"Content-Type": "text/plain"}
        self.assert_problem(self.post("/v1/batch", {"requests": [ROPE]}, plain), 415)
        self.assert_problem(self.post("/v1/batch?a=1", {"requests": [ROPE]}), 400, "query")
        self.assert_problem(self.get("/v1/batch"), 405)

    def test_stored_sets_are_used_and_missing_ones_named(self):
        document = self.refuse(
            {
                "requests": [
                    ROPE,
                    {
                        "name": "table",
                        "scheme": "learned",
                        "length": 2,
                        "dim": 4,
                        "set": "nowhere",
                    },
                ]
            },
            422,
        )
        self.assertEqual(
            [(error["request"], error["parameter"]) for error in document["errors"]],
            [(1, "set")],
        )


if __name__ == "__main__":
    unittest.main()
