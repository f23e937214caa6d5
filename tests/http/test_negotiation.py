"""Which representation is served: `format`, else Accept with q-values and specificity."""

import unittest

from server import ServerCase

TARGET = "/v1/encodings/sinusoidal?length=4&dim=8"
JSON, NPY = "application/json", "application/x-npy"
SAFETENSORS, RAW = "application/vnd.safetensors", "application/octet-stream"
CSV, PNG = "text/csv; charset=utf-8; header=absent", "image/png"
FORMATS = {
    "json": JSON,
    "npy": NPY,
    "safetensors": SAFETENSORS,
    "raw": RAW,
    "csv": CSV,
    "png": PNG,
}
TEXTS = {JSON, CSV}
FIREFOX = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/png,"
    "image/svg+xml,*/*;q=0.8"
)
CHROME = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,"
    "*/*;q=0.8,application/signed-exchange;v=b3;q=0.7"
)
SAFARI = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
IMG = {  # what browsers ask for an <img>
    "Chrome": "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
    "Firefox": "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
    "Safari": "image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,"
    "image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
}
CHOICES = {
    "*/*": JSON,
    CHROME: JSON,
    SAFARI: JSON,
    **{accept: PNG for accept in IMG.values()},
    PNG: PNG,
    "image/*": PNG,
    "image/*;q=0.1, text/html": PNG,
    "text/html, image/png": PNG,
    f"text/html, image/png, {JSON};q=0.01": JSON,
    f"text/html;q=0.5, image/png, {JSON};q=0.9": PNG,
    f"image/*, {PNG};q=0, {RAW};q=0.1": RAW,
    "text/csv": CSV,
    "text/csv; header=present, application/json;q=0.5": CSV,
    "text/*": CSV,
    "image/*, text/*": CSV,
    f"image/*, {JSON}": JSON,
    "application/*": JSON,
    FIREFOX: JSON,
    JSON: JSON,
    NPY: NPY,
    SAFETENSORS: SAFETENSORS,
    RAW: RAW,
    "Application/X-NPY": NPY,
    f"{NPY};q=0.5, {RAW}": RAW,
    f"{RAW}, {NPY};q=0.5": RAW,
    f"{JSON};q=0.1, {SAFETENSORS};q=0.2, {NPY};q=0.15": SAFETENSORS,
    f"{NPY};q=0.999, {JSON};q=0.998": NPY,
    f"{NPY};q=0.001": NPY,
    f"*/*;q=0.1, {NPY};q=0.2": NPY,
    f"{NPY};q=0.2, */*;q=0.1": NPY,
    f"*/*, {JSON};q=0.5, {NPY};q=0.5, {RAW};q=0.5": SAFETENSORS,
    f"application/*;q=0.3, {JSON};q=0.1, {NPY};q=0.2, {RAW};q=0": SAFETENSORS,
    f"*/*;q=0.9, application/*;q=0.1, {RAW};q=0.2": CSV,
    f"*/*;q=0.1, application/*;q=0.05, {RAW};q=0.2": RAW,
    f"{JSON};q=0, {NPY};q=0, {RAW};q=0, */*": SAFETENSORS,
    f"*/*;q=0, {RAW}": RAW,
    f"text/*;q=0, {NPY};q=0.1": NPY,
    f"  {NPY} ;\tq=1.000 , {JSON} ; q=0.9": NPY,
    f"{NPY};Q=0.1,{RAW};Q=0.2": RAW,
    f",, {NPY} ,,": NPY,
    f"{JSON};q=1, {NPY}; q=1.0;": JSON,
}
REFUSED = [
    "text/html",
    "image/webp, text/plain",
    f"{JSON};q=0",
    f"{JSON};q=0.000, {NPY};q=0",
    "*/*;q=0",
    "application/json2, application/x-np, application/x-npyy",
    "application",
]


