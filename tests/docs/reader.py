"""Follows the documents as a reader does: runs the blocks of each in order, in a folder of its
own."""

import json
import os
import re
import select
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120  # seconds until a block has failed
ADDRESS = "http://127.0.0.1:8080"  # of the server in the documents

# Lines that are not run: what they start with, or what they contain.
NOT_RUN = ("make ", "docker ", "podman ", "systemctl ", "install ", "apt ", "cc ")
ELSEWHERE = "https://posenc.example/"
OPTIONAL = (
    "torch",
    "jax",
)  # modules of Python whose blocks are left out where they are missing

# Runs blocks of Python in one process, as an interactive session does: one JSON text a line in,
# and what the block printed out, with a traceback if it failed.
SESSION = """
import contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    printed, failure = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(json.loads(line), names)
        except Exception:
            failure = traceback.format_exc()
    print(json.dumps([printed.getvalue(), failure]), flush=True)
"""


class Failed(AssertionError):
    """A block did not run, or did what no block may do."""


class Reader:
    """Runs blocks against the server at `url`; `binary` is its program."""

    def __init__(self, url, binary, folder):
        self.url, self.binary, self.top, self.folder = url, binary, Path(folder), None
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("POSENC_")
        }
        self.environment.update(
            no_proxy="*",
            PYTHONDONTWRITEBYTECODE="1",
            PYTHONPATH=str(ROOT / "api" / "python"),
            PATH=f"{Path(binary).resolve().parent}:{self.environment['PATH']}",
            POSENC_SERVICE_URL=url,
        )
        self.python = None
        self.skipped = []  # reasons

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def new_document(self, path):
        """Begin an empty folder, and forget what the Python blocks so far have defined."""
        self.close()
        self.folder = self.top / str(path.relative_to(ROOT)).replace("/", "-")
        self.folder.mkdir()
        self.python = subprocess.Popen(
            [sys.executable, "-c", SESSION],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def close(self):
        if self.python:
            self.python.stdin.close()
            self.python.wait(PATIENCE)
            self.python.stdout.close()
            self.python = None

    def run(self, block):
        """What the block prints; None if it is not run here. It must not change a file that an
        earlier block wrote."""
        before = self._files()
        text = block.text.replace(ADDRESS, self.url)
        printed = getattr(self, f"_run_{block.language}")(text)
        after = self._files()
        changed = [name for name in before if after.get(name) != before[name]]
        if changed:
            raise Failed(f"{changed} of an earlier block changed in:\n{block.text}")
        return None if printed is None else printed.replace(self.url, ADDRESS)

    def _files(self):
        return {
            path.name: (path.stat().st_mtime_ns, path.stat().st_size)
            for path in self.folder.iterdir()
        }

    def _run_python(self, text):
        imported = " ".join(re.findall(r"^import (.*)$", text, re.MULTILINE))
        for name in OPTIONAL:
            if re.search(rf"\b{name}\b", imported) and not find_spec(name):
                return self._skip(f"{name} is not installed")
        self.python.stdin.write(json.dumps(text) + "\n")
        self.python.stdin.flush()
        if not select.select([self.python.stdout], [], [], PATIENCE)[0]:
            self.python.kill()
            raise Failed(f"not within {PATIENCE} s:\n{text}")
        printed, failure = json.loads(self.python.stdout.readline())
        if failure:
            raise Failed(f"{failure}in:\n{text}")
        return printed

    def _run_sh(self, text):
        lines = [
            line
            for line in text.splitlines()
            if not line.startswith(NOT_RUN) and ELSEWHERE not in line
        ]
        if not lines:
            return None
        script = "\n".join(lines).replace("build/posenc-server", shlex.quote(self.binary))
        script = script.replace("python3 ", shlex.quote(sys.executable) + " ")
        return self._run_program(["bash", "-eo", "pipefail", "-c", script], text)

    def _run_js(self, text):
        if not shutil.which("node"):
            return self._skip("node is not installed")
        return self._run_program(["node", "--input-type=module", "-e", text], text)

    def _run_program(self, command, text):
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        if ended.returncode != 0 or ended.stderr:
            raise Failed(f"status {ended.returncode}, {ended.stderr!r} of:\n{text}")
        return ended.stdout

    def _skip(self, reason):
        self.skipped.append(reason)
