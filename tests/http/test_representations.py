"""The four representations of a tensor: JSON, npy, safetensors, raw."""

import hashlib
import struct
import unittest

from decode import elements, pack, read_npy, read_safetensors
from server import ServerCase

SINUSOIDAL = "/v1/encodings/sinusoidal"
EXTENSIONS = {"json": "json", "npy": "npy", "safetensors": "safetensors", "raw": "bin"}


class Representations(ServerCase):
    def test_json_has_the_shape_that_the_contract_shows(self):
        reply = self.assert_ok(self.get(f"{SINUSOIDAL}?length=2&dim=4"), "application/json")
        document = reply.json()
        self.assertEqual(
            list(document), ["scheme", "preset", "revision", "parameters", "tensors"]
        )
        self.assertEqual(document["scheme"], "sinusoidal")
        self.assertEqual(
            document["parameters"],
            {
                "length": 2,
                "offset": 0,
                "step": 1,
                "positions": None,
                "dim": 4,
                "base": 10000,
                "layout": "interleaved",
                "frequencies": "vaswani",
                "odd_dim": "reject",
                "zero_first_row": False,
                "amplitude": 1,
                "position_scale": 1,
                "dtype": "f32",
            },
        )
        rows = [[0.0, 1.0, 0.0, 1.0], [0.84147096, 0.5403023, 0.009999833, 0.99995]]
        tensor = {"name": "encoding", "dtype": "f32", "shape": [2, 4], "data": rows}
        self.assertEqual(document["tensors"], [tensor])

    def test_json_numbers_are_the_shortest_of_their_dtype(self):
        # sin 1 and cos 1
        shortest = {
            "f64": b"0.8414709848078965,0.5403023058681398",
            "f32": b"0.84147096,0.5403023",
            "f16": b"0.8413,0.5405",
            "bf16": b"0.84,0.54",
        }
        for dtype, text in shortest.items():
            with self.subTest(dtype):
                reply = self.get(f"{SINUSOIDAL}?positions=1&dim=2&dtype={dtype}")
                self.assertIn(text, reply.body)

    def test_json_nests_lists_by_the_shape(self):
        queries = {
            "sinusoidal?length=3&dim=2": [3, 2],
            "integer?length=3": [3, 1],
            "sinusoidal?length=1&dim=2": [1, 2],
            "sinusoidal_2d?height=2&width=3&dim=4": [4, 2, 3],
            "sinusoidal_2d?height=2&width=3&dim=4&shape=hwc": [2, 3, 4],
            "sinusoidal_2d?height=2&width=3&dim=4&shape=nc&extra_tokens=1": [7, 4],
            "sinusoidal_2d?height=1&width=1&dim=4": [4, 1, 1],
        }
        for query, shape in queries.items():
            with self.subTest(query):
                tensor = self.get(f"/v1/encodings/{query}").json()["tensors"][0]
                self.assertEqual(tensor["shape"], shape)
                level, found = tensor["data"], []
                while isinstance(level, list):
                    found.append(len(level))
                    level = level[0]
                self.assertEqual(found, shape)

    def test_raw_is_the_elements_alone_under_headers_that_describe_them(self):
        reply = self.get("/v1/encodings/integer?length=3&offset=-1&format=raw")
        self.assert_ok(reply, "application/octet-stream")
        self.assertEqual(reply.body, pack("f32", [-1, 0, 1]))
        self.assertEqual(reply.header("Tensor-Name"), "encoding")
        self.assertEqual(reply.header("Tensor-Dtype"), "f32")
        self.assertEqual(reply.header("Tensor-Shape"), "3, 1")
        self.assertEqual(reply.header("Tensor-Byte-Order"), "little")

    def test_raw_elements_have_the_width_of_their_dtype(self):
        for dtype, size in {"f32": 4, "f64": 8, "f16": 2, "bf16": 2}.items():
            with self.subTest(dtype):
                reply = self.get(f"/v1/encodings/integer?length=5&dtype={dtype}&format=raw")
                self.assertEqual(reply.header("Tensor-Dtype"), dtype)
                self.assertEqual(len(reply.body), 5 * size)
                self.assertEqual(elements(dtype, reply.body), [0, 1, 2, 3, 4])

    def test_npy_is_version_1_with_aligned_data(self):
        for length in (1, 9, 10, 12345):
            reply = self.get(f"/v1/encodings/integer?length={length}&format=npy")
            self.assert_ok(reply, "application/x-npy")
            expected = ("f32", [length, 1], pack("f32", range(length)))
            self.assertEqual(read_npy(reply.body), expected)

    def test_safetensors_states_scheme_and_parameters_as_metadata(self):
        target = f"{SINUSOIDAL}?length=4&dim=8&layout=concat&offset=0.5"
        reply = self.get(f"{target}&format=safetensors")
        self.assert_ok(reply, "application/vnd.safetensors")
        metadata, tensors = read_safetensors(reply.body)
        revision = self.get("/v1/schemes/sinusoidal").json()["revision"]
        stated = {
            "scheme": "sinusoidal",
            "revision": str(revision),
            "length": "4",
            "dim": "8",
            "offset": "0.5",
            "step": "1",
            "base": "10000",
            "layout": "concat",
            "frequencies": "vaswani",
            "odd_dim": "reject",
            "zero_first_row": "false",
            "amplitude": "1",
            "dtype": "f32",
        }
        self.assertLessEqual(stated.items(), metadata.items())
        raw = self.get(f"{target}&format=raw").body
        self.assertEqual(tensors, {"encoding": ("f32", [4, 8], raw)})

    def test_lists_of_up_to_1024_items_are_stated_in_full(self):
        positions = list(range(1024))
        document = self.post("/v1/encodings/integer", {"positions": positions}).json()
        self.assertEqual(document["parameters"]["positions"], positions)

    def test_longer_lists_are_stated_as_a_digest_in_json_and_safetensors_alike(self):
        positions = [0.5 * i for i in range(1025)]
        request = {"positions": positions}
        stated = self.post("/v1/encodings/integer", request).json()["parameters"]["positions"]
        digest = hashlib.sha256(struct.pack("<1025d", *positions)).hexdigest()
        self.assertEqual(stated, f"sha256:{digest}")
        body = self.post("/v1/encodings/integer", {**request, "format": "safetensors"}).body
        self.assertEqual(read_safetensors(body)[0]["positions"], stated)

    def test_tensor_picks_one_by_name(self):
        for name in EXTENSIONS:
            all_of_them = self.get(f"{SINUSOIDAL}?length=2&dim=4&format={name}")
            one = self.get(f"{SINUSOIDAL}?length=2&dim=4&format={name}&tensor=encoding")
            self.assert_ok(one)
            self.assertEqual(one.body, all_of_them.body)

    def test_content_disposition_names_the_file_by_scheme_shape_and_dtype(self):
        targets = {
            "sinusoidal?length=4&dim=8": "sinusoidal_4x8_f32",
            "sinusoidal?length=512&dim=64&dtype=f16": "sinusoidal_512x64_f16",
            "sinusoidal_2d?height=2&width=3&dim=4": "sinusoidal_2d_4x2x3_f32_96f98569",
            "integer?length=7&dtype=f64": "integer_7x1_f64",
        }
        for target, stem in targets.items():
            for name, extension in EXTENSIONS.items():
                with self.subTest(f"{target} {name}"):
                    reply = self.assert_ok(self.get(f"/v1/encodings/{target}&format={name}"))
                    expected = f'inline; filename="{stem}.{extension}"'
                    self.assertEqual(reply.header("Content-Disposition"), expected)

    def test_content_length_is_exact_for_every_format(self):
        # replies on one connection: a wrong length would shift the next reply
        with self.server.wire() as wire:
            for name in EXTENSIONS:
                for _ in range(2):
                    reply = wire.exchange("GET", f"{SINUSOIDAL}?length=4&dim=8&format={name}")
                    self.assert_ok(reply)
                    self.assertEqual(reply.header("Content-Length"), str(len(reply.body)))
                    self.assertIsNone(reply.header("Transfer-Encoding"))
                    self.assertEqual(wire.pending, b"")

    def test_a_window_has_the_bits_of_that_slice(self):
        whole = self.get(f"{SINUSOIDAL}?length=100&dim=8&format=raw").body
        window = self.get(f"{SINUSOIDAL}?length=10&offset=50&dim=8&format=raw").body
        listed = self.get(f"{SINUSOIDAL}?positions=50,99,0&dim=8&format=raw").body
        self.assertEqual(window, whole[50 * 32 : 60 * 32])
        self.assertEqual(listed, whole[50 * 32 : 51 * 32] + whole[99 * 32 :] + whole[:32])

    def test_numbers_may_be_written_in_any_way_json_writes_them(self):
        plain = self.get("/v1/encodings/integer?length=10&offset=0.5&format=raw").body
        writings = ["length=1e1&offset=5e-1", "length=10.0&offset=0.50"]
        for text in (*writings, "length=1E%2B1&offset=0.5"):
            reply = self.get(f"/v1/encodings/integer?{text}&format=raw")
            self.assertEqual(self.assert_ok(reply).body, plain)

    def test_names_and_values_may_be_percent_encoded(self):
        plain = self.get(f"{SINUSOIDAL}?length=4&dim=8")
        coded = self.get(f"{SINUSOIDAL}?%6cength=%34&d%69m=8&%66ormat=j%73on")
        self.assertEqual(self.assert_ok(coded).body, plain.body)


if __name__ == "__main__":
    unittest.main()
