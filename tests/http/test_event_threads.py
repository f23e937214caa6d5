"""Event threads parse nothing that may be long: whatever a body holds, no callback of an event
thread works on it for longer than 5 ms. Asserted is time on the processor, not by the wall. A
sanitizer takes several times as long and looks after freed memory: its bound is 20 ms."""

import json
import struct
import unittest

from faults import SANITIZED
from server import ServerCase, wait_until

JSON, NPY, SAFETENSORS = (
    "application/json",
    "application/x-npy",
    "application/vnd.safetensors",
)
MOST = "0.02" if SANITIZED else "0.005"  # seconds, a bound of the histogram
NAME = "posenc_callback_cpu_seconds"


def values(value, size, before='{"dim":4,"positions":[', after="]}"):
    """A JSON body of about `size` bytes that repeats a value."""
    return f"{before}{','.join([value] * (size // (len(value) + 1)))}{after}".encode()


def safetensors(head, data=bytes(128)):
    return struct.pack("<Q", len(head)) + head + data


TENSOR = b'"query":{"dtype":"F32","shape":[4,8],"data_offsets":[0,128]}'
STRANGERS = {f"unknown_{i}": i for i in range(60)}
LONG_HEAD = b'{"__metadata__":{%s},%s}' % (
    b",".join(b'"k%d":"%s"' % (i, b"v" * 20) for i in range(30000)),
    TENSOR,
)
MEMBERS = b"{%s,%s}" % (
    TENSOR,
    b",".join(
        b'"t%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}' % i for i in range(15000)
    ),
)
NPY_HEAD = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 8), }"

BODIES = {
    "objects": ("/v1/batch", JSON, values("{}", 2 << 20, '{"requests":[')),
    "arrays": ("/v1/encodings/sinusoidal", JSON, values("[]", 2 << 20)),
    "strings": ("/v1/similarity/sinusoidal", JSON, values('""', 2 << 20)),
    "positions": ("/v1/encodings/sinusoidal", JSON, values("0.25", 5 << 20)),
    "too many numbers": ("/v1/batch", JSON, values("1", 8 << 20, '{"requests":[')),
    "names": (
        "/v1/batch",
        JSON,
        json.dumps({"requests": [{"name": "a", "scheme": "rope", **STRANGERS}] * 64}).encode(),
    ),
    "few names": (
        "/v1/batch",
        JSON,
        json.dumps({"requests": [{"name": "a", "scheme": "rope", **STRANGERS}] * 4}).encode(),
    ),
    "a config": (
        "/v1/models?plan=true",
        JSON,
        json.dumps({"model_type": "llama", **{f"key_{i}": {} for i in range(8000)}}).encode(),
    ),
    "metadata": ("/v1/compare/sinusoidal?length=4&dim=8", SAFETENSORS, safetensors(LONG_HEAD)),
    "tensors": (
        "/v1/apply/rope?length=4&dim=8&against=t7",
        SAFETENSORS,
        safetensors(MEMBERS),
    ),
    "tensors to convert": (
        "/v1/convert/rope?from=half&to=interleaved&heads=1",
        SAFETENSORS,
        safetensors(MEMBERS),
    ),
    "a tensor to identify": (
        "/v1/identify?file_tensor=query",
        SAFETENSORS,
        safetensors(MEMBERS),
    ),
    "a table as JSON": ("/v1/identify", JSON, values("0.25", 2 << 20, "[", "]")),
    "a table of a few bytes": ("/v1/compare/integer?length=2", JSON, b"[0,1]"),
    "brackets": ("/v1/compare/sinusoidal?length=4&dim=8", JSON, b"[" * (2 << 20)),
    "empty arrays": ("/v1/identify", JSON, values("[]", 2 << 20, "[", "]")),
    "a table as CSV": ("/v1/identify", "text/csv", b"0.25,0.5\n" * (2 << 17)),
    "a line of blanks": ("/v1/identify", "text/csv", b" " * (2 << 20)),
    "a head of blanks": (
        "/v1/compare/sinusoidal?length=4&dim=8",
        NPY,
        b"\x93NUMPY\x02\x00" + struct.pack("<I", 65000) + NPY_HEAD.ljust(65000) + bytes(128),
    ),
}


def late_callbacks(series):
    return series[f"{NAME}_count"] - series[f'{NAME}_bucket{{le="{MOST}"}}']


class EventThreads(ServerCase):
    flags = ("--threads", "1")

    def test_a_body_of_any_kind_is_parsed_by_a_worker(self):
        for what, (target, media_type, body) in BODIES.items():
            before = late_callbacks(self.server.metrics())
            with self.subTest(what):
                reply = self.server.request("POST", target, {"Content-Type": media_type}, body)
                self.assertIn(reply.status, (200, 400, 409, 413, 422), reply)
                self.assertEqual(late_callbacks(self.server.metrics()), before)

    def test_a_few_bytes_of_a_row_that_needs_a_large_state_are_read_by_a_worker(self):
        target = "/v1/similarity/sinusoidal?length=110000&dim=64&metric=pearson&format=raw"
        before = late_callbacks(self.server.metrics())
        for first in range(0, 3 << 34, 1 << 34):
            reply = self.get(target, {"Range": f"bytes={first}-{first + 15}"})
            self.assertEqual((reply.status, len(reply.body)), (206, 16))
        self.assertEqual(late_callbacks(self.server.metrics()), before)

    def test_a_large_state_is_freed_by_a_worker(self):
        server = self.start("--threads", "1", "--cache-bytes", "1GiB")
        target = "/v1/similarity/sinusoidal?length=20000&dim=1500&metric=dot&format=raw"
        for _ in range(3):  # 229 MiB each, of a table that no cache keeps
            reply = server.request("GET", target, {"Range": "bytes=0-15"})
            self.assertEqual((reply.status, len(reply.body)), (206, 16), reply)
            wait_until(lambda: server.metrics()["posenc_streams"] == 0, "it is freed")
        self.assertEqual(late_callbacks(server.metrics()), 0)

    def test_bodies_of_more_values_than_a_request_can_mean_are_refused_unparsed(self):
        for what in ("objects", "arrays", "strings"):
            with self.subTest(what):
                target, media_type, body = BODIES[what]
                reply = self.server.request("POST", target, {"Content-Type": media_type}, body)
                self.assert_problem(reply, 400, "body", code="malformed")


if __name__ == "__main__":
    unittest.main()
