"""curl is a first-class client: what a user types at a shell works."""

import json
import os
import re
import socket
import subprocess
import tempfile
from fractions import Fraction
from itertools import product
from urllib.parse import urlsplit

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

    def test_a_plain_get_prints_json_with_the_values_of_the_binary_forms(self):
        text = self.curl(SMALL).decode()
        answer = json.loads(text)
        self.assertEqual(answer["scheme"], "sinusoidal")
        self.assertEqual(answer["parameters"]["dim"], 8)
        (tensor,) = answer["tensors"]
        self.assertEqual(
            (tensor["name"], tensor["dtype"], tensor["shape"]), ("encoding", "f32", [4, 8])
        )
        values = np.array(tensor["data"], np.float32)
        raw = np.frombuffer(self.curl(SMALL + "&format=raw"), "<f4").reshape(4, 8)
        np.testing.assert_array_equal(values.view(np.uint32), raw.view(np.uint32))
        self.assertEqual(len(re.findall(r"\n *\[[^][]*\]", text)), 4, "a line for each row")
        self.assertTrue(text.endswith("\n"))

    def test_dash_o_saves_an_array_that_numpy_loads_with_mpmaths_bits(self):
        self.curl(SMALL + "&format=npy", "-o", "pe.npy")
        array = np.load(self.path("pe.npy"))
        self.assertEqual((array.shape, array.dtype), ((4, 8), np.float32))
        self.assertEqual(array.view(np.uint32).tolist(), mpmath_bits(4, 8))

    def test_accept_chooses_the_format_as_well(self):
        self.curl("-H", "Accept: application/x-npy", SMALL, "-o", "pe.npy")
        self.assertEqual(np.load(self.path("pe.npy")).shape, (4, 8))

    def test_dash_oj_names_the_file_after_what_is_in_it(self):
        for query, name in (
            (SMALL + "&format=npy", "sinusoidal_4x8_f32.npy"),
            (SMALL + "&format=raw&dtype=bf16", "sinusoidal_4x8_bf16.bin"),
            (SMALL + "&format=safetensors&dtype=f64", "sinusoidal_4x8_f64.safetensors"),
            (SMALL, "sinusoidal_4x8_f32.json"),
            (
                "/v1/encodings/sinusoidal_2d?height=2&width=3&dim=4&format=npy",
                "sinusoidal_2d_4x2x3_f32_base_height10000.npy",
            ),
        ):
            self.curl("-OJ", query)
            self.assertEqual(os.listdir(self.folder), [name])
            self.assertEqual(self.read(name), self.curl(query))
            os.remove(self.path(name))

    def test_two_urls_in_one_call_share_a_connection(self):
        out = self.curl(
            "-v", "-w", "%{num_connects} ", SMALL, "-o", "a", SMALL + "&format=npy", "-o", "b"
        ).decode()
        self.assertEqual(out.split(), ["1", "0"])
        self.assertNotIn("Connection: close", self.errors)

    def test_errors_and_dry_runs_leave_the_connection_open_too(self):
        urls = [
            SMALL + "&format=npy",
            "/v1/encodings/sinusoidal?lenght=4&dim=8",
            "/v1/encodings/nothing",
            SMALL + "&format=raw",
        ]
        for option in ("-s", "-I"):
            out = self.curl(
                option,
                "-w",
                "%{stderr}%{http_code} %{num_connects}\n",
                *[part for url in urls for part in (url, "-o", os.devnull)],
            )
            self.assertEqual(out, b"")
            self.assertEqual(self.errors.split("\n")[:-1], ["200 1", "400 0", "404 0", "200 0"])

    def test_nothing_but_the_next_answer_follows_a_304(self):
        for form, option in product(("json", "npy", "safetensors", "raw"), ("-s", "-I")):
            query = f"{SMALL}&format={form}"
            condition = f"If-None-Match: {self.headers(query)[1]['etag']}"
            urls = [
                query,
                query,
                f"/v1/encodings/sinusoidal?length=5&dim=8&format={form}",
                query,
            ]
            with self.subTest(format=form, option=option):
                self.curl(
                    option,
                    "-v",
                    "-w",
                    "%{stderr}got %{http_code} %{num_connects}\n",
                    "-H",
                    condition,
                    *[part for url in urls for part in (url, "-o", os.devnull)],
                )
                told = [
                    line.split()[1:]
                    for line in self.errors.split("\n")
                    if line.startswith("got ")
                ]
                self.assertEqual([status for status, _ in told], ["304", "304", "200", "304"])
                self.assertFalse("Excess found" in self.errors, "bytes after the headers")
                if form != "json":  # whose length is unknown until it is written: may close
                    self.assertEqual([connects for _, connects in told], ["1", "0", "0", "0"])

    def test_an_answer_without_a_body_ends_with_its_headers(self):
        parts = urlsplit(self.server.url)
        for form, method in product(("json", "npy", "safetensors", "raw"), ("GET", "HEAD")):
            query = f"{SMALL}&format={form}"
            etag = self.get(query).headers["ETag"] if method == "GET" else '"other"'
            with socket.create_connection((parts.hostname, parts.port), PATIENCE) as stream:
                stream.sendall(
                    f"{method} {query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                    f"If-None-Match: {etag}\r\n\r\n".encode()
                )
                received = b"".join(iter(lambda: stream.recv(65536), b""))
            self.assertEqual(received.partition(b"\r\n\r\n")[2], b"", (form, method))

    def test_ten_ranges_of_lengths_by_curls_own_globbing(self):
        self.curl("/v1/encodings/sinusoidal?length=[1-10]&dim=8&format=npy", "-o", "pe_#1.npy")
        whole = np.load(self.path("pe_10.npy"))
        for length in range(1, 11):
            np.testing.assert_array_equal(
                np.load(self.path(f"pe_{length}.npy")), whole[:length]
            )

    def test_json_posts_the_same_request(self):
        body = {"length": 4, "dim": 8, "format": "npy"}
        posted = self.curl("--json", json.dumps(body), SMALL.split("?")[0])
        self.assertEqual(posted, self.curl(SMALL + "&format=npy"))
        with open(self.path("body.json"), "w", encoding="utf-8") as file:
            json.dump({"positions": [0, 1, 2, 3], "dim": 8, "format": "raw"}, file)
        posted = self.curl("--json", "@body.json", SMALL.split("?")[0])
        self.assertEqual(posted, self.curl(SMALL + "&format=raw"))

    def test_json_posts_a_list_too_long_for_a_url(self):
        positions = [step * 0.5 for step in range(5000)]
        with open(self.path("body.json"), "w", encoding="utf-8") as file:
            json.dump({"positions": positions, "dim": 8, "format": "raw"}, file)
        posted = self.curl("--json", "@body.json", SMALL.split("?")[0])
        window = self.curl("/v1/encodings/sinusoidal?length=5000&step=0.5&dim=8&format=raw")
        self.assertEqual(posted, window)

    def test_get_with_url_encoded_data_is_the_same_request(self):
        made = self.curl(
            "-G",
            SMALL.split("?")[0],
            "-d",
            "length=4",
            "--data-urlencode",
            "positions=",
            expect=0,
        )
        self.assertIn(b"positions", made)  # an empty value is refused, by name
        made = self.curl(
            "-G",
            SMALL.split("?")[0],
            "-d",
            "length=4",
            "-d",
            "dim=8",
            "-d",
            "format=raw",
            "--data-urlencode",
            "base=1e+4",
        )
        self.assertEqual(made, self.curl(SMALL + "&format=raw"))

    def test_compressed_does_no_harm(self):
        for form in ("json", "npy", "safetensors", "raw"):
            query = f"{SMALL}&format={form}"
            self.assertEqual(self.curl("--compressed", query), self.curl(query))

    def test_dash_i_is_a_dry_run_with_the_headers_of_the_get(self):
        for form in ("json", "npy", "safetensors", "raw"):
            query = f"/v1/encodings/sinusoidal?length=11&dim=6&format={form}"
            text = self.curl("-I", query).decode()
            self.assertTrue(text.startswith("HTTP/1.1 200 "), text)
            head = dict(line.split(": ", 1) for line in text.strip().split("\r\n")[1:])
            self.assertEqual(head["Tensor-Shape"], "11, 6")
            self.assertEqual(head["Tensor-Dtype"], "f32")
            self.assertEqual(head["Tensor-Name"], "encoding")
            status, headers = self.headers(query)
            self.assertEqual(status, 200)
            for name in ("ETag", "Content-Type", "Content-Disposition"):
                self.assertEqual(head[name], headers[name.lower()], name)
            if "Content-Length" in head:  # JSON need not know it before it is written
                self.assertEqual(int(head["Content-Length"]), len(self.curl(query)))
            else:
                self.assertEqual(form, "json")

    def test_if_none_match_gives_304_and_no_body(self):
        for form in ("json", "npy", "safetensors", "raw"):
            query = f"{SMALL}&format={form}"
            _, headers = self.headers(query)
            condition = f"If-None-Match: {headers['etag']}"
            status, again = self.headers("-H", condition, query)
            self.assertEqual(status, 304)
            self.assertEqual(again["etag"], headers["etag"])
            if "content-length" in again:
                self.assertEqual(again["content-length"], headers["content-length"])
            out = self.curl("-H", condition, "-w", "%{http_code} %{size_download}", query)
            self.assertEqual(out, b"304 0")
            status, _ = self.headers("-H", 'If-None-Match: "other"', query)
            self.assertEqual(status, 200)

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
