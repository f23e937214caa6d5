"""/openapi.json is clean for Spectral and Redocly, and both find what is planted."""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "http"))

from server import Server  # noqa: E402

LINTERS = {
    "spectral": ["lint", "--ruleset", ".spectral.yaml", "--fail-severity", "hint"],
    "redocly": ["lint", "--config", "redocly.yaml", "--max-problems", "20"],
}
# neither a report to its makers nor a look for a newer version
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "CI": "true"}


def start(linter, path):
    """A linter at work on a file; its findings have no colours."""
    command = [str(HERE / "node_modules/.bin" / linter), *LINTERS[linter], str(path)]
    return subprocess.Popen(
        command, cwd=HERE, env={**os.environ, **QUIET, "NO_COLOR": "1"}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


class Lint(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = Server()
        cls.addClassCleanup(server.stop)
        cls.document = server.request("GET", "/openapi.json").json()
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def lint(self, name, document):
        """{linter: (status, what it printed)}; both at once."""
        path = Path(self.folder.name) / f"{name}.json"
        path.write_text(json.dumps(document, indent=1))
        running = {linter: start(linter, path) for linter in LINTERS}
        texts = {linter: process.communicate()[0] for linter, process in running.items()}
        return {linter: (running[linter].returncode, texts[linter]) for linter in LINTERS}

    def test_the_document_is_clean(self):
        for linter, (status, text) in self.lint("served", self.document).items():
            self.assertEqual(status, 0, f"{linter}: {text}")
            self.assertIsNone(re.search(r"[1-9]\d* warning", text), f"{linter}: {text}")

    def test_planted_errors_are_found(self):
        planted = copy.deepcopy(self.document)
        paths = planted["paths"]
        for path in [path for path in paths if "encodings" in path or "similarity" in path]:
            del paths[path]  # linting takes its time
        paths["/v1/info"]["get"]["operationId"] = paths["/v1/schemes"]["get"]["operationId"]
        del paths["/v1/sets/{name}"]["get"]["parameters"][0]
        paths["/metrics"]["get"]["responses"]["200"] = {"$ref": "#/components/responses/None"}
        expected = {
            "spectral": {"operation-operationId-unique", "path-params", "invalid-ref"},
            "redocly": {
                "operation-operationId-unique", "path-parameters-defined", "no-unresolved-refs",
            },
        }  # fmt: skip
        for linter, (status, text) in self.lint("planted", planted).items():
            self.assertNotEqual(status, 0, f"{linter}: {text}")
            for rule in expected[linter]:
                self.assertIn(rule, text)


if __name__ == "__main__":
    unittest.main()
