"""The manual page and the completions of shells say what --help says."""

import os
import pty
import re
import select
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from installed import BASH, COMMAND, ENVIRONMENT, MANUALS, PATIENCE, PROGRAM, ZSH, run


def told(program=PROGRAM):
    """{flag: (value, help, variable, default)} of --help; an action, and an option of the
    command, has the help alone."""
    text = run(program, "--help").split("\n\nTargets:")[0]
    rows = {}
    for entry in re.split(r"\n(?=  -)", text)[1:]:
        flag, value, rest = re.match(
            r"  (?:-\w, )?--(\S+) ?(\S*) {2,}(.*)", entry, re.DOTALL
        ).groups()
        words = " ".join(rest.split())
        ends = re.fullmatch(r"(.*) (POSENC_\w+), default (.*)", words)
        rows[flag] = (value, *(ends.groups() if ends else (words, None, None)))
    return rows


def read_manual(program=PROGRAM):
    """The same from the page, its paragraphs taken apart; a sentence begins with a capital."""
    page = MANUALS / f"{program.name}.1"
    text = re.sub(r"\\f[BIR]", "", page.read_text(encoding="utf-8"))
    text = text.replace("\\-", "-").replace("\\e", "\\").replace("\n.br", "")
    rows = {}
    for paragraph in re.split(r"^\.(?:TP|SH.*)$", text, flags=re.MULTILINE):
        heading, *lines = paragraph.strip("\n").split("\n")
        heading = re.sub(r"^-\w, ", "", heading)
        if not heading.startswith("--"):
            continue
        flag, _, value = heading[2:].partition(" ")
        words = " ".join(lines)
        ends = re.fullmatch(r"(.*)\. Environment: (\S+)\. Default: (.*)\.", words)
        help_text, *others = ends.groups() if ends else (words.removesuffix("."), None, None)
        rows[flag] = (value, help_text, *others)
    return rows


def with_capitals(rows):
    return {
        flag: (value, text[0].upper() + text[1:], *others)
        for flag, (value, text, *others) in rows.items()
    }


class Manual(unittest.TestCase):
    maxDiff = None

    def test_the_page_lists_every_flag_as_help_does(self):
        rows = told()
        printed = run(PROGRAM, "--check-config").splitlines()
        self.assertEqual(
            [row.split(" = ")[0] for row in printed],
            [flag for flag, row in rows.items() if row[0]],
        )
        self.assertEqual(read_manual(), with_capitals(rows))

    def test_the_page_of_the_command_lists_its_options(self):
        rows = told(COMMAND)
        self.assertEqual(len(rows), 7)
        self.assertEqual(read_manual(COMMAND), with_capitals(rows))

    def test_the_pages_have_their_sections(self):
        own = {
            "posenc-server": ["SETTINGS", "ACTIONS", "SIGNALS"],
            "posenc": ["OPTIONS", "TARGETS", "LIMITS"],
        }
        for name, sections in own.items():
            text = (MANUALS / f"{name}.1").read_text(encoding="utf-8")
            self.assertIsNone(re.search("@[A-Z]", text), "nothing is left to fill in")
            self.assertEqual(
                re.findall(r"^\.SH (.*)$", text, re.MULTILINE),
                [
                    *("NAME", "SYNOPSIS", "DESCRIPTION", *sections),
                    *("EXIT STATUS", "EXAMPLES", "SEE ALSO"),
                ],
            )


