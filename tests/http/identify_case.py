"""Asking /v1/identify, and checking that what it says holds."""

import io

import numpy

from forms import undone
from server import ServerCase
from test_compare import NPY


class IdentifyCase(ServerCase):
    def identify(self, body, query="", media_type=NPY):
        reply = self.server.request(
            "POST", f"/v1/identify{query}", {"Content-Type": media_type}, body
        )
        return self.assert_ok(reply, "application/json").json()

    def refuse(self, status, parameter, *arguments):
        body, query, media_type = arguments
        reply = self.server.request(
            "POST", f"/v1/identify{query}", {"Content-Type": media_type}, body
        )
        return self.assert_problem(reply, status, parameter)

    def fetch(self, target):
        return numpy.load(io.BytesIO(self.assert_ok(self.get(target + "&format=npy")).body))

    def bits(self, table):
        return numpy.ascontiguousarray(table).tobytes()

    def texts(self, found):
        """The arguments of the request, and the presets that say the same of the table."""
        request = found["request"]
        presets = [f"preset={name}" for name in request["presets"]]
        return request["url"].replace("?", "&").split("&") + presets

    def assert_true(self, found, table):
        """What is said holds: exact is exact, and a match is as near as its arithmetic."""
        if found["status"] not in ("exact", "match"):
            return
        exact = self.fetch(found["request"]["url"]).squeeze()
        table, _ = undone(table, found)
        self.assertEqual(exact.shape, table.shape)
        if found["status"] == "exact":
            self.assertEqual(self.bits(exact), self.bits(table), found["request"])
        else:
            self.assertIn(found["arithmetic"], ("float64", "float32"))
            bound = 1e-11 if found["arithmetic"] == "float64" else 1e-3
            finite = numpy.isfinite(exact)
            self.assertLess(abs(exact[finite].astype("f8") - table[finite]).max(), bound)
            numpy.testing.assert_array_equal(exact[~finite], table[~finite])
