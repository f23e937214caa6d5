"""docker/sidecar.md: its code runs as a job beside the service, and without it."""

import os
import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

import numpy as np

sys.path += [str(Path(__file__).resolve().parents[1] / folder) for folder in ("docs", "http")]

from documents import ROOT, blocks  # noqa: E402
from server import PATIENCE, Server, environment_with, run  # noqa: E402

TEXT = (ROOT / "docker" / "sidecar.md").read_text()
CLIENT, WITH_NUMPY, WITH_TORCH = (
    block.text for block in blocks(TEXT) if block.language == "python"
)
SAVE = "numpy.save(os.environ['SAVED'], table)\n"


class Sidecar(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="posenc-")
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)
        self.socket, self.saved = str(self.folder / "socket"), str(self.folder / "table.npy")

    def start(self):
        server = Server("--unix-socket", self.socket)
        self.addCleanup(server.stop)
        return server

    def job(self, code, seconds=PATIENCE):
        """What the job prints: the client of the document, then this code."""
        variables = {
            "SAVED": self.saved,
            "POSENC_SOCKET": self.socket,
            "POSENC_SECONDS": str(seconds),
        }
        ended = subprocess.run(
            [sys.executable, "-c", CLIENT + code],
            check=False,
            text=True,
            env={**environment_with(), **variables},
            capture_output=True,
        )
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), ended)
        return ended.stdout

    def test_with_numpy_the_job_gets_the_table(self):
        server = self.start()
        self.assertEqual(self.job(WITH_NUMPY + SAVE), "(512, 768) float32\n")
        table = np.load(self.saved)
        body = server.request(
            "GET", "/v1/encodings/sinusoidal?length=512&dim=768&format=raw"
        ).body
        self.assertEqual(table.tobytes(), body)
        self.assertEqual(server.computed(), 1)

    @unittest.skipUnless(find_spec("torch"), "torch is not installed")
    def test_with_torch_too(self):
        self.start()
        self.assertEqual(self.job(WITH_TORCH), "(4096, 32)\n")

    def test_without_the_service_it_computes_nearly_the_same(self):
        self.assertEqual(self.job(WITH_NUMPY + SAVE, seconds=0.2), "(512, 768) float32\n")
        alone = np.load(self.saved)
        self.start()
        self.job(WITH_NUMPY + SAVE)
        self.assertLess(abs(alone - np.load(self.saved)).max(), 2e-7)
        self.assertGreater(abs(alone).max(), 0.9)

    def test_the_settings_of_the_document_are_legal(self):
        given = dict(
            part.split("=", 1)
            for part in TEXT.split()
            if part.startswith("POSENC_") and "=" in part
        )
        self.assertGreaterEqual(len(given), 3)
        ended = run("--check-config", environment=given)
        self.assertEqual(ended.returncode, 0, ended)


if __name__ == "__main__":
    os.chdir(ROOT)
    unittest.main()
