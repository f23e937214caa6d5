"""The HTTP tests once more, through Prism: no answer but as /openapi.json describes it.

    suite.py [MODULE…]     all modules but those below, unless named"""

import io
import multiprocessing
import os
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "http"))

from prism import Document, Prism  # noqa: E402
from server import Reply, Server, Way  # noqa: E402

# What cannot pass a proxy, by its nature. (In the other modules, bytes that a test writes to a
# socket itself go directly, too; they are counted as little as these.)
OUTSIDE = {
    "test_framing": "bytes that are no HTTP, or nearly none: a proxy would mend or refuse them",
    "test_deadlines": "clients that stop in the middle, watched by the clock",
    "test_overload": "queues held full for moments",
    "test_load": "many clients at once, and what they cost the server",
    "test_soak": "random traffic, much of it broken off, on sockets of its own",
    "test_memory": "thousands of times the same request, one allocation of which fails each "
    "time",
    "test_models.PythonsJson": "numbers as Python writes them, which are no JSON",
    "test_confusion": "hundreds of random tables, on sockets of its own",
    "test_identify_tables": "hundreds of tables, whose answers are as those in test_identify",
    "test_identify_relative": "the same for tables of relative positions",
    "test_compare.LongBodies": "bodies of 32 MiB, in chunks, and clients that leave in the "
    "middle",
    "test_floater.Load": "how long a hit may take beside a long computation",
    "test_lifecycle": "processes that end, sockets handed over",
    "test_unix_sockets": "sockets that a proxy does not know",
    "test_warm": "processes that start, and are asked again and again until they are ready",
}

# Responses that no test of the other modules brings about.
UNSEEN = {
    "NotImplemented": "framing, in test_framing alone",
    "NotReady": "starts and endings, in test_warm and test_lifecycle alone",
}


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
    """That violations are found: replies made up here, carried like a server's."""

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

    def test_other_members_and_types_are_found(self):
        self.assert_found("/health/live", answer(body=b"{}"))
        self.assert_found("/health/live", answer(body=b'{"status":1}'))
        self.assert_found("/health/live", answer(body=b'{"status":"live","more":1}'))
        data = (
            b'{"scheme":"a","preset":null,"release":"1","parameters":{},"tensors":'
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


def modules(named):
    found = sorted(path.stem for path in (HERE.parent / "http").glob("test_*.py"))
    strangers = {name.split(".")[0] for name in (*named, *OUTSIDE)} - set(found)
    if strangers:
        raise SystemExit(f"no such module: {', '.join(sorted(strangers))}")
    return named or [name for name in found if name not in OUTSIDE]


def tests_of(module):
    """A module's tests but for the classes that stay outside."""
    classes = unittest.defaultTestLoader.loadTestsFromName(module)
    kept = [tests for tests in classes if tests.countTestCases() and not is_outside(tests)]
    return unittest.TestSuite(kept)


def is_outside(tests):
    case = type(next(iter(tests)))
    return f"{case.__module__}.{case.__qualname__}" in OUTSIDE


def run(tests, what):
    """Run tests and print how they went; whether all passed."""
    stream = io.StringIO()
    result = unittest.TextTestRunner(stream).run(tests)
    summary = f"{result.testsRun} tests in {what}"
    print(f"contract: {summary}" if result.wasSuccessful() else f"{what}\n{stream.getvalue()}")
    sys.stdout.flush()
    return result.wasSuccessful()


def work(document, planted, waiting, results):
    """Take modules from those waiting until there is none, all through one Prism."""
    good = True
    with tempfile.TemporaryDirectory() as folder:
        Planted.prism = prism = Prism(document, folder)
        try:
            if planted:
                tests = unittest.defaultTestLoader.loadTestsFromTestCase(Planted)
                good &= run(tests, "what is planted")
                prism.forget()
            Way.carry = staticmethod(prism.carry)
            while module := waiting.get():
                began = prism.counts["exchanges"]
                good &= run(tests_of(module), module)
                print(f"contract: {prism.counts['exchanges'] - began} exchanges of {module}")
        finally:
            prism.stop()
    results.put((good, prism.counts, prism.document.seen))


def run_all(document, named):
    """Run modules in as many processes as there are processors, two at most, each with its
    Prism: (whether all passed, counts, responses seen)."""
    context = multiprocessing.get_context("fork")
    waiting, results = context.SimpleQueue(), context.SimpleQueue()
    count = min(2, os.cpu_count() or 1)
    for module in modules(named):
        waiting.put(module)
    for _ in range(count):
        waiting.put(None)
    workers = [
        context.Process(target=work, args=(document, number == 0, waiting, results))
        for number in range(count)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    good, counts, seen = True, Counter(), Counter()
    for worker in workers:
        if worker.exitcode != 0:
            return False, counts, seen
        done, counted, met = results.get()
        good, counts, seen = good and done, counts + counted, seen + met
    return good, counts, seen


def report(described, counts, seen):
    """Print what passed; whether every response that is described was seen."""
    for what, count in sorted(counts.items()):
        print(f"contract: {count} {what}")
    for module, reason in OUTSIDE.items():
        print(f"contract: outside is {module}: {reason}")
    for name, reason in UNSEEN.items():
        print(f"contract: not seen is {name}: {reason}")
    wrong = (described - set(seen) - set(UNSEEN)) | (set(UNSEEN) & set(seen))
    if wrong:
        print(f"contract: these responses should be seen, or not: {', '.join(sorted(wrong))}")
    return not wrong


def main(named):
    began = time.monotonic()
    server = Server()
    document = server.request("GET", "/openapi.json").json()
    server.stop()
    good, counts, seen = run_all(document, named)
    good &= bool(named) or report(set(Document(document).responses()), counts, seen)
    print(f"contract: {counts['exchanges']} exchanges, {time.monotonic() - began:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
