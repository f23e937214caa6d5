"""The WebAssembly module: its answers are the server's, byte for byte, and its interface is
that of fetch."""

import gzip
import os
import subprocess
import unittest
from pathlib import Path

from draws import PATIENT
from module import MODULE
from same_answers import run
from server import BINARY

HERE = Path(__file__).parent
COMPRESSED = 650_000  # bytes, at most
BITS = Path(BINARY).with_name("bench-bits")


class SameBytes(unittest.TestCase):
    def test_random_requests_of_every_kind_have_the_same_answers(self):
        seed = int(os.environ.get("TEST_SEED", "1"))
        # the server has the patience of `Server`, which the module must have too
        module = (str(MODULE), "--compute-seconds", "600")
        record, _ = run((BINARY, *PATIENT), module, 600, seed)
        self.assertEqual(record.differences, [], f"seed {seed}")
        self.assertEqual(record.only_texts, [], f"seed {seed}")
        self.assertEqual(record.unanswered, [], f"seed {seed}")
        self.assertGreater(record.count("equal"), 500)

    def test_tables_of_all_schemes_have_the_same_bits(self):
        program = MODULE.with_name("bits.wasm")
        node = ["node", "--no-warnings", HERE / "run.mjs", program]
        sums = [
            subprocess.run([*command, "all", "1"], capture_output=True, check=True).stdout
            for command in ([BITS], node)
        ]
        self.assertIn(b"\nall ", sums[0])
        self.assertEqual(*sums)


class Interface(unittest.TestCase):
    def test_what_a_program_that_imports_it_relies_on(self):
        ended = subprocess.run(
            ["node", "--test", HERE / "interface.test.mjs"],
            env={**os.environ, "TEST_MODULE": str(MODULE)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(ended.returncode, 0, ended.stdout[-3000:])

    def test_it_is_small(self):
        size = len(gzip.compress(MODULE.with_name("posenc.wasm").read_bytes(), 9))
        self.assertLess(size, COMPRESSED)


class Site(unittest.TestCase):
    def test_it_needs_no_server_nor_the_network_once_it_is_loaded(self):
        folder = MODULE.parent.parent
        ended = subprocess.run(
            ["node", "--test", HERE / "site.test.mjs"],
            env={
                **os.environ,
                "SITE": str(folder / "site"),
                "SCREENSHOTS": str(folder / "screenshots"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(ended.returncode, 0, ended.stdout[-3000:])


if __name__ == "__main__":
    unittest.main()
