"""The packages for Python of `make python`, as pip installs them into a virtual environment."""

import re
import shutil
import subprocess
import tempfile
import unittest
import venv
from pathlib import Path

from installed import COMMAND, PREFIX, ROOT, run

PACKAGES = PREFIX.parent / "python" / "dist"
VERSION = run("make", "-s", "-C", ROOT, "version").strip()
USE = f"""import posenc
service = posenc.Service("command:{COMMAND}")
print(posenc.__version__, *service.get("rope", length=2, dim=2))"""
TYPED = """import posenc
name: str = posenc.__version__
tables: posenc.Tensors = posenc.get("rope", length=2, dim=2)
"""


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="posenc-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def install(self, package):
        """The Python of an environment into which pip has installed a package, without the
        network: what it needs is the system's."""
        environment = self.folder / package.suffix.strip(".")
        venv.create(environment, with_pip=True, system_site_packages=True)
        python = environment / "bin" / "python"
        offline = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation")
        run(python, "-m", "pip", "install", *offline, package, cwd=self.folder)
        return python

    def test_pip_installs_the_wheel_and_its_source(self):
        wheel, source = sorted(PACKAGES.iterdir(), key=lambda path: path.suffix != ".whl")
        for package in (wheel, source):
            with self.subTest(package.name):
                printed = run(self.install(package), "-c", USE, cwd=self.folder)
                self.assertEqual(printed, f"{VERSION} cos sin inv_freq\n")

    def test_its_types_are_found(self):
        if not shutil.which("mypy"):
            self.skipTest("mypy is missing: make deps-lint")
        (wheel,) = PACKAGES.glob("*.whl")
        python = self.install(wheel)
        for text, mistakes in ((TYPED, 0), (TYPED.replace("str", "int"), 1)):
            (self.folder / "typed.py").write_text(text)
            checked = subprocess.run(
                ["mypy", "--strict", "--python-executable", python, "typed.py"],
                cwd=self.folder, capture_output=True, text=True,
            )  # fmt: skip
            found = re.findall(r"error: .*", checked.stdout)
            self.assertEqual(len(found), mistakes, checked.stdout + checked.stderr)


if __name__ == "__main__":
    unittest.main()
