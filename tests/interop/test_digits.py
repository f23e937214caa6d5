"""The numbers of the JSON bodies read back as the same element."""

import json
from fractions import Fraction

import numpy as np

import exact
from service import ServiceTest, example_document, example_options, parameter


class DigitsTest(ServiceTest):
    def texts_and_bits(self, scheme, options):
        """The primary tensor's number texts from JSON, and its bits from raw."""

        def post(form):
            reply = self.request(
                "POST",
                f"/v1/encodings/{scheme}",
                json.dumps({**options, "format": form}),
                {"Content-Type": "application/json"},
            )
            self.assertEqual(reply.status, 200, reply.body[:500])
            return reply

        answer = json.loads(post("json").body, parse_float=str, parse_int=str)
        raw = self.tensor(post("raw"))
        tensor = answer["tensors"][0]
        self.assertEqual([int(extent) for extent in tensor["shape"]], list(raw.shape))
        self.assertIn(tensor["dtype"], (options.get("dtype", "f32"), "i32"))
        data = np.array(tensor["data"], dtype=object)
        self.assertEqual(data.shape, raw.shape)
        return data.ravel().tolist(), raw.ravel()

    def assert_read_back(self, texts, bits, dtype):
        if dtype == "i32":
            back = [int(text) for text in texts]
            self.assertEqual(back, bits.view(np.int32).tolist())
        else:
            back = [exact.round_rational(Fraction(text), dtype) for text in texts]
            self.assertEqual(back, bits.tolist())

    def test_every_schemes_example_reads_back(self):
        for scheme in self.schemes():
            options = example_document(scheme)
            answer = json.loads(self.encoding(scheme["name"], example_options(scheme)).body)
            for tensor in answer["tensors"]:
                real = tensor["dtype"] != "i32"
                for dtype in parameter(scheme, "dtype")["choices"] if real else ("i32",):
                    one = {**options, "tensor": tensor["name"]} | (
                        {"dtype": dtype} if real else {}
                    )
                    with self.subTest(
                        scheme=scheme["name"], tensor=tensor["name"], dtype=dtype
                    ):
                        self.assert_read_back(*self.texts_and_bits(scheme["name"], one), dtype)

    def test_the_parameters_are_echoed_as_the_numbers_they_are(self):
        for value in (0.1, 1e-7, 1 / 3, 123456.789, 2.0**-30, 500000.0):
            body = self.get(f"/v1/encodings/sinusoidal?length=1&dim=2&offset={value!r}").body
            self.assertEqual(json.loads(body)["parameters"]["offset"], value)
