"""What a request leaves out: asked for, or told. Walks the table of
api/reference/parameters.md."""

import json
import re
import struct
import unittest
from pathlib import Path

from server import ServerCase
from test_slips import safetensors

REFERENCE = Path(__file__).resolve().parents[2] / "api" / "reference" / "parameters.md"
FILE = {"Content-Type": "application/vnd.safetensors"}
RAW = {"Content-Type": "application/octet-stream"}
ROPE = "rope?length=2&dim=4"

# What the text of a parameter says where its value may be null.
MEANS_NOTHING = re.compile(
    r"by default|without it|instead of|if (it is )?not|follows? from|unless|of a set"
)

# Parameters that a scheme settles: the query, and what the answer says of them.
TOLD = {
    "`source_height`, `source_width` of `resized`": (
        "resized?set=sixteen&length=8",
        {"source_height": 16, "source_width": 1},
    ),
    "`width` of `resized`": (
        "resized?length=8&source_height=4&dim=1",
        {"height": 8, "width": 1},
    ),
    "`source_height`, `source_width` of `swin`": (
        "swin?height=2&width=3&heads=1",
        {"source_height": 2, "source_width": 3},
    ),
    "`pretrained_height`, `pretrained_width` of `swin_v2`": (
        "swin_v2?height=2&width=3&heads=1",
        {"pretrained_height": 2, "pretrained_width": 3},
    ),
    "`width` of `swin`, `swin_v2` and `decomposed`": (
        "decomposed?height=3&dim=1",
        {"width": 3},
    ),
    "`query_height`, `query_width`, `source_height`, `source_width` of `decomposed`": (
        "decomposed?height=3&width=2&query_height=4&dim=1",
        {"query_height": 4, "query_width": 2, "source_height": 4, "source_width": 2},
    ),
    "`query_length`, `query_offset`": (
        "alibi?length=5&heads=2",
        {"query_length": 5, "query_offset": 0},
    ),
    "`base_height` of `sinusoidal_2d`": (
        "sinusoidal_2d?height=2&width=2&dim=4&base=123",
        {"base_height": 123},
    ),
    "`axes` of `coordinates`": ("fourier?coordinates=0,1&bands=1", {"axes": 1}),
    "`min_distance` of `shaw`": ("shaw?length=2&dim=2&max_distance=3", {"min_distance": -3}),
    "`temperature_beta`, `temperature_length`": (
        f"{ROPE}&temperature=llama4",
        {"temperature_beta": 0.1, "temperature_length": 8192},
    ),
    "`heads` of `transformer_xl` and `urpe`": ("urpe?length=2", {"heads": 1}),
    "`attention_factor`, and `factor` of longrope": (
        f"{ROPE}&rope_type=yarn&factor=2&original_max_position_embeddings=8",
        {"attention_factor": None},
    ),
    "`max_frequency` of `fourier`": ("fourier?sizes=2&bands=2", {"max_frequency": None}),
    "`tokens` of `complex_order`": ("complex_order?length=1&dim=2&vocab=2", {"tokens": None}),
}

# What is asked for: the target, the file that is sent with it, and which parameter is named.
ASKED = {
    "`tensor` of a comparison": ("/v1/compare/" + ROPE, safetensors(x=[2, 2]), "tensor"),
    "`file_tensor`": ("/v1/identify", safetensors(a=[4, 4], b=[4, 4]), "file_tensor"),
    "`slice` in png": ("/v1/encodings/alibi?length=2&heads=2&format=png", None, "slice"),
    "`seq_len` of `rope_type=dynamic` and `longrope`": (
        f"/v1/encodings/{ROPE}&rope_type=dynamic&factor=2&max_position_embeddings=8",
        None,
        "seq_len",
    ),
    "`heads`, `kv_heads` of `/v1/convert/rope`": (
        "/v1/convert/rope?from=half&to=interleaved",
        safetensors(**{"q_proj.weight": [8, 1]}),
        "heads",
    ),
    "`model`, `part` of `/v1/apply`": (
        "/v1/apply?model=gemma-3-27b&length=2",
        safetensors(query=[2, 128]),
        "part",
    ),
}


