"""The npy and safetensors bodies are files that the ecosystem's readers load."""

import io
import json
import struct
import tempfile
import unittest
from itertools import product

import numpy as np

import safetensors_reader
from service import BITS, REAL, ServiceTest, example_options, parameter

try:
    import torch
except ImportError:
    torch = None
try:
    import safetensors.numpy as safetensors
except ImportError:
    safetensors = None

ALIGNMENT = 64
STORED = {"f32": "F32", "f64": "F64", "f16": "F16", "bf16": "BF16", "i32": "I32"}


def setUpModule():
    for name, module in (("torch", torch), ("safetensors", safetensors)):
        if not module:
            print(f"{name} is not installed: its tests are skipped")


class FileTest(ServiceTest):
    """Requests for every scheme and dtype."""

    def each(self, dtypes=None):
        """(scheme, options, {tensor name: raw reply}) of every scheme's example."""
        for scheme in self.schemes():
            described = parameter(scheme, "dtype")
            for dtype in described["choices"] if described else [None]:
                if dtypes and dtype and dtype not in dtypes:
                    continue
                options = {**example_options(scheme), **({"dtype": dtype} if dtype else {})}
                answer = json.loads(self.file(scheme, options, "json"))
                self.assertEqual(answer["tensors"][0]["name"], scheme["tensors"][0]["name"])
                yield scheme, options, {
                    tensor["name"]: self.encoding(
                        scheme["name"], {**options, "format": "raw", "tensor": tensor["name"]}
                    )
                    for tensor in answer["tensors"]
                }

    def file(self, scheme, options, form):
        return self.encoding(scheme["name"], {**options, "format": form}).body


class CsvTest(FileTest):
    def test_numpy_reads_every_schemes_example_as_it_is_in_npy(self):
        seen = 0
        for scheme, options, raws in self.each(REAL):
            for name in raws:
                one = {**options, "tensor": name}
                table = np.load(io.BytesIO(self.file(scheme, one, "npy")))
                text = self.file(scheme, one, "csv").decode("ascii")
                read = np.loadtxt(io.StringIO(text), delimiter=",", dtype=table.dtype, ndmin=1)
                self.assertEqual(
                    read.reshape(table.shape).tobytes(), table.tobytes(), (scheme["name"], one)
                )
                seen += 1
        self.assertGreater(seen, 60)


class NpyTest(FileTest):
    def test_numpy_loads_every_schemes_example_equal_to_raw(self):
        seen = set()
        for scheme, options, raws in self.each(REAL):
            for name, raw in raws.items():
                body = self.file(scheme, {**options, "tensor": name}, "npy")
                array = np.load(io.BytesIO(body), allow_pickle=False)
                want = self.tensor(raw)
                dtype = raw.headers["Tensor-Dtype"]
                self.assertEqual(array.dtype, REAL.get(dtype, np.dtype("<i4")))
                self.assertEqual(array.shape, want.shape)
                self.assertTrue(array.flags.c_contiguous)
                np.testing.assert_array_equal(array.view(BITS[dtype]), want)
                seen.add((scheme["name"], dtype))
        self.assertGreaterEqual(len(seen), 18)

    def test_numpy_writes_the_same_file(self):
        """Byte for byte, but for the padding, which older numpys choose differently."""
        for scheme, options, _ in self.each(REAL):
            body = self.file(scheme, options, "npy")
            own = io.BytesIO()
            np.lib.format.write_array(own, np.load(io.BytesIO(body)), version=(1, 0))
            header, data = (part.split(b"\n", 1) for part in (body, own.getvalue()))
            self.assertEqual(header[0][10:].rstrip(), data[0][10:].rstrip())
            self.assertEqual(header[1], data[1])

    def test_a_mapped_file_is_the_same_array(self):
        body = self.get("/v1/encodings/sinusoidal?length=100&dim=64&format=npy").body
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            file.write(body)
            file.flush()
            mapped = np.load(file.name, mmap_mode="r")
            np.testing.assert_array_equal(mapped, np.load(io.BytesIO(body)))


