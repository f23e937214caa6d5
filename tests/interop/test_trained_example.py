"""The worked example of trained-tables.md: its own lines are run, and what they write is
checked."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs"))

from documents import ROOT, section  # noqa: E402
from service import PATIENCE, ServiceTest  # noqa: E402

GUIDE = ROOT / "api" / "guides" / "trained-tables.md"
TORCH = importlib.util.find_spec("torch") is not None
ALPHA = 0.4


class TrainedExample(ServiceTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_block(self, language, text):
        """What the block prints; the server's address replaces the document's."""
        text = text.replace("http://127.0.0.1:8080", self.server.url)
        command = (
            [sys.executable, "-c", text] if language == "python" else ["bash", "-ec", text]
        )
        clean = {**os.environ, "no_proxy": "*"}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=clean,
            timeout=4 * PATIENCE,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), text)
        return done.stdout

    def test_the_lines_of_the_document_extend_a_table_of_bert(self):
        write, upload, load, layer = section(GUIDE, "Upload a table and extend it")[:4]
        self.assertEqual(
            [write[0], upload[0], load[0], layer[0]], ["python", "sh", "python", "python"]
        )
        self.run_block(*write)
        stored = self.run_block(*upload)
        self.assertIn('"shape":[512,768]', stored)
        self.assertEqual(self.run_block(*load), "(4096, 768)\n")
        if TORCH:
            self.assertEqual(self.run_block(*layer), "torch.Size([3, 768])\n")
        else:
            print(
                "test_trained_example: torch is not installed: its lines are not run",
                file=sys.stderr,
            )
        self.check((self.folder / "bert.safetensors").read_bytes())

    def check(self, body):
        """The table is the document's, and the extension is the formula's."""
        table = np.random.default_rng(0).normal(0, 0.02, (512, 768)).astype("<f4")
        self.assertTrue(body.endswith(table.tobytes()))
        served = self.get("/v1/sets/bert-positions")
        self.assertEqual(served.body, body)
        extended = np.load(self.folder / "extended.npy")
        self.assertEqual((extended.shape, extended.dtype), ((4096, 768), np.dtype("<f4")))
        np.testing.assert_array_equal(extended[:512].view("<u4"), table.view("<u4"))
        wide = table.astype(np.float64)
        basis = (wide - ALPHA * wide[0]) / (1 - ALPHA)
        rows = np.arange(4096)
        formula = ALPHA * basis[rows // 512] + (1 - ALPHA) * basis[rows % 512]
        np.testing.assert_allclose(extended, formula, rtol=1e-6, atol=1e-9)


if __name__ == "__main__":
    unittest.main()
