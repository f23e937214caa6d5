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


# stands still at its first STANDS starts
NPM = """
echo started >> "$STUBS/starts"
[ -z "$STANDS" ] || [ "$(wc -l < "$STUBS/starts")" -gt "$STANDS" ] || exec sleep 600
exit "${STATUS:-0}"
"""


def environment_with(folder, programs, **more):
    """This environment, in which the programs (name: lines of shell) are found first."""
    for program, text in programs.items():
        path = folder / program
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    environment = dict(
        os.environ, PATH=f"{folder}:{os.environ['PATH']}", STUBS=str(folder), **more
    )
    for variable in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        environment.pop(variable, None)
    return environment


class Npm(unittest.TestCase):
    def install(self, **variables):
        """(status of npm.sh, how often npm was not ready)."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "package-lock.json").write_text("{}")
            ended = subprocess.run(
                ["sh", ROOT / "tests/support/npm.sh", folder],
                env=environment_with(folder, {"npm": NPM}, NPM_PATIENCE="2", **variables),
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            return ended.returncode, ended.stderr.count("npm was not ready")

    def test_one_that_stands_still_is_begun_again(self):
        status, late = self.install(STANDS="1")
        self.assertEqual(status, 0)
        self.assertGreaterEqual(late, 1)

    def test_it_is_given_up_after_three_attempts(self):
        self.assertEqual(self.install(STANDS="9"), (1, 3))

    def test_its_own_failure_is_the_last_attempt(self):
        self.assertEqual(self.install(STANDS="", STATUS="7")[0], 7)


class Deps(unittest.TestCase):
    def install(self, *lists):
        """Run a make for each list of goals, all at once: apt-get never meets another."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            environment = environment_with(folder, PROGRAMS)
            makes = [
                subprocess.Popen(
                    ["make", "-j4", f"BUILD={folder}/build-{i}", *goals],
                    cwd=ROOT,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                for i, goals in enumerate(lists)
            ]
            for made in makes:
                self.addCleanup(made.kill)
                said, _ = made.communicate(timeout=300)
                self.assertEqual(made.returncode, 0, said)
                self.assertFalse((folder / "met").exists(), said)
            installs = (folder / "ran").read_text().count("install -y")
            self.assertGreaterEqual(installs, 4 * len(lists))

    def test_one_installs_at_a_time(self):
        """With as many jobs as make is given."""
        self.install(["deps-ci"])
        self.install(["deps-test", "deps-ci"])

    def test_two_source_trees_install_one_after_another(self):
        self.install(["deps-ci"], ["deps-ci"])
