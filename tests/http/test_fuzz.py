"""Random requests on kept connections: every answer is well-formed."""

import json
import random
import unittest
from urllib.parse import quote

from decode import SIZES, flatten, read_npy, read_safetensors
from registry import example, misspelt, value_of
from server import ServerCase, wait_until

REQUESTS = 2000
REFUSALS = {400, 404, 405, 406, 413, 414, 415, 422}
WORDS = [
    "", "0", "1", "-1", "4", "7", "8", "16", "1e1", "4.0", "4.5", "-0", "0.1", "1e-3", "1e15",
    "1e999",
    "0x4", "nan", "inf", "true", "false", "f32", "f64", "f16", "bf16", "json", "npy", "raw",
    "safetensors", "encoding", "concat", "interleaved", "nc", "hwc", "lsb", "dyadic", "whisper",
    "0,1,2", "0,,1", "3,-1.5,1e3", ",", "%", "%01", "%ff", "%zz", "%0d%0a", "+", "1e+4", "é",
    "<", "\\", "{}", "a" * 300, "9" * 400, "--", "..", "\u20ac" * 40,
]  # fmt: skip
VALUES = [
    None, True, False, 0, 1, -1, 4, 8, 4.0, 4.5, 1e15, 1e300, "", "4", "f64", "npy", "raw",
    "concat",
    [], [0, 1, 2], [0.5, -3], ["a"], [None], [[1]], {}, {"a": 1}, "\u0000", "x" * 500, 2**70,
]  # fmt: skip
ACCEPTS = ["*/*", "application/json", "application/x-npy", "x", ",", ""]
ACCEPTS.append("application/octet-stream;q=0.3")


