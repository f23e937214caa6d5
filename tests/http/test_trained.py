"""Encodings from sets, by the scheme `learned`."""

import gzip
import struct
import tempfile
import threading
import unittest

from decode import read_safetensors
from server import ServerCase
from stored import PATH, write

ROWS, DIM = 8, 6


def table(first):
    """A file with a table of ROWS rows, and its data."""
    data = struct.pack(f"<{ROWS * DIM}f", *(first + i / 8 for i in range(ROWS * DIM)))
    return write({"table": ("F32", [ROWS, DIM], data)}), data


class Trained(ServerCase):
    def put(self, server, name, body):
        return server.request("PUT", f"{PATH}/{name}", None, body).status

    def ask(self, name, form="raw", headers=None, server=None):
        target = f"/v1/encodings/learned?set={name}&length={ROWS}&format={form}"
        return (server or self.server).request("GET", target, headers)

    def test_the_rows_are_the_tables(self):
        body, data = table(1.0)
        self.put(self.server, "rows", body)
        reply = self.assert_ok(self.ask("rows"))
        self.assertEqual((reply.body, reply.header("Tensor-Shape")), (data, f"{ROWS}, {DIM}"))
        posted = self.post(
            "/v1/encodings/learned", {"set": "rows", "length": ROWS, "format": "raw"}
        )
        self.assertEqual(posted.body, data)

    def test_products_beyond_f64_are_refused_by_the_metric(self):
        body = write({"table": ("F64", [2, 2], struct.pack("<4d", *(1e300,) * 4))})
        self.put(self.server, "large", body)
        for dtype in ("f64", "f32"):
            query = f"set=large&length=2&metric=dot&dtype={dtype}"
            reply = self.get(f"/v1/similarity/learned?{query}")
            self.assertIn("f64", self.assert_problem(reply, 422, "metric")["detail"])

    def test_replies_are_to_be_revalidated(self):
        body, _ = table(2.0)
        self.put(self.server, "valid", body)
        for _ in range(3):  # computed, and from the cache
            reply = self.ask("valid")
            self.assertEqual(reply.header("Cache-Control"), "no-cache")
            again = self.ask("valid", headers={"If-None-Match": reply.header("ETag")})
            self.assertEqual((again.status, again.header("Cache-Control")), (304, "no-cache"))
        seeded = self.get(f"/v1/encodings/learned?seed=1&dim={DIM}&length=4&format=raw")
        self.assertIn("max-age", seeded.header("Cache-Control"))

    def test_a_replaced_set_is_never_served_again(self):
        old, old_data = table(1.0)
        new, new_data = table(-1.0)
        self.put(self.server, "changing", old)
        first = self.ask("changing")
        self.assertEqual(self.ask("changing").body, old_data)
        self.put(self.server, "changing", new)
        second = self.ask("changing", headers={"If-None-Match": first.header("ETag")})
        self.assertEqual((second.status, second.body), (200, new_data))
        self.assertNotEqual(first.header("ETag"), second.header("ETag"))
        self.server.request("DELETE", f"{PATH}/changing")
        self.assert_problem(self.ask("changing"), 422, "set")

    def test_parts_and_gzip_follow_a_replaced_set(self):
        old, old_data = table(1.0)
        new, new_data = table(-1.0)
        self.put(self.server, "parts", old)
        text, tag = self.ask("parts", "json").body, self.ask("parts").header("ETag")
        for form, headers, status, body in (
            ("raw", {"Range": "bytes=5-9"}, 206, old_data[5:10]),
            ("raw", {"Range": "bytes=5-9", "If-Range": tag}, 206, old_data[5:10]),
            ("raw", {"If-Match": tag}, 200, old_data),
            ("json", {"Accept-Encoding": "gzip"}, 200, text),
        ):
            for _ in range(3):  # none of these may be answered with the shared reply of hits
                reply = self.ask("parts", form, headers)
                coded = reply.header("Content-Encoding") == "gzip"
                got = gzip.decompress(reply.body) if coded else reply.body
                self.assertEqual((reply.status, got, coded), (status, body, form == "json"))
                self.assertEqual(reply.header("Cache-Control"), "no-cache")
        coded_tag = reply.header("ETag")
        self.put(self.server, "parts", new)
        self.assertEqual(self.ask("parts", headers={"Range": "bytes=5-9"}).body, new_data[5:10])
        whole = self.ask("parts", headers={"Range": "bytes=5-9", "If-Range": tag})
        self.assertEqual((whole.status, whole.body), (200, new_data))
        self.assert_problem(self.ask("parts", headers={"If-Match": tag}), 412)
        headers = {"Accept-Encoding": "gzip", "If-None-Match": coded_tag}
        self.assertEqual(self.ask("parts", "json", headers).status, 200)
        again = gzip.decompress(self.ask("parts", "json", {"Accept-Encoding": "gzip"}).body)
        self.assertNotEqual(again, text)
        self.assertEqual(again, self.ask("parts", "json").body)

    def test_every_answer_names_the_set_that_was_asked_for(self):
        body, _ = table(3.0)
        for name in ("one", "two"):
            self.put(self.server, name, body)
        for _ in range(2):
            for name in ("one", "two"):
                told = self.ask(name, "json").json()["parameters"]
                self.assertEqual(told["set"], name)
                metadata, _ = read_safetensors(self.ask(name, "safetensors").body)
                self.assertEqual(metadata["set"], name)
        one, two = (self.ask(name, "json").header("ETag") for name in ("one", "two"))
        self.assertNotEqual(one, two)

    def test_unknown_sets_and_wrong_extents_are_refused_by_name(self):
        body, _ = table(4.0)
        self.put(self.server, "extents", body)
        self.assert_problem(self.ask("nosuch"), 422, "set")
        target = f"/v1/encodings/learned?set=extents&length=4&dim={DIM + 1}"
        self.assert_problem(self.get(target), 422, "dim")
        other = write({"weights": ("F32", [2], bytes(8))})
        self.put(self.server, "other", other)
        self.assert_problem(self.get("/v1/encodings/learned?set=other&length=2&dim=1"), 422)

    def test_replacing_while_requests_run_gives_one_table_or_the_other(self):
        files = [table(float(i)) for i in range(4)]
        known = {data for _, data in files}
        self.put(self.server, "busy", files[0][0])
        stop, failures = threading.Event(), []

        def read():
            with self.server.wire() as wire:
                target = f"/v1/encodings/learned?set=busy&length={ROWS}&format=raw"
                while not stop.is_set():
                    reply = wire.exchange("GET", target)
                    if reply.status != 200 or reply.body not in known:
                        failures.append(reply)

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        for i in range(200):
            self.assertEqual(self.put(self.server, "busy", files[i % 4][0]), 204)
            self.assertEqual(self.ask("busy").body, files[i % 4][1], "never a stale one")
        stop.set()
        for reader in readers:
            reader.join()
        self.assertEqual(failures, [])

    def test_sets_on_disk_are_found_when_they_are_not_in_memory(self):
        with tempfile.TemporaryDirectory(prefix="posenc-") as directory:
            flags = ("--data-dir", f"{directory}/data", "--set-cache-bytes", "0")
            server = self.start(*flags)
            body, data = table(5.0)
            self.assertEqual(self.put(server, "kept", body), 201)
            self.assertEqual(self.ask("kept", server=server).body, data)
            server.stop()
            server = self.start(*flags)
            for form in ("raw", "raw", "json", "npy", "safetensors"):
                self.assert_ok(self.ask("kept", form, server=server))
            self.assertEqual(self.ask("kept", server=server).body, data)
            head = server.request(
                "HEAD", f"/v1/encodings/learned?set=kept&length={ROWS}&format=raw"
            )
            self.assertEqual(head.header("Content-Length"), str(len(data)))
            self.assert_problem(self.ask("nosuch", server=server), 422, "set")
            server.stop()

    def test_a_set_without_what_a_scheme_wants_is_refused_and_the_server_goes_on(self):
        self.put(
            self.server, "strange", write({"strange": ("F32", [2], struct.pack("<2f", 1, 2))})
        )
        self.put(self.server, "large", write({"table": ("F32", [5000, 1], bytes(20000))}))
        schemes = self.get("/v1/schemes").json()["schemes"]
        asked = 0
        for scheme in schemes:
            if any(row["name"] == "set" for row in scheme["parameters"]):
                reply = self.get(f"/v1/encodings/{scheme['name']}?length=4&set=strange")
                self.assertIn(reply.status, (400, 422), scheme["name"])  # 400: no dim
                asked += 1
        self.assertGreaterEqual(asked, 10)
        for target in (
            "transformer_xl?length=4&dim=8&set=strange",
            "t5?length=4&max_distance=100000&set=large",
        ):
            self.assert_problem(self.get(f"/v1/encodings/{target}"), 422, "set")
        self.assert_ok(self.get("/v1/info"))


if __name__ == "__main__":
    unittest.main()
