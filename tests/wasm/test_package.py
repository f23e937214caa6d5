"""The package for npm, installed from its file into an empty project: found by Node, by a
bundler and by the compiler of types; its README's examples run."""

import json
import re
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from module import MODULE
from server import Server

HERE = Path(__file__).resolve().parent
TOOLS = HERE / "node_modules" / ".bin"
CONTENT = {
    "LICENSE", "README.md", "engine.js", "licences.txt", "package.json", "posenc.d.ts",
    "posenc.js", "posenc.wasm", "worker.js",
}  # fmt: skip
USE = """
import {open} from 'posenc';
const posenc = await open(%s);
const response = await posenc.fetch('/v1/encodings/rope?length=8&dim=4');
console.log(JSON.stringify([posenc.form, (await response.json()).tensors[0].data[1]]));
posenc.close();
"""
PAGE = """
import {open} from 'posenc';
const lost = await open({worker: './none.js'}).catch(({message}) => message);
const posenc = await open();
const response = await posenc.fetch('/v1/encodings/rope?length=8&dim=4');
const rows = (await response.json()).tensors[0].data.length;
document.title = JSON.stringify([posenc.form, rows, lost]);
"""
TYPED = """
import {open} from 'posenc';
const posenc = await open({limits: {'max-elements': 1000}});
const table = await (await posenc.fetch('/v1/encodings/rope?length=8&dim=4')).json();
const name: string = table.tensors[0].name;
const info = await (await posenc.fetch('/v1/info')).json();
const form: 'server' | 'command' | 'module' = info.form;
// @ts-expect-error: the document has no such member
info.nothing;
const post = await posenc.fetch('/v1/identify', {method: 'POST', body: new Blob([])});
const text: string = await post.text();
// @ts-expect-error: it is no option
await open({colour: 'red'});
console.log(name, form, text);
"""


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        version = subprocess.run(["make", "-s", "version"], capture_output=True, text=True)
        cls.version = version.stdout.strip()
        cls.file = MODULE.parent.parent / f"posenc-{cls.version}.tgz"
        folder = tempfile.TemporaryDirectory(prefix="posenc-")
        cls.addClassCleanup(folder.cleanup)
        cls.project = Path(folder.name)
        (cls.project / "package.json").write_text('{"private": true, "type": "module"}')
        cls.run_program("npm", "install", "--offline", "--no-audit", "--no-fund", cls.file)
        cls.installed = cls.project / "node_modules" / "posenc"

    @classmethod
    def run_program(cls, *command):
        """What a program prints, run in the project."""
        ended = subprocess.run(
            command, cwd=cls.project, capture_output=True, text=True, check=False
        )
        if ended.returncode != 0:
            raise AssertionError(f"{command}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
        return ended.stdout

    def write(self, name, text):
        (self.project / name).write_text(text)
        return name

    def examples(self, language):
        readme = (self.installed / "README.md").read_text()
        return re.findall(rf"```{language}\n(.*?)```", readme, re.DOTALL)

    def test_it_holds_what_it_needs_and_nothing_else(self):
        with tarfile.open(self.file) as archive:
            names = {name.removeprefix("package/") for name in archive.getnames()}
        self.assertEqual(names, CONTENT)
        described = json.loads((self.installed / "package.json").read_text())
        self.assertEqual(described["version"], self.version)
        self.assertIn("nettle", (self.installed / "licences.txt").read_text())

    def test_node_finds_it(self):
        said = json.loads(self.run_program("node", self.write("use.js", USE % "")))
        self.assertEqual(said[0], "module")
        self.assertEqual(len(said[1]), 2)

    def test_the_same_code_asks_a_server(self):
        server = Server()
        self.addCleanup(server.stop)
        asks = USE % json.dumps({"url": server.url})
        remote = json.loads(self.run_program("node", self.write("remote.js", asks)))
        local = json.loads(self.run_program("node", self.write("local.js", USE % "")))
        self.assertEqual(remote, ["server", local[1]])

    def test_bundlers_find_it_and_its_worker(self):
        self.write("app.js", PAGE)
        for bundler in ("vite", "webpack", "esbuild"):
            with self.subTest(bundler):
                said = self.run_program("node", HERE / "bundlers.mjs", self.project, bundler)
                form, rows, lost, workers = json.loads(said.splitlines()[-1])
                self.assertEqual((form, rows, workers), ("module", 8, 1))
                self.assertRegex(lost, "none.js could not be loaded")

    def test_its_types_are_those_of_the_openapi_document(self):
        source = self.write("typed.ts", TYPED)
        options = ("--noEmit", "--strict", "--module", "nodenext", "--target", "es2022")
        self.run_program(TOOLS / "tsc", *options, "--lib", "es2023,dom,dom.iterable", source)

    def test_the_examples_of_its_readme_run(self):
        first, check, *_ = self.examples("js")
        self.assertIn("cos", self.run_program("node", self.write("first.js", first)))
        self.run_program("node", "--test", self.write("check.test.mjs", check))
        self.assertEqual(len(self.examples("html")), 1)


if __name__ == "__main__":
    unittest.main()
