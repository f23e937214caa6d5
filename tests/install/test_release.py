"""A release has one number, in lib/posenc.h; whatever names the release has that one."""

import contextlib
import json
import re
import sys
import unittest
import urllib.request
from pathlib import Path

from installed import COMMAND, ENVIRONMENT, MANUAL, MANUALS, PREFIX, PROGRAM, ROOT, UNITS, run

sys.path.append(str(Path(__file__).resolve().parents[1] / "interop"))

from service import Server  # noqa: E402

HEADER = (PREFIX / "include" / "posenc.h").read_text(encoding="utf-8")
VERSION = re.search(r'^#define PE_VERSION "(\d+\.\d+\.\d+)"$', HEADER, re.MULTILINE)[1]


class Release(unittest.TestCase):
    def test_the_program_names_it(self):
        for program in (PROGRAM, COMMAND):
            self.assertEqual(run(program, "--version").split()[:2], ["posenc", VERSION])

    def test_the_service_names_it(self):
        server = Server()
        try:

            def get(path):
                with contextlib.closing(urllib.request.urlopen(server.url + path)) as reply:
                    return reply.read().decode()

            contract = json.loads(get("/openapi.json"))
            self.assertEqual(contract["info"]["version"], VERSION)
            self.assertEqual(json.loads(get("/v1/info"))["version"], VERSION)
            self.assertIn(f'posenc_build_info{{version="{VERSION}"}}', get("/metrics"))
            self.assertNotIn(VERSION, get("/v1/encodings/integer?length=1"))
        finally:
            server.stop()
            server.log.close()

    def test_what_is_installed_names_it(self):
        self.assertEqual(run("pkg-config", "--modversion", "posenc").strip(), VERSION)
        for page in MANUALS.iterdir():
            self.assertIn(f'"posenc {VERSION}"', page.read_text(encoding="utf-8"))

    def test_the_module_for_python_is_installed(self):
        (module,) = PREFIX.glob("lib/python3*/dist-packages/posenc.py")
        service = f"posenc.Service('command:{COMMAND}')"
        tables = (
            f"import posenc; print(posenc.__version__, *{service}.get('rope', length=2, dim=2))"
        )
        environment = {**ENVIRONMENT, "PYTHONPATH": str(module.parent)}
        printed = run(sys.executable, "-B", "-c", tables, env=environment)
        self.assertEqual(printed, f"{VERSION} cos sin inv_freq\n")

    def test_the_changelog_begins_with_it_and_a_date(self):
        text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        self.assertRegex(headings[0], rf"^{re.escape(VERSION)} \(\d{{4}}-\d\d-\d\d\)$")
        self.assertIn(
            re.search(r"\((.*)\)", headings[0])[1], MANUAL.read_text(encoding="utf-8")
        )

    def test_the_unit_starts_the_installed_program(self):
        unit = (UNITS / "posenc.service").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE), [str(PROGRAM)])


if __name__ == "__main__":
    unittest.main()
