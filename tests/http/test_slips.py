"""What people type who mean something else: each slip gets a suggestion, or what was meant."""

import json
import math
import struct
from urllib.parse import quote, urlencode

from server import ServerCase

# target: what the problem suggests
SUGGESTIONS = {
    "/v1/encodings/rope?length=4&dim=4&dtype=float32": "f32",
    "/v1/encodings/rope?length=4&dim=4&dtype=torch.bfloat16": "bf16",
    "/v1/encodings/rope?length=4&dim=4&dtype=np.Float64": "f64",
    "/v1/encodings/rope?length=4&dim=4&dtype=half": "f16",
    "/v1/models/gpt2?dtype=torch.float16": "f16",
    "/v1/encodings/rope?positions%5B%5D=0&positions%5B%5D=1&dim=4": "positions",
    "/v1/encoding/rope?length=4&dim=4": "/v1/encodings/rope",
    "/encodings/rope?length=4&dim=4": "/v1/encodings/rope",
    "/v2/encodings/rope": "/v1/encodings/rope",
    "/v1/encodings/rope/": "/v1/encodings/rope",
    "/health": "/health/live",
    "/healthz/live": "/health/live",
    "/docs/": "/docs",
    "/scheme": "/v1/schemes",
    "/v1/modles/gpt2": "/v1/models/gpt2",
    "/v1/encodings/rope?length=4&dim=4&cos_sin=True": "true",
    "/v1/models/meta-llama/Lama-3.1-8B": "llama-3.1-8b",
    "/v1/encodings/sinusoidal?length=4&d_model=8": "dim",
    "/v1/encodings/rope?length=4&hidden_size=8": "dim",
    "/v1/encodings/learned?length=4&embed_dim=8": "dim",
    "/v1/encodings/sinusoidal?max_len=4&dim=8": "length",
    "/v1/encodings/sinusoidal?length=4&dim=8&theta=500": "base",
    "/v1/encodings/rope?length=4&dim=8&theta=500": "rope_theta",
    "/v1/encodings/t5?length=4&heads=2&buckets=8": "num_buckets",
    "/v1/encodings/rotary": "rope",
    "/v1/encodings/sin": "sinusoidal",
    "/v1/encodings/fourrier": "fourier",
    "/openapi": "/openapi.json",
}


# what people type; a row of its own, or nothing
OTHER_MODELS = """
    mistral-7b mistral-7b-v0.1 mistral-7b-v0.4 gemma-2-9b gemma-7b gemma bert-large bert-huge
    mbart-large albert-base beit-base deepseek-r1 deepseek-v4 deepseek-llm-7b gpt-neox-20b
    gpt-neo-2.7b gpt-oss gpt3 gpt2-huge llama3 llama-3 llama-7b llama-3.1-9b llama-3-405b
    codellama-7b qwen-7b qwen3 qwen3-9b qwen4-8b phi-5 phi3 mixtral-8x70b falcon-1b mt5-base
    flan-t5-huge t5 whisper vit-small opt-1.3m bloomz olmo-3-13b gte-base jina-v9 smollm4-3b
""".split()

ROPE = "/v1/encodings/rope"
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}  # of curl --data without -H
HUB_ID, OWN_NAME = "meta-llama/Llama-3.1-8B", "llama-3.1-8b"
TUNED = ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b-chat", "LLAMA-3.1-IT-8B")


def safetensors(**tensors):
    """A file of float32 zeros, by name and shape."""
    head, size = {}, 0
    for name, shape in tensors.items():
        end = size + 4 * math.prod(shape)
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [size, end]}
        size = end
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + bytes(size)


