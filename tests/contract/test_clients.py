"""Generated clients have types: the programs in clients/ use every operation and compile."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "http"))

from server import Server  # noqa: E402

TSC = HERE / "node_modules/.bin/tsc"
STRICT = (
    "--noEmit", "--skipLibCheck", "--strict", "--noUncheckedIndexedAccess",
    "--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022",
    "--lib", "es2022,dom,dom.iterable",
)  # fmt: skip
MOST_LINES = 11000  # of the types; 21,348 while every operation had parts of its own


def camel(identifier):
    """v1_sets as v1Sets, as hey-api names the function of an operation."""
    first, *others = identifier.split("_")
    return first + "".join(word.capitalize() for word in others)


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = Server()
        try:
            body = server.request("GET", "/openapi.json").body
        finally:
            server.stop()
        cls.document = json.loads(body)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        (cls.folder / "node_modules").symlink_to(HERE / "node_modules")
        (cls.folder / "openapi.json").write_bytes(body)
        generate = ("node", HERE / "clients/generate.mjs", cls.folder / "openapi.json")
        status, said = cls.run_program(*generate, cls.folder)
        assert status == 0, said
        for program in (HERE / "clients").glob("*.ts"):
            shutil.copy(program, cls.folder)

    @classmethod
    def run_program(cls, *command):
        """Its status and what it says."""
        done = subprocess.run(
            [*map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, cwd=cls.folder, timeout=600,
        )  # fmt: skip
        return done.returncode, done.stdout

    def operations(self):
        """Every operation that is no deprecated one; of the schemes, rope stands for all."""
        own = re.compile(r"/v1/encodings/(?!rope$|\{)")
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if "deprecated" not in operation and not own.match(path):
                    yield method, path, operation["operationId"]

    def plant(self, program, right, wrong):
        """Write a copy of a program with a mistake; returns its name."""
        text = (self.folder / program).read_text()
        self.assertIn(right, text)
        planted = self.folder / f"planted_{len(list(self.folder.iterdir()))}.ts"
        planted.write_text(text.replace(right, wrong))
        return planted.name

    def test_the_programs_compile_and_do_not_with_wrong_types(self):
        planted = {
            self.plant("by_types.ts", "metric: 'l2'", "metric: 'l3'"),
            self.plant("by_types.ts", "path: {file: 'main.js'}", "path: {name: 'main.js'}"),
            self.plant("by_types.ts", "const info: string", "const info: number"),
            self.plant("by_hey_api.ts", "head_dim: 8", "head_dim: 'wide'"),
            self.plant("by_fetch.ts", "dtype: 'f64'", "dtype: 'f63'"),
            self.plant("by_orval.ts", "data.tensors[0]", "data.tables[0]"),
        }
        written = {program.name for program in (HERE / "clients").glob("*.ts")}
        programs = sorted({*written, "orval.ts"} | planted)
        status, said = self.run_program(TSC, *STRICT, *programs)
        self.assertNotEqual(status, 0)
        found = re.findall(r"^(\S+?)\(\d+,\d+\): error", said, re.MULTILINE)
        self.assertEqual(set(found), planted, said[-3000:])

    def test_the_programs_use_every_operation(self):
        types = (self.folder / "by_types.ts").read_text()
        client = (self.folder / "by_hey_api.ts").read_text()
        for method, path, identifier in self.operations():
            with self.subTest(identifier):
                self.assertIn(f"ask('{method}', '{path}'", types)
                self.assertIn(f"posenc.{camel(identifier)}(", client)

    def test_the_types_are_short(self):
        lines = (self.folder / "types.ts").read_text().count("\n")
        self.assertLess(lines, MOST_LINES)


if __name__ == "__main__":
    unittest.main()
