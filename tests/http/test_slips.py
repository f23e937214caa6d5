"""What people type who mean something else: each slip gets a suggestion, or what was meant."""

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
    "/openapi": "/openapi.json",
}


ROPE = "/v1/encodings/rope"


class Slips(ServerCase):
    def test_a_slip_gets_a_suggestion(self):
        for target, meant in SUGGESTIONS.items():
            with self.subTest(target):
                problem = self.server.request("GET", target).json()
                self.assertIn(problem["status"], (400, 404))
                self.assertEqual(problem["did_you_mean"], meant)
                self.assertIn(meant, problem["detail"])

    def test_another_path_gets_none(self):
        for path in ("/nothing", "/v1/x/y/z", "/a", "/v1", "/" + 300 * "v", "/%ff"):
            with self.subTest(path):
                problem = self.server.request("GET", path).json()
                self.assertEqual(problem["status"], 404)
                self.assertNotIn("did_you_mean", problem)

    def test_a_list_may_come_item_by_item(self):
        """As Python's requests and generated clients send lists."""
        one = self.server.request("GET", f"{ROPE}?dim=4&positions=0&positions=2&positions=5")
        other = self.server.request("GET", f"{ROPE}?dim=4&positions=0,2,5")
        self.assertEqual((one.status, one.body), (200, other.body))
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
        json = {"Content-Type": "application/json"}
        detail = self.server.request("POST", ROPE, json, b'{"length": 4}').json()["detail"]
        self.assertNotIn(said, detail)
