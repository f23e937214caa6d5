"""curl is a first-class client: what a user types at a shell works."""

import json
import os
import subprocess
import tempfile
from fractions import Fraction

import numpy as np

import exact
from service import PATIENCE, REAL, ServiceTest

SMALL = "/v1/encodings/sinusoidal?length=4&dim=8"


def mpmath_bits(length, dim, dtype="f32"):
    return [
        [
            exact.round_entry(column, Fraction(row), 1.0, dtype)
            for column in exact.sinusoidal_columns(dim)
        ]
        for row in range(length)
    ]


class CurlTest(ServiceTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def curl(self, *arguments, expect=0):
        """curl's standard output; relative targets are the server's."""
        command = ["curl", "-q", "--noproxy", "*", "-sS", "--max-time", str(PATIENCE)]
        command += [self.server.url + a if a.startswith("/v1") else a for a in arguments]
        done = subprocess.run(
            command,
            cwd=self.folder,
            timeout=2 * PATIENCE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
        self.assertEqual(done.returncode, expect, f"{command}\n{done.stderr.decode()}")
        self.errors = done.stderr.decode()
        return done.stdout

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def headers(self, *arguments):
        """Status and headers (names in small letters) that curl received last."""
        text = self.curl("-o", os.devnull, "-D", "-", *arguments).decode()
        status, *lines = text.strip().split("\r\n\r\n")[-1].split("\r\n")
        fields = (line.split(": ", 1) for line in lines)
        return int(status.split()[1]), {name.lower(): value for name, value in fields}

    def test_dash_o_saves_an_array_that_numpy_loads_with_mpmaths_bits(self):
        self.curl(SMALL + "&format=npy", "-o", "pe.npy")
        array = np.load(self.path("pe.npy"))
        self.assertEqual((array.shape, array.dtype), ((4, 8), np.float32))
        self.assertEqual(array.view(np.uint32).tolist(), mpmath_bits(4, 8))

    def test_dash_oj_names_the_file_after_what_is_in_it(self):
        for query, name in (
            (SMALL + "&format=npy", "sinusoidal_4x8_f32.npy"),
            (SMALL + "&format=raw&dtype=bf16", "sinusoidal_4x8_bf16.bin"),
            (SMALL + "&format=safetensors&dtype=f64", "sinusoidal_4x8_f64.safetensors"),
            (SMALL, "sinusoidal_4x8_f32.json"),
            (
                "/v1/encodings/sinusoidal_2d?height=2&width=3&dim=4&format=npy",
                "sinusoidal_2d_4x2x3_f32_96f98569.npy",
            ),
        ):
            self.curl("-OJ", query)
            self.assertEqual(os.listdir(self.folder), [name])
            self.assertEqual(self.read(name), self.curl(query))
            os.remove(self.path(name))

    def test_ten_ranges_of_lengths_by_curls_own_globbing(self):
        self.curl("/v1/encodings/sinusoidal?length=[1-10]&dim=8&format=npy", "-o", "pe_#1.npy")
        whole = np.load(self.path("pe_10.npy"))
        for length in range(1, 11):
            np.testing.assert_array_equal(
                np.load(self.path(f"pe_{length}.npy")), whole[:length]
            )

    def test_compressed_does_no_harm(self):
        for form in ("json", "npy", "safetensors", "raw"):
            query = f"{SMALL}&format={form}"
            self.assertEqual(self.curl("--compressed", query), self.curl(query))

    def test_curls_own_etag_files_save_the_second_transfer(self):
        query = SMALL + "&format=npy"
        first = self.curl("--etag-save", "etag", "-w", "%{http_code}", "-o", "pe.npy", query)
        again = self.curl("--etag-compare", "etag", "-w", "%{http_code}", "-o", "no.npy", query)
        self.assertEqual((first, again), (b"200", b"304"))
        self.assertFalse(os.path.exists(self.path("no.npy")) and self.read("no.npy"))

    def test_fail_makes_a_mistake_an_exit_status(self):
        self.curl("--fail", "/v1/encodings/sinusoidal?lenght=4&dim=8", expect=22)
        told = json.loads(self.curl("/v1/encodings/sinusoidal?lenght=4&dim=8"))
        self.assertIn("length", [error.get("did_you_mean") for error in told["errors"]])
        status, headers = self.headers("/v1/encodings/sinusoidal?lenght=4&dim=8")
        self.assertEqual((status, headers["content-type"]), (400, "application/problem+json"))

    def test_raw_pipes_into_numpy_by_its_headers(self):
        for dtype, real in REAL.items():
            query = f"/v1/encodings/sinusoidal?length=7&dim=10&format=raw&dtype={dtype}"
            status, headers = self.headers(query)
            self.assertEqual((status, headers["tensor-byte-order"]), (200, "little"))
            shape = tuple(map(int, headers["tensor-shape"].split(", ")))
            array = np.frombuffer(self.curl(query), real).reshape(shape)
            if dtype != "f64":
                self.assertEqual(
                    array.view(f"<u{real.itemsize}").tolist(), mpmath_bits(7, 10, dtype)
                )
            self.curl(f"{query.replace('raw', 'npy')}", "-o", "pe.npy")
            np.testing.assert_array_equal(np.load(self.path("pe.npy")), array)

    def test_a_large_table_arrives_whole(self):
        self.curl("/v1/encodings/sinusoidal?length=4096&dim=512&format=npy", "-o", "pe.npy")
        array = np.load(self.path("pe.npy"))
        self.assertEqual(array.shape, (4096, 512))
        last = [
            exact.round_entry(column, Fraction(4095), 1.0, "f32")
            for column in exact.sinusoidal_columns(512)
        ]
        self.assertEqual(array[-1].view(np.uint32).tolist(), last)