class Fuzz(ServerCase):
    flags = ("--max-elements", "20000", "--cache-bytes", "4MiB")

    def setUp(self):
        self.schemes = self.get("/v1/schemes").json()["schemes"]
        self.random = random.Random(20170612)

    def name_for(self, scheme):
        names = [parameter["name"] for parameter in scheme["parameters"]]
        name = self.random.choice([*names, "format", "tensor", "preset", "metric", "rows"])
        if self.random.random() < 0.1:
            name = misspelt(name, self.random)
        return self.random.choice(WORDS) if self.random.random() < 0.03 else name

    def plausible(self, parameter):
        """A value that is often legal, as text."""
        if "choices" in parameter:
            return self.random.choice(parameter["choices"])
        if parameter["name"] == "set":
            return self.random.choice(["default", "my-set", "a/b"])
        if parameter["type"] == "boolean":
            return self.random.choice(["true", "false"])
        if parameter["type"] == "array":
            count = self.random.randrange(1, 6)
            return ",".join(str(self.random.randrange(-9, 99)) for _ in range(count))
        if parameter["type"] == "number":
            return repr(round(self.random.uniform(1, 50), 2))
        return str(4 * self.random.randrange(0, 12))

    def text_for(self, scheme, name):
        rows = [row for row in scheme["parameters"] if row["name"] == name]
        if rows and self.random.random() < 0.8:
            return self.plausible(rows[0])
        return self.random.choice(WORDS)

    def query_for(self, scheme):
        pairs = list(example(scheme).items())
        if self.random.random() < 0.2:
            pairs.pop()
        for _ in range(self.random.randrange(0, 4)):
            name = self.name_for(scheme)
            pairs.append((name, self.text_for(scheme, name)))
        if self.random.random() < 0.8:  # mostly without repetitions
            pairs = list(dict(pairs).items())
        self.random.shuffle(pairs)
        keep = "%,+" if self.random.random() < 0.7 else ""
        return "&".join(f"{quote(name, keep)}={quote(text, keep)}" for name, text in pairs)

    def body_for(self, scheme, more):
        rows = {row["name"]: row for row in scheme["parameters"]}
        document = {name: value_of(rows[name], text) for name, text in example(scheme).items()}
        document |= more
        for _ in range(self.random.randrange(0, 3)):
            document[self.name_for(scheme)] = self.random.choice(VALUES)
        body = json.dumps(document).encode()
        for _ in range(self.random.choice([0, 0, 0, 1, 3])):
            at = self.random.randrange(len(body) or 1)
            noise = bytes([self.random.randrange(256)])
            replaced, repeated = body[:at] + noise + body[at + 1 :], body[:at] + body
            body = self.random.choice([body[:at], replaced, repeated])
        return body

    def next_request(self):
        """(method, target, headers, body)."""
        scheme = self.random.choice(self.schemes)
        name = (
            scheme["name"]
            if self.random.random() < 0.97
            else misspelt(scheme["name"], self.random)
        )
        method = self.random.choice(["GET"] * 6 + ["HEAD", "POST", "POST", "DELETE"])
        headers = {}
        if self.random.random() < 0.2:
            headers["Accept"] = self.random.choice(ACCEPTS)
        if self.random.random() < 0.15:
            headers["If-None-Match"] = self.random.choice(['"x"', "*", 'W/"', ",", '"'])
        path = f"/v1/encodings/{name}"
        metric = self.random.choice(["l2", "l1", "dot", "cosine", "pearson"])
        similar = self.random.random() < 0.2
        if similar:
            path = f"/v1/similarity/{name}"
        if method != "POST":
            query = self.query_for(scheme) + (f"&metric={metric}" if similar else "")
            return method, f"{path}?{query}", headers, b""
        if self.random.random() < 0.95:
            headers["Content-Type"] = "application/json"
        return (
            method,
            path,
            headers,
            self.body_for(scheme, {"metric": metric} if similar else {}),
        )

    def check(self, method, reply):
        if method == "HEAD" and reply.status in REFUSALS | {200, 304}:
            return
        if reply.status == 304:
            self.assertEqual(method, "GET")
        elif reply.status == 200:
            self.check_tensors(reply)
        else:
            self.assertIn(reply.status, REFUSALS)
            self.assert_problem(reply, reply.status)

    def check_closing(self, wire, reply):
        """Check a reply that closes: only a reply without Content-Length and body may do
        that."""
        self.assertEqual((reply.status in (200, 304), reply.body), (True, b""))
        self.assertIsNone(reply.header("Content-Length"))
        self.assertTrue(wire.is_closed())
        wire.close()

    def check_tensors(self, reply):
        """Check that the body is complete, and not longer, by the rules of its format."""
        media_type = reply.header("Content-Type")
        shape = [int(extent) for extent in reply.header("Tensor-Shape").split(",")]
        elements = 1
        for extent in shape:
            elements *= extent
        self.assertEqual(reply.header("Content-Length"), str(len(reply.body)))
        if media_type == "application/json":
            for tensor in reply.json()["tensors"]:
                flatten(tensor["data"], tensor["shape"])
        elif media_type == "application/x-npy":
            self.assertEqual(read_npy(reply.body)[:2], (reply.header("Tensor-Dtype"), shape))
        elif media_type == "application/vnd.safetensors":
            read_safetensors(reply.body)
        else:
            self.assertEqual(media_type, "application/octet-stream")
            self.assertEqual(len(reply.body), elements * SIZES[reply.header("Tensor-Dtype")])

    def test_random_requests_are_answered_in_order_and_in_form(self):
        statuses, failures = {}, []
        wires, previous, closed = [self.server.wire() for _ in range(3)], [None] * 3, 0
        for number in range(REQUESTS):
            method, target, headers, body = self.next_request()
            try:
                reply = wires[number % 3].exchange(method, target, headers, body)
                self.check(method, reply)
                if reply.header("Connection"):
                    self.check_closing(wires[number % 3], reply)
                    wires[number % 3] = self.server.wire()
                    closed += 1
                statuses[reply.status] = statuses.get(reply.status, 0) + 1
            except (AssertionError, EOFError, OSError, ValueError) as failure:
                asked = f"{method} {target} {headers} {body} after {previous[number % 3]}"
                failures.append(f"{asked}: {failure!r}")
                wires[number % 3].close()  # what follows on it would be out of step
                wires[number % 3] = self.server.wire()
            previous[number % 3] = f"{method} {target} {headers}"
        for wire in wires:
            wire.close()
        if failures:
            self.fail("\n".join([f"{len(failures)} requests, the first ones:", *failures[:8]]))
        for status in (200, 304, 400, 404, 405, 406, 415, 422):
            self.assertIn(status, statuses, "the random requests reach every answer")
        self.assertGreater(statuses[200], REQUESTS // 10)
        asked = (
            4 + closed
        )  # one that looked whether the server was ready, three here, and those that follow

        # a connection is counted once it was handed over, and may be answered before
        def are_counted():
            nonlocal asked
            asked += 1
            return self.server.metrics()["posenc_connections_total"] == asked

        wait_until(are_counted, "every connection to be counted")


if __name__ == "__main__":
    unittest.main()
