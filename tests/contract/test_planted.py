"""Prism finds what /openapi.json does not describe: replies that are made up here, carried like
a server's."""

import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent / "http")]

from prism import FIRST, Prism  # noqa: E402
from server import Reply, Server  # noqa: E402


def reply(status, media_type, body, **fields):
    """A reply as the server's would be, but for what the caller changes."""
    given = {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "ETag",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Content-Type": media_type,
        **{name.replace("_", "-"): value for name, value in fields.items()},
    }
    return Reply(status, [pair for pair in given.items() if pair[1] is not None], body)


def answer(status=200, media_type="application/json", body=b'{"status":"live"}', **fields):
    return reply(status, media_type, body, **fields)


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = Server()
        cls.addClassCleanup(server.stop)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.prism = Prism(server.request("GET", "/openapi.json").json(), folder.name)
        cls.addClassCleanup(cls.prism.stop)

    def carry(self, target, made, method="GET", headers=None, body=None):
        return self.prism.carry(method, target, headers or {}, body, lambda: made)

    def assert_found(self, *arguments, **named):
        with self.assertRaises(AssertionError, msg=arguments):
            self.carry(*arguments, **named)

    def test_what_is_described_passes(self):
        self.assertEqual(self.carry("/health/live", answer()).status, 200)
        self.carry("/nothing", answer(404, "application/problem+json", b"{}"))

    def test_other_statuses_routes_and_media_types_are_found(self):
        self.assert_found("/health/live", answer(202))
        self.assert_found("/health/live", answer(418, "application/problem+json", b"{}"))
        self.assert_found("/nothing", answer())
        self.assert_found("/health/live", answer(), "DELETE")
        self.assert_found("/health/live", answer(media_type="text/html", body=b"live"))
        self.assert_found("/health/live", answer(media_type="text/html", body=b""), "HEAD")

    def test_a_share_of_many_alike_is_drawn(self):
        def leave_all(share):
            self.prism.share = share

        self.addCleanup(leave_all, self.prism.share)
        leave_all(0)
        wrong = answer(body=b'{"status":1}')
        for _ in range(FIRST):  # of the first ones each is looked at
            self.assert_found("/health/live", wrong)
        self.carry("/health/live", wrong)
        self.assert_found("/health/live", answer(202))
        self.assert_found("/health/live", answer(media_type="text/html", body=b"live"))
        leave_all(0.999999)
        self.assert_found("/health/live", wrong)

    def test_other_members_and_types_are_found(self):
        self.assert_found("/health/live", answer(body=b"{}"))
        self.assert_found("/health/live", answer(body=b'{"status":1}'))
        self.assert_found("/health/live", answer(body=b'{"status":"live","more":1}'))
        data = (
            b'{"scheme":"a","preset":null,"revision":1,"parameters":{},"tensors":'
            b'[{"name":"a","dtype":"f32","shape":[1],'
        )
        headers = {
            "Content_Disposition": 'inline; filename="a"', "Tensor_Byte_Order": "little",
            "Tensor_Dtype": "f32", "Tensor_Name": "a", "Tensor_Shape": "1", "ETag": '"a1"',
        }  # fmt: skip
        target = "/v1/encodings/sinusoidal?length=1&dim=2"
        self.carry(target, answer(body=data + b'"data":[1.5]}]}', **headers))
        self.assert_found(target, answer(body=data + b'"data":["a"]}]}', **headers))

    def test_missing_and_other_headers_are_found(self):
        self.assert_found("/health/live", answer(Cache_Control=None))
        self.assert_found("/health/live", answer(X_Content_Type_Options="sniff"))

    def test_requests_that_are_taken_though_not_described_are_found(self):
        problem = b'{"type":"a","title":"a","status":400,"code":"a"}'
        links = '</docs>; rel="service-doc", </openapi.json>; rel="service-desc"'
        refused = answer(400, "application/problem+json", problem, Link=links)
        target = "/v1/encodings/sinusoidal"
        taken = answer(206, "application/x-npy", b"", ETag='"a1"', Accept_Ranges="bytes",
                       Content_Range="bytes 0-1/2", Content_Disposition='inline; filename="a"',
                       Tensor_Byte_Order="little", Tensor_Dtype="f32", Tensor_Name="a",
                       Tensor_Shape="1")  # fmt: skip
        self.carry(f"{target}?length=1&dim=2", taken)
        self.carry(f"{target}?length=1&dim=x", refused)
        self.assert_found(f"{target}?length=1&dim=x", taken)


if __name__ == "__main__":
    unittest.main()
