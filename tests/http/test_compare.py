"""/v1/compare/{scheme}: tables that are sent, compared with the exact ones."""

import io
import json
import os
import re
import struct
import subprocess
import stat
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy

from faults import SANITIZED
from server import ServerCase, look_at, wait_until
from test_full_disk import skip

NPY, SAFETENSORS, RAW = (
    "application/x-npy",
    "application/vnd.safetensors",
    "application/octet-stream",
)
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I32": "<i4", "I64": "<i8"}


def npy(table, version=None):
    out = io.BytesIO()
    numpy.lib.format.write_array(out, numpy.asanyarray(table), version, allow_pickle=True)
    return out.getvalue()


def safetensors(tensors, **more):
    """A file of {name: (dtype, shape, bytes)}; `more` are members that the header has
    besides."""
    header, data = dict(more), b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class CompareCase(ServerCase):
    def fetch(self, query, scheme="sinusoidal"):
        return numpy.load(
            io.BytesIO(
                self.assert_ok(self.get(f"/v1/encodings/{scheme}?{query}&format=npy")).body
            )
        )

    def compare(self, query, body, media_type=NPY, scheme="sinusoidal"):
        return self.server.request(
            "POST", f"/v1/compare/{scheme}?{query}", {"Content-Type": media_type}, body
        )

    def compared(self, *arguments, status=200, **named):
        reply = self.compare(*arguments, **named)
        self.assertEqual(reply.status, status, reply)
        return reply.json()

    def refuse(self, status, parameter, *arguments, **named):
        self.assert_problem(self.compare(*arguments, **named), status, parameter)