class LeftOut(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sets = {"sixteen": safetensors(table=[16, 1]), "several": safetensors(a=[4], b=[4])}
        for name, file in sets.items():
            reply = cls.server.request("PUT", f"/v1/sets/{name}", FILE, file)
            assert reply.status == 201, reply

    def test_the_table_has_a_test_for_each_row(self):
        text = REFERENCE.read_text(encoding="utf-8").split("## What is left out\n")[1]
        rows = re.findall(r"^\| (.*?) \| (.*) \|$", text.split("\n## ")[0], re.MULTILINE)[1:]
        said = dict(rows)
        own = {
            "`tensor` in npy, raw, csv or png",
            "`tensor` of `/v1/similarity`",
            "`shape` of raw elements",
            "`dtype` of raw elements",
            "`axes` of `/v1/apply`",
            "`length`, `convention` of `/v1/models`",
        }
        self.assertEqual(set(said), {*TOLD, *ASKED, *own})
        for row in ASKED:
            self.assertIn("asked for", said[row])
        for row, (_, values) in TOLD.items():
            self.assertTrue(said[row].endswith("null`" if None in values.values() else "told"))

    def test_what_is_told(self):
        for row, (query, values) in TOLD.items():
            with self.subTest(row):
                given = self.get(f"/v1/encodings/{query}").json()["parameters"]
                self.assertEqual({name: given[name] for name in values}, values)

    def test_what_is_asked_for(self):
        for row, (target, file, name) in ASKED.items():
            with self.subTest(row):
                method = "POST" if file else "GET"
                reply = self.server.request(method, target, FILE if file else {}, file or b"")
                self.assertIn(reply.status, (400, 422), reply)
                self.assertIn(name, [each["parameter"] for each in reply.json()["errors"]])

    def test_a_table_that_may_be_a_line_or_a_grid_is_asked_about(self):
        for query in ("height=1", "scale_factor=2"):
            reply = self.get(f"/v1/encodings/resized?set=sixteen&{query}")
            self.assert_problem(reply, 422, "source_height")
        square = self.get("/v1/encodings/resized?set=sixteen&height=8").json()
        self.assertEqual(square["parameters"]["source_width"], 4)

    def test_one_tensor_of_several_says_what_else_there_is(self):
        for form in ("npy", "raw", "csv", "png"):
            with self.subTest(form):
                target = f"/v1/encodings/{ROPE}&format={form}"
                for _ in range(3):  # computed, and twice from the cache
                    reply = self.assert_ok(self.get(target))
                    self.assertEqual(reply.header("Tensor-Name"), "cos")
                    self.assertEqual(reply.header("Tensor-Names"), "cos, sin, inv_freq")
                self.assertIn("rope_cos_", reply.header("Content-Disposition"))

    def test_all_tensors_or_the_only_one_have_no_others(self):
        for query in (f"{ROPE}&format=json", f"{ROPE}&format=safetensors", "integer?length=2"):
            reply = self.assert_ok(self.get(f"/v1/encodings/{query}"))
            self.assertIsNone(reply.header("Tensor-Names"))

    def test_a_body_gets_the_names_of_the_others_too(self):
        body = json.dumps({"length": 2, "dim": 4, "format": "npy"}).encode()
        asked = {"Content-Type": "application/json"}
        reply = self.server.request("POST", "/v1/encodings/rope", asked, body)
        self.assertEqual(reply.header("Tensor-Names"), "cos, sin, inv_freq")

    def test_a_similarity_compares_rows_of_the_first_tensor(self):
        query = "length=3&dim=8&dtype=f64&format=raw"
        reply = self.get(f"/v1/similarity/rope?{query}&metric=dot")
        found = struct.unpack("<9d", reply.body)
        flat = struct.unpack("<12d", self.get(f"/v1/encodings/rope?{query}&tensor=cos").body)
        rows = [flat[4 * row : 4 * row + 4] for row in range(3)]
        dots = [sum(x * y for x, y in zip(a, b)) for a in rows for b in rows]
        for one, other in zip(found, dots):
            self.assertAlmostEqual(one, other)

    def test_raw_elements_are_of_the_shape_and_the_dtype_that_their_bytes_fit(self):
        post = self.server.request
        self.assert_problem(post("POST", "/v1/identify", RAW, bytes(64)), 400, "shape")
        target = "/v1/identify?shape=4,4"
        self.assert_problem(post("POST", target, RAW, bytes(32)), 400, "body")
        self.assertEqual(post("POST", target, RAW, bytes(64)).json()["file"]["dtype"], "f32")
        target = "/v1/compare/integer?length=4"
        self.assert_problem(post("POST", target, RAW, bytes(8)), 400, "body")
        found = post("POST", target, RAW, struct.pack("<4f", 0, 1, 2, 3)).json()
        self.assertEqual((found["equal"], found["file"]["dtype"]), (True, "f32"))

    def test_the_axes_of_a_tensor_must_fit(self):
        """Here [batch, length, heads, dim], where the last two would be length and dim."""
        reply = self.server.request(
            "POST", "/v1/apply/" + ROPE, FILE, safetensors(query=[1, 2, 3, 4])
        )
        self.assert_problem(reply, 422, "shape")

    def test_a_plan_says_where_its_values_are_from(self):
        plan = self.get("/v1/models/llama-3.1-8b?plan=true").json()
        length = plan["parts"][0]["arguments"]["length"]
        self.assertEqual(length["value"], 4096)
        self.assertTrue(length["from"])
        self.assertEqual(plan["convention"], "transformers-5")

    def test_a_parameter_that_may_be_null_says_what_that_means(self):
        for scheme in self.get("/v1/schemes").json()["schemes"]:
            answer = self.get(f"/v1/encodings/{scheme['name']}?{scheme['example']}").json()
            for row in scheme["parameters"]:
                if answer["parameters"][row["name"]] is None and row["default"] is None:
                    with self.subTest(scheme["name"], parameter=row["name"]):
                        self.assertTrue(
                            row.get("when")
                            or row.get("unless")
                            or MEANS_NOTHING.search(row["help"]),
                            row["help"],
                        )


if __name__ == "__main__":
    unittest.main()