class Negotiation(ServerCase):
    def test_nothing_asked_for_gives_json(self):
        self.assert_ok(self.get(TARGET), JSON)

    def test_accept_is_read_with_quality_and_specificity(self):
        for accept, media_type in CHOICES.items():
            with self.subTest(accept):
                reply = self.assert_ok(self.get(TARGET, {"Accept": accept}), media_type)
                text = media_type in TEXTS
                vary = "Accept, Accept-Encoding" if text else "Accept"
                self.assertEqual(reply.header("Vary"), vary)

    def test_accept_in_two_header_lines_is_one_list(self):
        lines = {
            f"{JSON};q=0.1\r\nAccept: {NPY}": NPY,
            f"{NPY}\r\nAccept: {JSON};q=0.1": NPY,
            f"text/html\r\nAccept: image/png\r\nAccept: {RAW}": RAW,
        }
        for value, media_type in lines.items():
            with self.subTest(value), self.server.wire() as wire:
                self.assert_ok(wire.exchange("GET", TARGET, {"Accept": value}), media_type)

    def test_format_beats_accept(self):
        for name, media_type in FORMATS.items():
            for accept in ("text/html", JSON, NPY, "*/*;q=0"):
                reply = self.get(f"{TARGET}&format={name}", {"Accept": accept})
                self.assert_ok(reply, media_type)
                vary = "Accept-Encoding" if media_type in TEXTS else None
                self.assertEqual(reply.header("Vary"), vary)

    def test_what_cannot_be_had_is_406_with_the_alternatives(self):
        for accept in REFUSED:
            with self.subTest(accept):
                reply = self.get(TARGET, {"Accept": accept})
                problem = self.assert_problem(reply, 406, code="not_acceptable")
                for name, media_type in FORMATS.items():
                    self.assertIn(name, problem["detail"])
                    self.assertIn(media_type.split(";")[0], problem["detail"])

    def test_a_malformed_accept_never_breaks_the_answer(self):
        malformed = [";", ",", "/", "q=1", "*", "*/*;q=", "*/*;q=x", f"{JSON};q=2", "a" * 5000]
        for accept in malformed:
            with self.subTest(accept):
                reply = self.get(TARGET, {"Accept": accept})
                if reply.status == 200:
                    self.assertEqual(reply.header("Content-Type"), JSON)
                else:
                    self.assertIn(reply.status, (400, 406))
                    self.assert_problem(reply, reply.status)

    def test_bf16_as_npy_is_406_that_names_safetensors(self):
        by_name = self.get(f"{TARGET}&dtype=bf16&format=npy")
        problem = self.assert_problem(by_name, 406, code="not_acceptable")
        self.assertIn("safetensors", problem["detail"])
        negotiated = self.get(f"{TARGET}&dtype=bf16", {"Accept": NPY})
        problem = self.assert_problem(negotiated, 406, code="not_acceptable")
        self.assertIn("safetensors", problem["detail"])
        self.assertNotIn("format=npy", problem["detail"])
        posted = {"length": 4, "dim": 8, "dtype": "bf16", "format": "npy"}
        problem = self.assert_problem(self.post("/v1/encodings/sinusoidal", posted), 406)
        self.assertIn("safetensors", problem["detail"])

    def test_bf16_falls_to_the_next_accepted_type(self):
        accept = {"Accept": f"{NPY}, {RAW};q=0.5, {JSON};q=0.1"}
        self.assert_ok(self.get(f"{TARGET}&dtype=bf16", accept), RAW)
        self.assert_ok(self.get(f"{TARGET}&dtype=f16", accept), NPY)

    def test_post_negotiates_like_get(self):
        request = {"length": 4, "dim": 8}
        accepted = {NPY: NPY, f"{RAW};q=0.5, {NPY};q=0.4": RAW, "*/*": JSON}
        for accept, media_type in accepted.items():
            reply = self.post("/v1/encodings/sinusoidal", request, {"Accept": accept})
            self.assert_ok(reply, media_type)
        reply = self.post("/v1/encodings/sinusoidal", request, {"Accept": "text/html"})
        self.assert_problem(reply, 406)


class JsonLimit(ServerCase):
    flags = ("--json-max-elements", "32")
    over = "/v1/encodings/sinusoidal?length=33&dim=1&odd_dim=truncate"

    def test_at_the_limit_json_is_served(self):
        self.assert_ok(self.get(TARGET), JSON)
        self.assert_ok(self.get(f"{TARGET}&format=json"), JSON)

    def test_negotiated_json_over_the_limit_is_406_with_the_alternatives(self):
        for headers in ({}, {"Accept": "*/*"}, {"Accept": FIREFOX}, {"Accept": JSON}):
            with self.subTest(headers):
                reply = self.get(self.over, headers)
                detail = self.assert_problem(reply, 406, code="not_acceptable")["detail"]
                for name in ("npy", "safetensors", "raw"):
                    self.assertIn(f"format={name}", detail)
                self.assertNotIn("format=json", detail)
                self.assertIn("32", detail)
                self.assertEqual(self.head(self.over, headers).status, 406)

    def test_json_asked_for_by_name_over_the_limit_is_422(self):
        problem = self.assert_problem(self.get(f"{self.over}&format=json"), 422, "format")
        self.assertEqual(problem["errors"][0]["given"], "json")
        self.assertIn("32", problem["errors"][0]["allowed"])

    def test_other_formats_are_not_limited(self):
        for name in ("npy", "safetensors", "raw"):
            self.assert_ok(self.get(f"{self.over}&format={name}"), FORMATS[name])
            self.assert_ok(self.get(self.over, {"Accept": FORMATS[name]}), FORMATS[name])

    def test_json_over_the_limit_falls_to_the_next_type_that_accept_names(self):
        self.assert_ok(self.get(self.over, {"Accept": f"{JSON}, {NPY};q=0.5"}), NPY)

    def test_nothing_over_the_limit_is_computed(self):
        before = self.server.computed()
        self.get(self.over)
        self.get(f"{self.over}&format=json")
        self.assertEqual(self.server.computed() - before, 0)

    def test_post_is_limited_alike(self):
        request = {"length": 33, "dim": 2}
        self.assert_problem(self.post("/v1/encodings/sinusoidal", request), 406)
        request["format"] = "json"
        self.assert_problem(self.post("/v1/encodings/sinusoidal", request), 422, "format")
        request["format"] = "raw"
        self.assert_ok(self.post("/v1/encodings/sinusoidal", request), RAW)


if __name__ == "__main__":
    unittest.main()
