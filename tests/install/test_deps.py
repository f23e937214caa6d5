"""What `make deps` runs, with programs that install nothing in the place of apt-get and npm."""

import os
import pathlib
import stat
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# One that runs beside another finds its lock and fails, as apt-get does.
APT_GET = """
for word in "$@"; do [ "$word" = source ] && unpack=1; done
if [ -n "$unpack" ]; then
    for word in "$@"; do mkdir -p "$word-1"; done
    exit 0
fi
mkdir "$STUBS/lock" 2>/dev/null || { echo "another apt-get" >> "$STUBS/met"; exit 100; }
echo "$@" >> "$STUBS/ran"
sleep 0.3
rmdir "$STUBS/lock"
"""
SUDO = """
case $1 in env | apt-get) exec "$@" ;; tee) cat > /dev/null ;; esac
"""
PROGRAMS = {
    "apt-get": APT_GET,
    "dpkg-query": "exit 1",
    "id": "echo 1000",
    "npm": "exit 0",
    "sudo": SUDO,
}


class Deps(unittest.TestCase):
    def test_one_installs_at_a_time(self):
        """With as many jobs as make is given, apt-get never meets another."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for program, text in PROGRAMS.items():
                path = folder / program
                path.write_text("#!/bin/sh\n" + text)
                path.chmod(path.stat().st_mode | stat.S_IXUSR)
            environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", STUBS=name)
            for variable in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
                environment.pop(variable, None)
            for goals in (["deps-ci"], ["deps-test", "deps-ci"]):
                (folder / "ran").write_text("")
                made = subprocess.run(
                    ["make", "-j4", f"BUILD={folder}/build", *goals],
                    cwd=ROOT,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=120,
                    check=False,
                )
                self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
                self.assertFalse((folder / "met").exists(), made.stdout + made.stderr)
                installs = (folder / "ran").read_text().count("install -y")
                self.assertGreaterEqual(installs, 4, made.stdout)