class Compare(CompareCase):
    def test_the_exact_table_is_equal_in_every_order_and_file(self):
        table = self.fetch("length=37&dim=10")
        for body in (
            npy(table),
            npy(numpy.asfortranarray(table)),
            npy(table.astype(">f4")),
            npy(table[None, :, :, None]),
            npy(table, (2, 0)),
            npy(table, (3, 0)),
        ):
            found = self.compared("length=37&dim=10", body)
            self.assertEqual(
                (found["equal"], found["entries"], found["differing"]), (True, 370, 0)
            )
        self.assertTrue(self.compared("length=37&dim=10", table.tobytes(), RAW)["equal"])
        file = safetensors({"pe": ("F32", [37, 10], table.tobytes())})
        found = self.compared("length=37&dim=10", file, SAFETENSORS)
        self.assertEqual(
            (found["equal"], found["file"]),
            (True, {"format": "safetensors", "dtype": "f32", "tensor": "pe"}),
        )
        self.assertEqual(
            found["request"]["url"], "/v1/encodings/sinusoidal?length=37&dim=10&dtype=f32"
        )
        self.assertEqual(
            self.assert_ok(self.get(found["request"]["url"] + "&format=raw")).body,
            table.tobytes(),
        )

    def test_the_dtype_is_the_files(self):
        for dtype in ("f64", "f16"):
            table = self.fetch(f"length=9&dim=6&dtype={dtype}")
            found = self.compared("length=9&dim=6", npy(table))
            self.assertEqual((found["equal"], found["dtype"]), (True, dtype))
        wide = self.fetch("length=9&dim=6&dtype=f64")
        self.refuse(422, "dtype", "length=9&dim=6&dtype=f32", npy(wide))
        self.assertTrue(self.compared("length=9&dim=6&dtype=f64", wide.tobytes(), RAW)["equal"])

    def test_integers_of_any_width_and_complex_numbers(self):
        buckets = self.fetch("length=20&heads=2&tensor=bucket", "t5")
        for dtype in ("<i8", "<i2", ">i4", "u1"):
            self.assertTrue(
                self.compared(
                    "length=20&heads=2&tensor=bucket", npy(buckets.astype(dtype)), scheme="t5"
                )["equal"]
            )
        buckets[3, 4] += 1
        found = self.compared("length=20&heads=2&tensor=bucket", npy(buckets), scheme="t5")
        self.assertEqual(
            (found["differing"], found["max_ulps"]["error"], found["max_abs"]["at"]),
            (1, 1, [3, 4]),
        )
        pairs = self.fetch("length=6&dim=8").reshape(6, 4, 2)
        turned = (pairs[..., 0] + 1j * pairs[..., 1]).astype("c8")
        self.refuse(422, "shape", "length=6&dim=8", npy(turned))  # [6, 4, 2] is not [6, 8]

    def test_the_figures_are_those_of_numpy(self):
        generator = numpy.random.default_rng(3)
        exact = self.fetch("length=400&dim=24")
        table = (
            exact
            + generator.normal(size=exact.shape)
            * 10.0 ** generator.uniform(-9, -1, exact.shape)
        ).astype("f4")
        table[generator.random(exact.shape) < 0.3] = 0
        table[:, 5] = exact[:, 5]
        found = self.compared("length=400&dim=24", npy(table))
        error = numpy.abs(table.astype("f8") - exact)
        unit = 2.0 ** (numpy.maximum(numpy.frexp(exact.astype("f8"))[1] - 1, -126) - 23)
        unit[exact == 0] = 2.0**-149
        ulps = error / unit
        self.assertEqual(found["differing"], (table != exact).sum())
        for name, figures in (("max_abs", error), ("max_ulps", ulps)):
            place = numpy.unravel_index(figures.argmax(), figures.shape)
            self.assertEqual(found[name]["at"], list(place))
            self.assertEqual(found[name]["error"], figures.max())
            self.assertEqual(numpy.float32(found[name]["found"]), table[place])
            self.assertEqual(numpy.float32(found[name]["exact"]), exact[place])
        self.assertEqual(found["ulps_of_one"], error.max() * 2.0**24)
        below = -1.0
        for item in found["histogram"]:
            limit = numpy.inf if item["ulps"] is None else item["ulps"]
            lower = {0: -1, 0.5: 0, numpy.inf: 2.0**63}.get(limit, limit / 2)
            self.assertEqual(item["entries"], ((ulps > lower) & (ulps <= limit)).sum(), limit)
            self.assertGreater(limit, below)
            below = limit
        self.assertEqual(sum(item["entries"] for item in found["histogram"]), exact.size)
        self.assertEqual(
            [item["max_abs"] for item in found["columns"]],
            sorted((value for value in error.max(0) if value), reverse=True),
        )
        self.assertNotIn(5, [item["column"] for item in found["columns"]])
        for block in found["blocks"]:
            part = slice(block["row"], block["row"] + block["count"])
            self.assertEqual(
                (block["differing"], block["max_abs"]),
                ((table != exact)[part].sum(), error[part].max()),
            )
        self.assertEqual(len(found["rows"]), 8)

    def test_what_is_not_finite_has_no_error(self):
        table = self.fetch("length=5&dim=4")
        table[1, 2], table[4, 0] = numpy.nan, numpy.inf
        found = self.compared("length=5&dim=4", npy(table))
        self.assertEqual(
            (found["not_finite"], found["first_not_finite"], found.get("max_abs")),
            (2, [1, 2], None),
        )
        self.assertEqual(found["histogram"][-1], {"ulps": None, "entries": 2})
        query = "length=4&heads=2&mask=causal&tensor=bias"
        bias = self.fetch(query, "alibi")
        self.assertTrue(numpy.isinf(bias).any())
        self.assertTrue(self.compared(query, npy(bias), scheme="alibi")["equal"])

    def test_a_tolerance_makes_a_mismatch_409(self):
        table = self.fetch("length=8&dim=4")
        self.assertTrue(
            self.compared("length=8&dim=4&tolerance=0", npy(table))["within_tolerance"]
        )
        table[6, 1] = numpy.nextafter(table[6, 1], numpy.float32(9))
        self.assertNotIn("within_tolerance", self.compared("length=8&dim=4", npy(table)))
        for query, status in (
            ("tolerance=0", 409),
            ("tolerance=1e-6", 200),
            ("ulps=1", 200),
            ("ulps=0.5", 409),
        ):
            found = self.compared(f"length=8&dim=4&{query}", npy(table), status=status)
            self.assertEqual(
                (found["within_tolerance"], found["outside_tolerance"]),
                (status == 200, int(status == 409)),
            )
        self.refuse(400, "tolerance", "length=8&dim=4&tolerance=some", npy(table))
        self.refuse(422, "ulps", "length=8&dim=4&ulps=-1", npy(table))

    def test_metadata_are_an_object_of_strings_wherever_files_are_read(self):
        targets = (
            ("POST", "/v1/compare/sinusoidal?length=8&dim=4"),
            ("POST", "/v1/identify"),
            ("POST", "/v1/convert/rope?from=half&to=interleaved&heads=1&tensors=table"),
            ("POST", "/v1/apply/sinusoidal?length=8&dim=4"),
            ("PUT", "/v1/sets/metadata"),
        )
        table = {"table": ("F32", [8, 4], bytes(128))}
        headers = {"Content-Type": SAFETENSORS}
        for metadata in ([], "pt", None, 1, True, {"format": 1}, {"format": {"a": "b"}}):
            file = safetensors(table, __metadata__=metadata)
            for method, target in targets:
                reply = self.server.request(method, target, headers, file)
                self.assert_problem(reply, 400, "__metadata__")
        file = safetensors(table, __metadata__={"format": "pt"})
        for method, target in targets:
            reply = self.server.request(method, target, headers, file)
            self.assertIn(reply.status, (200, 201), (target, reply))

    def test_a_tensor_of_a_checkpoint_is_found_by_name(self):
        cos, sin = (
            self.fetch(f"length=7&dim=8&tensor={name}", "rope") for name in ("cos", "sin")
        )
        file = safetensors(
            {
                "cos": ("F32", [7, 4], cos.tobytes()),
                "sin": ("F32", [7, 4], sin.tobytes()),
                "odd": ("F8_E4M3", [1, 1, 1, 1, 1, 1, 2], b"ab"),
                "none": ("F32", [0], b""),
            },
            __metadata__={"format": "pt"},
        )
        for name in ("cos", "sin"):
            self.assertTrue(
                self.compared(f"length=7&dim=8&tensor={name}", file, SAFETENSORS, "rope")[
                    "equal"
                ]
            )
        self.assertFalse(
            self.compared(
                "length=7&dim=8&tensor=cos&file_tensor=sin", file, SAFETENSORS, "rope"
            )["equal"]
        )
        self.refuse(422, "file_tensor", "length=7&dim=8", file, SAFETENSORS, "rope")
        self.refuse(
            400, "body", "length=7&dim=8&file_tensor=cos", file + b"\0", SAFETENSORS, "rope"
        )
        self.refuse(
            422, "file_tensor", "length=7&dim=8&file_tensor=Cos", file, SAFETENSORS, "rope"
        )
        self.refuse(
            422, "dtype", "length=7&dim=8&tensor=cos&file_tensor=odd", file, SAFETENSORS, "rope"
        )
        self.refuse(
            422,
            "shape",
            "length=7&dim=8&tensor=cos&file_tensor=none",
            file,
            SAFETENSORS,
            "rope",
        )
        self.refuse(
            400, "file_tensor", "length=7&dim=8&file_tensor=cos", npy(cos), scheme="rope"
        )
        self.assertIn(
            "cos, sin, odd, none",
            self.compare("length=7&dim=8", file, SAFETENSORS, "rope").json()["detail"],
        )

    def test_what_is_no_table_is_refused(self):
        good = npy(numpy.zeros((4, 8), "f4"))
        header = good[10:128].decode()
        query = "length=4&dim=8"
        for text in (
            "",
            "{}",
            header.replace("descr", "dtype"),
            header.replace("}", ""),
            header.replace("}", "} x"),
            header.replace("(4, 8)", "(4, 8"),
            header.replace("(4, 8)", "(99999999999999999999, 8)"),
            header.replace("(4, 8)", "[4, 8]"),
            header.replace("False", "Maybe"),
            header.replace("'<f4'", "f4"),
            "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4, 8), }",
        ):
            self.refuse(
                400,
                "file header",
                query,
                good[:8] + struct.pack("<H", len(text)) + text.encode() + good[128:],
            )
        for body in (
            b"",
            good[:9],
            b"PK\3\4" + good[4:],
            good[:6] + b"\4" + good[7:],
            good[:-1],
            good + b"0",
        ):
            self.assertEqual(self.compare(query, body).status, 400)
        for table in (
            numpy.array([None]),
            numpy.array(["a"]),
            numpy.zeros(2, "m8[s]"),
            numpy.zeros(2, [("a", "f4")]),
        ):
            self.refuse(422, "dtype", query, npy(table))
        self.refuse(422, "shape", query, npy(numpy.zeros((0, 8), "f4")))
        self.refuse(422, "shape", query, npy(numpy.zeros((1, 1, 1, 1, 1, 4, 8), "f4")))
        self.refuse(422, "shape", query, npy(numpy.zeros((8, 4), "f4")))
        self.assert_problem(self.compare(query, good, "text/plain"), 415)
        self.assert_problem(
            self.server.request("POST", "/v1/compare/none", {"Content-Type": NPY}, good), 404
        )
        self.refuse(400, "format", query + "&format=raw", good)
        for given, meant in (
            ("tolerence", "tolerance"),
            ("rtoll", "rtol"),
            ("ulsp", "ulps"),
            ("ulp", "ulps"),
            ("atol", "tolerance"),
            ("file_tensr", "file_tensor"),
            ("maks", "mask"),
            ("fromat", None),
            ("slice", None),
        ):
            problem = self.compare(f"{query}&{given}=1", good).json()
            self.assertEqual(problem.get("did_you_mean"), meant, given)
            takes = problem["errors"][0]["allowed"].removeprefix("one of ").split(", ")
            self.assertLessEqual({"preset", "tensor", "tolerance", "mask"}, set(takes))
            self.assertFalse({"format", "slice"} & set(takes))
        self.refuse(400, "lenght", "lenght=4&dim=8", good)