class Completion(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "a key").write_text("")
        (self.folder / "a folder").mkdir()

    def bash(self, *words, program="posenc-server"):
        """What bash would offer for the last word."""
        script = (
            'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            '_${1/-/_}; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        offered = run(
            "bash", "-c", script, "bash", BASH / program, program, *words, cwd=self.folder
        )
        return offered.splitlines()

    def test_bash_offers_every_flag(self):
        self.assertEqual(self.bash(""), [f"--{flag}" for flag in told()])
        self.assertEqual(self.bash("--cache-b"), ["--cache-bytes"])
        self.assertEqual(self.bash("--port", "80", "--healthc"), ["--healthcheck"])

    def test_bash_offers_values(self):
        self.assertEqual(self.bash("--log-format", ""), ["text", "json"])
        self.assertEqual(self.bash("--log-format", "=", "j"), ["json"])
        self.assertEqual(self.bash("--log-format", "="), ["text", "json"])
        self.assertEqual(self.bash("--port", ""), [""])
        self.assertEqual(self.bash("--access-log", ""), ["true", "false"])
        self.assertEqual(self.bash("--access-log", "--drain"), ["--drain-seconds"])
        self.assertEqual(self.bash("--data-dir", "a"), ["a folder"])
        self.assertEqual(sorted(self.bash("--api-key-file", "a")), ["a folder", "a key"])

    def test_bash_offers_targets_options_and_files_of_the_command(self):
        def offer(*words):
            return self.bash(*words, program="posenc")

        self.assertEqual(offer("--"), [f"--{flag}" for flag in told(COMMAND)])
        self.assertEqual(offer("/v1/apply/rop"), ["/v1/apply/rope"])
        self.assertEqual(offer("'/v1/compare/xp"), ["/v1/compare/xpos"])
        self.assertEqual(offer("/v1/mod"), ["/v1/models", "/v1/models/compare", "/v1/models/"])
        self.assertEqual(sorted(offer("'/v1/identify'", "a")), ["a folder", "a key"])
        self.assertEqual(offer("-X", "PU"), ["PUT"])
        self.assertEqual(offer("--data-dir", "a"), ["a folder"])

    def zsh(self, typed):
        """The line as a zsh in a terminal has it after a tabulator."""
        main, side = pty.openpty()
        self.addCleanup(os.close, main)
        (self.folder / ".zshrc").write_text(
            f"fpath=({ZSH} $fpath); autoload -Uz compinit; compinit -u -D\n"
            "PROMPT='ready> '; unsetopt beep zle_bracketed_paste\n"
            "show() { zle -I; print -r -- \"line:$BUFFER:\" }; zle -N show; bindkey '^X' show\n"
        )
        environment = {
            **ENVIRONMENT,
            "ZDOTDIR": str(self.folder),
            "TERM": "dumb",
            "HOME": str(self.folder),
        }
        shell = subprocess.Popen(
            ["zsh", "-i"],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=self.folder,
            env=environment,
            start_new_session=True,
        )
        os.close(side)
        try:
            self.read_until(main, "ready> ")
            os.write(main, typed.encode() + b"\t\x18")
            return self.read_until(main, "line:(.*?):")[1].rstrip()
        finally:
            shell.kill()
            shell.wait(PATIENCE)

    def read_until(self, terminal, pattern):
        shown = ""
        while not (found := re.search(pattern, shown)):
            self.assertTrue(select.select([terminal], [], [], PATIENCE)[0], shown)
            shown += os.read(terminal, 4096).decode(errors="replace")
        return found

    @unittest.skipUnless(
        shutil.which("zsh"), "zsh is not installed: its completion is not tried"
    )
    def test_zsh_completes_flags_and_values(self):
        for typed, completed in (
            ("posenc-server --cache-b", "posenc-server --cache-bytes="),
            ("posenc-server --log-format j", "posenc-server --log-format json"),
            ("posenc-server --data-dir a", "posenc-server --data-dir a\\ folder/"),
            ("posenc-server --healthc", "posenc-server --healthcheck"),
            ("posenc --incl", "posenc --include"),
            ("posenc /v1/apply/rop", "posenc /v1/apply/rope"),
            ("posenc -X PU", "posenc -X PUT"),
            ("posenc /v1/identify a\\ k", "posenc /v1/identify a\\ key"),
        ):
            with self.subTest(typed=typed):
                self.assertEqual(self.zsh(typed), completed)


if __name__ == "__main__":
    unittest.main()
