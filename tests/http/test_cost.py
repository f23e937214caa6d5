"""What costs more than --compute-cost is refused before it is computed."""

import json
import unittest

from server import ServerCase

DEAR = "/v1/encodings/floater?length=16000&dim=512&hidden=2048&method=rk4&substeps=1000"


class Default(ServerCase):
    def test_what_would_take_hours_is_refused_at_once(self):
        reply = self.get(DEAR)
        self.assertEqual(reply.status, 422)
        document = json.loads(reply.body)
        self.assertEqual(document["code"], "too_large")
        self.assertIn("length must be reduced, or dim, hidden or substeps", document["detail"])
        self.assertIn("1.3e+14 multiply-adds", document["detail"])
        self.assertEqual(self.head(DEAR).status, 422)

    def test_the_limit_is_published(self):
        limit = json.loads(self.get("/v1/info").body)["limits"]["compute-cost"]
        self.assertEqual(limit["value"], 100000000000)
        self.assertEqual(limit["unit"], "multiply-adds")


class Low(ServerCase):
    flags = ("--compute-cost", "1000")

    def test_the_setting_decides(self):
        self.assertEqual(self.get("/v1/encodings/integer?length=1000").status, 200)
        self.assertEqual(self.get("/v1/encodings/integer?length=1001").status, 422)


class OneTensor(ServerCase):
    flags = ("--compute-cost", "80000")  # a table of 32000 entries costs 56800, both 108800
    target = "/v1/encodings/rope?length=1000&dim=64"

    def test_a_request_for_one_tensor_costs_no_more_than_that(self):
        for more in ("&tensor=cos", "&tensor=sin&format=safetensors", "&format=raw"):
            self.assertEqual(self.get(self.target + more).status, 200, more)
        for more in ("", "&format=safetensors"):
            self.assertEqual(self.get(self.target + more).status, 422, more)
        for accept in ("application/octet-stream", "application/x-npy"):
            self.assertEqual(self.get(self.target, {"Accept": accept}).status, 200, accept)

    def test_a_batch_costs_what_its_tensors_do(self):
        part = {"scheme": "rope", "length": 600, "dim": 64}
        for tensors, status in ((("cos", "sin"), 200), (("cos", "sin", "cos"), 422)):
            parts = [dict(part, name=f"t{i}", tensor=name) for i, name in enumerate(tensors)]
            self.assertEqual(self.post("/v1/batch", {"requests": parts}).status, status)


if __name__ == "__main__":
    unittest.main()
