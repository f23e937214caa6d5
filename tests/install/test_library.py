"""The library on its own: the program of lib/README.md against the installed files, the header,
and the documents."""

import re
import tempfile
import unittest
from pathlib import Path

import numpy
from installed import DOCUMENTS, PREFIX, ROOT, run
from mpmath import cos, mp, mpf, sin

README = (ROOT / "lib" / "README.md").read_text(encoding="utf-8")
LINES_MAX = 25


def block(language):
    """The first block of this language in the README."""
    return re.search(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[1]


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_the_program_of_the_readme_compiles_and_prints_what_that_says(self):
        (self.folder / "window.c").write_text(block("c"), encoding="utf-8")
        command = re.search(r"^```sh\n(cc .*?)^```$", README, re.MULTILINE | re.DOTALL)[1]
        self.assertIn("pkg-config", command)
        printed = run("bash", "-ec", command, cwd=self.folder)
        self.assertEqual(printed, block("text"))
        self.assertLessEqual(block("c").count("\n"), LINES_MAX)

    def test_what_the_program_prints_are_the_rounded_sines_and_cosines(self):
        mp.prec = 300
        for row, line in enumerate(block("text").splitlines()):
            phases = [(10**9 + row) * mpf(10000) ** (-mpf(2 * i) / 4) for i in range(2)]
            exact = [function(phase) for phase in phases for function in (sin, cos)]
            want = [numpy.float32(float(value)) for value in exact]
            self.assertEqual([numpy.float32(text) for text in line.split(",")], want)

    def test_the_header_needs_no_other_one_and_is_c_and_cpp(self):
        self.assertEqual([path.name for path in (PREFIX / "include").iterdir()], ["posenc.h"])
        for compiler, language in (("cc", "c11"), ("c++", "c++17")):
            with self.subTest(language=language):
                source = self.folder / f"alone.{language[:-2]}"
                source.write_text(
                    "#include <posenc.h>\n"
                    "int main(void) { return pe_scheme_count() == 0; }\n"
                )
                program = self.folder / "alone"
                flags = run("pkg-config", "--cflags", "--libs", "posenc").split()
                run(
                    compiler,
                    "-x",
                    language.rstrip("0123456789"),
                    f"-std={language}",
                    "-Wall",
                    "-Wextra",
                    "-Wpedantic",
                    "-Werror",
                    source,
                    "-x",
                    "none",
                    *flags,
                    "-o",
                    program,
                )
                run(program)


class Documents(unittest.TestCase):
    def test_they_are_installed_as_one_page(self):
        page = DOCUMENTS.read_text(encoding="utf-8")
        self.assertIn(' id="api/guides/get-a-table.md--get-a-table"', page)


if __name__ == "__main__":
    unittest.main()