class SafetensorsTest(FileTest):
    def test_every_scheme_and_dtype_parses_by_the_specification_and_equals_raw(self):
        seen = set()
        for scheme, options, raws in self.each():
            body = self.file(scheme, options, "safetensors")
            tensors, _, data_start = safetensors_reader.read(body)
            self.assertEqual(set(tensors), set(raws), scheme["name"])
            self.assertEqual(data_start % ALIGNMENT, 0)
            sizes = [
                safetensors_reader.SIZES[tensor.dtype]
                for tensor in sorted(tensors.values(), key=lambda tensor: tensor.start)
            ]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
            for name, raw in raws.items():
                dtype = raw.headers["Tensor-Dtype"]
                self.assertEqual(tensors[name].dtype, STORED[dtype])
                self.assertEqual(
                    ", ".join(map(str, tensors[name].shape)), raw.headers["Tensor-Shape"]
                )
                self.assertEqual(tensors[name].data, raw.body)
                aligned = ALIGNMENT if len(tensors) == 1 else BITS[dtype].itemsize
                self.assertEqual(tensors[name].start % aligned, 0)
                seen.add((scheme["name"], dtype))
        self.assertGreaterEqual(len(seen), 24)

    def test_the_metadata_give_the_same_tensor_when_asked_again(self):
        scheme = next(s for s in self.schemes() if s["name"] == "sinusoidal")
        options = {
            "length": 5,
            "dim": 8,
            "offset": -0.1,
            "step": 1e-7,
            "base": 500000,
            "layout": "concat",
            "amplitude": 1 / 3,
            "dtype": "bf16",
        }
        tensors, metadata, _ = safetensors_reader.read(
            self.file(scheme, options, "safetensors")
        )
        again = {name: value for name, value in metadata.items() if parameter(scheme, name)}
        self.assertLessEqual(set(options), set(again))
        self.assertEqual(tensors["encoding"].data, self.file(scheme, again, "raw"))

    def test_headers_of_every_length_keep_the_data_aligned(self):
        for digits in range(1, 65):
            body = self.get(
                "/v1/encodings/sinusoidal?format=safetensors&dim=2&positions="
                + ",".join("7" for _ in range(digits))
            ).body
            tensors, metadata, data_start = safetensors_reader.read(body)
            self.assertEqual(data_start % ALIGNMENT, 0)
            self.assertEqual(tensors["encoding"].shape, (digits, 2))
            self.assertEqual(json.loads(metadata["positions"]), [7] * digits)

    @unittest.skipUnless(safetensors, "safetensors is not installed")
    def test_the_safetensors_package_loads_every_example(self):
        for scheme, options, raws in self.each(REAL):
            loaded = safetensors.load(self.file(scheme, options, "safetensors"))
            for name, raw in raws.items():
                self.assertEqual(loaded[name].tobytes(), raw.body)


class ReaderTest(unittest.TestCase):
    """The strict reader is strict."""

    GOOD = {
        "__metadata__": {"a": "b"},
        "x": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "y": {"dtype": "BF16", "shape": [3], "data_offsets": [16, 22]},
    }

    def body(self, header, data=bytes(22), length=None):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return struct.pack("<Q", len(text) if length is None else length) + text + data

    def test_a_good_file_is_read(self):
        tensors, metadata, _ = safetensors_reader.read(self.body(self.GOOD))
        self.assertEqual([t.shape for t in tensors.values()], [(2, 2), (3,)])
        self.assertEqual(metadata, {"a": "b"})

    def test_a_file_that_breaks_a_rule_is_refused(self):
        text = json.dumps(self.GOOD).encode()
        twice = text.replace(b"{", b'{"__metadata__": {"a": "b"}, ', 1)
        x, y = self.GOOD["x"], self.GOOD["y"]
        bad = [
            b"",
            b"1234567",
            self.body(self.GOOD, length=10**9),
            self.body(b" " + text),
            self.body(text + b"\n"),
            self.body(text[:-1]),
            self.body(self.GOOD, bytes(21)),
            self.body(self.GOOD, bytes(23)),
            self.body(twice),
            self.body(b'{"x":"\xff"}'),
            self.body({**self.GOOD, "__metadata__": {"a": 1}}),
        ]
        for change in (
            {"dtype": "F33"},
            {"shape": [2, 3]},
            {"shape": [-2, -2]},
            {"more": 1},
            {"data_offsets": [0]},
            {"data_offsets": [16, 0]},
            {"shape": [4.0]},
            {"data_offsets": [1, 17]},
        ):
            bad.append(self.body({**self.GOOD, "x": {**x, **change}}))
        bad.append(self.body({"x": x, "y": {**y, "data_offsets": [14, 20]}}))
        bad.append(self.body({"x": x, "y": {**y, "data_offsets": [18, 24]}}, bytes(24)))
        for body in bad:
            with self.assertRaises(safetensors_reader.Malformed, msg=body):
                safetensors_reader.read(body)


@unittest.skipUnless(torch, "torch is not installed")
class TorchTest(FileTest):
    def test_bf16_is_torchs_own_rounding_of_the_double(self):
        for offset, layout in product((0, 1000), ("interleaved", "concat")):
            options = {"length": 64, "dim": 64, "offset": offset, "layout": layout}
            double = np.frombuffer(
                self.file({"name": "sinusoidal"}, {**options, "dtype": "f64"}, "raw")
            )
            bits = np.frombuffer(
                self.file({"name": "sinusoidal"}, {**options, "dtype": "bf16"}, "raw"), np.int16
            )
            once = torch.from_numpy(double.copy()).to(torch.bfloat16).view(torch.int16)
            off = np.count_nonzero(once.numpy() != bits)
            self.assertLessEqual(off, 2)  # torch goes through float32