class LongBodies(CompareCase):
    """Bodies beyond 1 MiB lie in files of --spool-dir, which have no names."""

    QUERY = "length=65536&dim=128"  # 32 MiB

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.directory = Path(directory.name)
        cls.flags = (
            "--spool-dir",
            directory.name,
            "--max-table-bytes",
            "33MiB",
            "--cache-bytes",
            "4MiB",
        )
        super().setUpClass()
        reply = cls.server.request("GET", f"/v1/encodings/sinusoidal?{cls.QUERY}&format=npy")
        cls.table = numpy.load(io.BytesIO(reply.body))

    def peak(self):
        status = Path(f"/proc/{self.server.pid}/status").read_text()
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])

    def open_files(self):
        """Files of the directory that the server has open, by their descriptors."""
        descriptors = Path(f"/proc/{self.server.pid}/fd").iterdir()
        named = look_at(descriptors, lambda link: (link, os.readlink(link)))
        return [link for link, name in named if name.startswith(str(self.directory))]

    def assert_nothing_left(self):
        self.assertEqual(list(self.directory.iterdir()), [])
        wait_until(lambda: not self.open_files(), "the file is closed")

    def test_they_take_no_memory_and_leave_no_file(self):
        before, good = self.peak(), npy(self.table)
        for body, differing in (
            (good, 0),
            (npy(numpy.asfortranarray(self.table)), 0),
            (good[:-4] + bytes(4), 1),
        ):
            self.assertEqual(self.compared(self.QUERY, body)["differing"], differing)
            self.assert_nothing_left()
        if not SANITIZED:  # which holds freed memory back
            self.assertLess(self.peak() - before, 16 << 20)

    def test_chunked_bodies_too(self):
        good = npy(self.table)
        parts = [good[at : at + 100_000] for at in range(0, len(good), 100_000)]
        reply = self.server.request(
            "POST", f"/v1/compare/sinusoidal?{self.QUERY}", {"Content-Type": NPY}, iter(parts)
        )
        self.assertTrue(self.assert_ok(reply).json()["equal"])

    def test_a_body_beyond_the_limit_is_413(self):
        head = {"Content-Type": NPY, "Content-Length": str(34 << 20), "Expect": "100-continue"}
        with self.server.wire() as wire:
            reply = wire.exchange("POST", "/v1/compare/sinusoidal?length=70000&dim=128", head)
        self.assert_problem(reply, 413)
        self.assert_nothing_left()

    def test_clients_that_leave_in_the_middle_leave_nothing(self):
        good = npy(self.table)
        for sent in (2 << 20, 17 << 20):
            with self.server.wire() as wire:
                wire.send(
                    f"POST /v1/compare/sinusoidal?{self.QUERY} HTTP/1.1\r\nHost: localhost\r\n"
                    f"Content-Type: {NPY}\r\nContent-Length: {len(good)}\r\n\r\n".encode()
                    + good[:sent]
                )
                file = wait_until(self.open_files, "the body is on disk")[0]
                self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600, "for its user alone")
            self.assert_nothing_left()
        self.assertTrue(self.compared(self.QUERY, good)["equal"])

    def test_several_at_once(self):
        """Bodies that arrive together do not mix."""
        good = npy(self.table)
        bodies = [
            good[: 200 + 4 * i] + struct.pack("<f", 5) + good[204 + 4 * i :] for i in range(6)
        ]

        def compared(body):  # there is room for two, and room is given back after the answer
            target = f"/v1/compare/sinusoidal?{self.QUERY}"
            reply = self.server.request("POST", target, {"Content-Type": NPY}, body)
            return reply.status != 503 and self.assert_ok(reply).json()

        with ThreadPoolExecutor(2) as pool:
            found = list(
                pool.map(lambda body: wait_until(lambda: compared(body), "room"), bodies)
            )
        for i, reply in enumerate(found):
            at = [(4 * i + 72) // 4 // 128, (4 * i + 72) // 4 % 128]
            self.assertEqual((reply["differing"], reply["max_abs"]["at"]), (1, at))

    def test_without_the_directory_long_bodies_are_503_and_short_ones_work(self):
        server = self.start("--spool-dir", str(self.directory / "none"))
        for length, status in ((65536, 503), (100, 200)):
            reply = server.request(
                "POST",
                f"/v1/compare/sinusoidal?length={length}&dim=128",
                {"Content-Type": NPY},
                npy(self.table[:length]),
            )
            self.assertEqual(reply.status, status, reply)
        self.assertIn("a long body cannot be kept in spool-dir", server.log())

    def test_a_full_disk_is_503(self):
        small = self.directory / "small"
        small.mkdir()
        self.addCleanup(small.rmdir)
        command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            skip("long bodies on a full disk: a file system cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(small)], check=True)
        server = self.start("--spool-dir", str(small))
        for _ in range(2):
            reply = server.request(
                "POST",
                f"/v1/compare/sinusoidal?{self.QUERY}",
                {"Content-Type": NPY},
                npy(self.table),
            )
            self.assertIn("spool-dir", self.assert_problem(reply, 503)["detail"])
        reply = server.request(
            "POST",
            "/v1/compare/sinusoidal?length=4096&dim=128",
            {"Content-Type": NPY},
            npy(self.table[:4096]),
        )
        self.assertEqual(reply.status, 200, reply)


if __name__ == "__main__":
    unittest.main()