class Slips(ServerCase):
    def test_a_slip_gets_a_suggestion(self):
        for target, meant in SUGGESTIONS.items():
            with self.subTest(target):
                problem = self.server.request("GET", target).json()
                self.assertIn(problem["status"], (400, 404))
                self.assertEqual(problem["did_you_mean"], meant)
                self.assertIn(meant, problem["detail"])

    def test_another_path_gets_none(self):
        for path in ("/nothing", "/v1/x/y/z", "/a", "/" + 300 * "v", "/%ff"):
            with self.subTest(path):
                problem = self.server.request("GET", path).json()
                self.assertEqual(problem["status"], 404)
                self.assertNotIn("did_you_mean", problem)

    def test_a_list_may_come_item_by_item(self):
        """As Python's requests and generated clients send lists."""
        one = self.server.request("GET", f"{ROPE}?dim=4&positions=0&positions=2&positions=5")
        other = self.server.request("GET", f"{ROPE}?dim=4&positions=0,2,5")
        self.assertEqual((one.status, one.body), (200, other.body))
        query = urlencode({"dim": 4, "positions": [0, 2.0, 5]}, doseq=True)
        self.assertEqual(self.server.request("GET", f"{ROPE}?{query}").body, other.body)
        query = urlencode({"dim": 4, "positions": "0,2,5"})  # which writes %2C
        self.assertEqual(self.server.request("GET", f"{ROPE}?{query}").body, other.body)
        many = "&".join(f"positions={i}" for i in range(300))
        table = self.server.request("GET", f"/v1/encodings/integer?{many}").json()
        self.assertEqual(table["tensors"][0]["shape"], [300, 1])

    def test_anything_else_is_given_once(self):
        for query in ("length=4&dim=4&dim=4", "positions=0&dim=4&positions=1"):
            with self.subTest(query):
                reply = self.server.request("GET", f"{ROPE}?{query}")
                self.assertEqual(reply.status, 400)
                messages = [error["message"] for error in reply.json()["errors"]]
                self.assertTrue(any("more than once" in message for message in messages))

    def test_what_a_shell_took_is_named(self):
        """`curl …?length=4&dim=4` without quotes asks for length=4 alone."""
        said = "in a shell, quote the URL"
        detail = self.server.request("GET", f"{ROPE}?length=4").json()["detail"]
        self.assertIn(said, detail)
        detail = self.server.request("GET", f"{ROPE}?length=4&layout=half").json()["detail"]
        self.assertIn("missing parameter", detail)
        self.assertNotIn(said, detail)
        detail = self.server.request("POST", ROPE, JSON, b'{"length": 4}').json()["detail"]
        self.assertNotIn(said, detail)

    def test_a_form_in_place_of_a_file_is_told_of_data_binary(self):
        """curl --data @table.npy: a form, and without the line ends of the file."""
        for path in ("compare/rope", "identify", "apply/rope", "convert/rope"):
            with self.subTest(path):
                reply = self.server.request("POST", f"/v1/{path}?length=4&dim=4", FORM, b"x=1")
                problem = reply.json()
                self.assertEqual((reply.status, problem["status"]), (415, 415))
                for word in ("--data-binary", "application/x-npy", "is a form", "--data "):
                    self.assertIn(word, problem["detail"])
        other = {"Content-Type": "text/plain"}
        reply = self.server.request("POST", "/v1/identify", other, b"x")
        self.assertNotIn("is a form", reply.json()["detail"])
        for path in ("encodings/rope", "models", "batch", "models/compare"):
            detail = self.server.request("POST", f"/v1/{path}", FORM, b"{}").json()["detail"]
            self.assertIn("curl --json", detail)

    def test_a_model_goes_by_its_name_on_the_hub_wherever_one_is_named(self):
        """In paths, too: test_model_identity.Names."""
        plan = self.server.request("GET", f"/v1/models/{OWN_NAME}?plan=true").body
        for name in (HUB_ID, *TUNED):
            body = json.dumps({"first": name, "second": OWN_NAME}).encode()
            compared = self.server.request("POST", "/v1/models/compare", JSON, body)
            self.assertIs(compared.json()["equal"], True)
            other = self.server.request("GET", f"/v1/models/{quote(name, safe='')}?plan=true")
            self.assertEqual(other.body, plan)
        files = {"Content-Type": "application/vnd.safetensors"}
        for path, file in (
            ("apply?length=2&model=", safetensors(query=[32, 2, 128])),
            (
                "convert/rope?to=interleaved&from=half&model=",
                safetensors(**{"q_proj.weight": [4096, 1]}),
            ),
        ):
            with self.subTest(path):
                replies = [
                    self.server.request("POST", f"/v1/{path}{name}", files, file)
                    for name in (HUB_ID, OWN_NAME, *TUNED)
                ]
                self.assertEqual({reply.status for reply in replies}, {200})
                self.assertEqual(len({reply.body for reply in replies}), 1)
                problem = self.server.request(
                    "POST", f"/v1/{path}meta-llama/Lama-3.1-8B", files, file
                ).json()
                self.assertEqual(problem["errors"][0]["did_you_mean"], OWN_NAME)

    def test_what_is_no_slip_gets_no_suggestion(self):
        """Another size, version or family is another model."""
        for name in OTHER_MODELS:
            with self.subTest(name):
                reply = self.server.request("GET", f"/v1/models/{name}")
                if reply.status == 200:  # a row of its own
                    continue
                problem = reply.json()
                self.assertEqual(problem["status"], 404)
                self.assertNotIn("did_you_mean", problem)
                self.assertIn("config.json", problem["detail"])
        for name in (
            "binray_rope",
            "position",
            "rot",
            "rope_3d",
            "si",
        ):
            with self.subTest(name):
                problem = self.server.request("GET", f"/v1/encodings/{name}").json()
                self.assertNotIn("did_you_mean", problem)

    def test_a_get_without_a_format_prints_text(self):
        """Nothing binary comes to a terminal that did not ask for it."""
        for target in (f"{ROPE}?length=2&dim=4", "/v1/models/gpt2", "/v1/models"):
            for headers in ({}, {"Accept": "*/*"}):
                with self.subTest(target, **headers):
                    reply = self.get(target, headers)
                    self.assertEqual(reply.header("Content-Type"), "application/json")
        reply = self.server.request("POST", "/v1/models", JSON, b'{"model_type": "mamba"}')
        self.assertEqual(reply.header("Content-Type"), "application/json")

    def test_a_page_of_another_origin_reads_tables_and_their_heads(self):
        page = {"Origin": "https://a.example"}
        asked = {"Access-Control-Request-Method": "POST"}
        asked["Access-Control-Request-Headers"] = "content-type"
        allowed = self.server.request("OPTIONS", ROPE, {**page, **asked})
        self.assertIn("POST", allowed.header("Access-Control-Allow-Methods"))
        self.assertIn("content-type", allowed.header("Access-Control-Allow-Headers").lower())
        body = b'{"length": 2, "dim": 4, "format": "raw"}'
        for reply in (
            self.get(f"{ROPE}?length=2&dim=4&format=raw", page),
            self.server.request("POST", ROPE, {**page, **JSON}, body),
        ):
            self.assertEqual(reply.header("Access-Control-Allow-Origin"), "*")
            exposed = reply.header("Access-Control-Expose-Headers").split(", ")
            told = {name for name, _ in reply.fields if name.startswith("Tensor-")}
            self.assertEqual(len(told), 5)
            self.assertLessEqual({*told, "Link", "ETag"}, set(exposed))
