"""A PostgreSQL server of its own for a test: in a folder that goes, on a free port, not as
root."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "http"), str(TESTS / "support")]

import family  # noqa: E402
from server import PATIENCE, free_port, wait_until  # noqa: E402

# The password has characters that a URL must escape, and stands nowhere else.
PASSWORD, ESCAPED = "se/cr:et%", "se%2Fcr%3Aet%25"
FAST = ("-c", "shared_buffers=64MB", "-c", "max_connections=60", "-c", "autovacuum_naptime=5s")


def programs():
    """The folder with initdb and postgres, which Debian keeps out of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    name = str(found[-1]) if found else shutil.which("initdb")
    if not name:
        raise AssertionError("initdb is missing: make deps-test")
    return Path(name).parent


def other_user():
    """How to start a program as another user than root, whom initdb and postgres refuse."""
    if os.getuid() != 0:
        return {}
    with contextlib.suppress(KeyError):
        entry = pwd.getpwnam("postgres")
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return {"user": 65534, "group": 65534, "extra_groups": []}


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class Cluster(contextlib.AbstractContextManager):
    """`url(database)` names it. `kill` is kill -9 of the server and all that it has started."""

    def __init__(self, *options, standby_of=None):
        self.folder = Path(tempfile.mkdtemp(prefix="posenc-postgres-"))
        self.data, self.port, self.options = (
            self.folder / "data",
            free_port(),
            (*FAST, *options),
        )
        self.process = None
        if os.getuid() == 0:
            os.chown(self.folder, other_user()["user"], other_user()["group"])
        try:
            self.make(standby_of)
            self.start()
        except BaseException:
            self.close()
            raise

    def run(self, program, *arguments, **variables):
        done = subprocess.run(
            [str(programs() / program), *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            **other_user(),
            env={
                "PATH": os.environ["PATH"],
                "PGPASSWORD": PASSWORD,
                "LC_ALL": "C",
                **variables,
            },
        )
        if done.returncode != 0:
            raise AssertionError(f"{program}: {done.stdout}{done.stderr}")
        return done.stdout

    def make(self, standby_of):
        if standby_of:
            self.run(
                "pg_basebackup",
                "-D",
                str(self.data),
                "-R",
                "-X",
                "stream",
                "-c",
                "fast",
                "-d",
                f"{standby_of.url('postgres')}?application_name=standby",
            )
            return
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self.run(
            "initdb",
            "-D",
            str(self.data),
            "-U",
            "posenc",
            "-A",
            "scram-sha-256",
            f"--pwfile={secret}",
            "-E",
            "UTF8",
            "--no-sync",
        )
        secret.unlink()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [
                    str(programs() / "postgres"),
                    "-D",
                    str(self.data),
                    "-p",
                    str(self.port),
                    "-k",
                    str(self.folder),
                    "-c",
                    "listen_addresses=127.0.0.1",
                    *self.options,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
                **other_user(),
            )
        wait_until(self.answers, "PostgreSQL answers")

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError((self.folder / "log").read_text()[-2000:])
        try:
            self.sql("SELECT 1", "postgres")
        except AssertionError:
            return False
        return True

    def url(self, database="posenc", *others):
        """With the addresses of `others`, of which the one that can be written is chosen."""
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in (self, *others))
        return f"postgresql://posenc:{ESCAPED}@{hosts}/{database}"

    def sql(self, statements, database="posenc"):
        """What psql prints: a line for a row, columns between |."""
        return self.run(
            "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statements, self.url(database)
        ).strip()

    def new_database(self, name="posenc"):
        self.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", "postgres")
        self.sql(f"CREATE DATABASE {name}", "postgres")
        return self.url(name)

    def promote(self):
        self.run("pg_ctl", "promote", "-w", "-D", str(self.data))

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(PATIENCE)

    def kill(self):
        """Everything at once, as when a machine is lost."""
        if self.process and self.process.poll() is None:
            ended = family.kill(self.process.pid)
            self.process.wait(PATIENCE)
            # as long as one of them lives, its memory keeps another server from starting
            wait_until(lambda: not any(map(is_alive, ended)), "all of it has ended")

    def pause(self, paused=True):
        """Stop the server's processes, so that connections stay and nothing answers; or let
        them go on."""
        if paused:
            family.stop(self.process.pid)
        else:
            family.go_on(family.members_of(self.process.pid))

    def close(self):
        """End it so that it frees its shared memory; what hangs is killed."""
        if self.process and self.process.poll() is None:
            self.pause(False)
            self.process.send_signal(signal.SIGQUIT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE)
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __exit__(self, *_):
        self.close()
