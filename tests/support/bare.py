"""The first minutes of a new user: README.md's two commands of "Start", word for word, on a
bare Debian: bare.py BUILD [ARCHIVE]. They run in a clone, or in what the archive holds.

A root that mmdebstrap makes has a minimal Debian of this machine's release or of BARE_RELEASE,
git, make and ca-certificates, no node and no name localhost. Its mirror is the one that this
machine uses. The commands run in it by chroot, in namespaces whose mounts and processes end
with this program. BARE_ONLY=run leaves the second command out. Of the tests it runs a share
(BARE_SHARE=1: all), since what is tried here is whether they find what they need: at least one
of each file runs. For the same reason make finds flags in its environment: the Makefile's own,
by which another compiler warns, without debug information. What is kept is
BUILD/bare/root.tar, for the next time; each run unpacks it anew."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))

from documents import README, blocks  # noqa: E402


def own_release():
    """The name of this machine's Debian, such as bookworm."""
    system = Path("/etc/os-release").read_text(encoding="utf-8")
    return re.search(r"^VERSION_CODENAME=(.*)$", system, re.MULTILINE)[1]


INCLUDED = "git,make,ca-certificates"
ADDRESS = "http://127.0.0.1:8080"  # of the server in README.md
MEGABYTES = {"run": 80, "test": 300}  # of packages that a command may download
PATIENCE = 7200  # seconds: what takes longer hangs; beside two whole runs the tests take 1050
SHARE = os.environ.get("BARE_SHARE", "0.02")  # of the tests
SPLIT = ("TARGET", "AR", "INSTRUCTION_SETS")  # what make asks the compiler
RELEASE = os.environ.get("BARE_RELEASE") or own_release()
OWN_LINES = re.compile(r"^(?!make(?:\[\d+\])?: ).+", re.MULTILINE)  # those that are not make's


def say(text):
    print(f"check-bare, {RELEASE}: {text}", flush=True)


def output_of(*command, **options):
    return subprocess.run(
        command, check=True, text=True, stdout=subprocess.PIPE, **options
    ).stdout


def sources():
    """The lines of sources.list that name Debian's own packages on this machine, or those that
    name another release in the same place."""
    suite, label = "$(RELEASE)", ()
    if RELEASE != own_release():
        suite, label = RELEASE, ("Label: Debian",)
    form = f"deb $(REPO_URI) {suite} $(COMPONENT)"
    targets = ("Created-By: Packages", "Origin: Debian", *label)
    lines = output_of("apt-get", "indextargets", "--format", form, *targets).splitlines()
    return "".join(f"{line}\n" for line in sorted(set(lines)))


def make_archive(archive):
    """The bare root as a tar file, unless there is one of the same sources."""
    wanted = f"{RELEASE} {INCLUDED}\n{sources()}"
    stamp = archive.with_suffix(".sources")
    if archive.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    stamp.unlink(missing_ok=True)
    watch = Watch()
    options = ("--quiet", "--variant=minbase", f"--include={INCLUDED}")
    subprocess.run(
        ["mmdebstrap", *options, RELEASE, archive, "-"],
        check=True,
        text=True,
        input=sources(),
    )
    stamp.write_text(wanted, encoding="utf-8")
    say(f"{watch}: a bare root was made")


def unpack(archive, root):
    subprocess.run(["tar", "-C", root, "-xf", archive], check=True)
    shutil.copy("/etc/resolv.conf", root / "etc")
    hosts = Path("/etc/hosts").read_text(encoding="utf-8").splitlines(keepends=True)
    others = [line for line in hosts if "localhost" not in line]
    (root / "etc" / "hosts").write_text("".join(others), encoding="utf-8")
    # how this machine reaches its mirror
    settings = output_of("apt-config", "dump").splitlines(keepends=True)
    reached = [line for line in settings if re.match(r"Acquire::(https?|Check)", line)]
    (root / "etc/apt/apt.conf.d/99machine").write_text("".join(reached), encoding="utf-8")


class Watch:
    """Seconds since it was made."""

    def __init__(self):
        self.began = time.monotonic()

    def __str__(self):
        return f"{time.monotonic() - self.began:.0f} s"


class Bare:
    """A checkout in the bare root."""

    def __init__(self, folder, archive=None):
        self.folder, self.root, self.archive = folder, folder / "root", archive
        self.clone = self.root / "posenc"
        self.failures = []
        self.downloaded = 0  # bytes of packages so far
        self.environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LANG": "C.UTF-8",
            "CFLAGS": "-O2",
            **{name: os.environ[name] for name in os.environ if name.endswith("_proxy")},
        }

    def check(self, holds, text):
        if not holds:
            say(f"FAILED: {text}")
            self.failures.append(text)

    def check_out(self):
        shutil.rmtree(self.clone, ignore_errors=True)
        if self.archive:
            self.clone.mkdir()
            unpacking = ["tar", "-C", self.clone, "--strip-components=1", "-xf", self.archive]
            subprocess.run(unpacking, check=True)
        else:
            subprocess.run(["git", "clone", "--quiet", ROOT, self.clone], check=True)

    def start(self, command, log, **variables):
        """Start a line of shell in the checkout, in a session of its own as in a terminal."""
        inside = f"cd /posenc && exec {command}"
        with open(log, "wb") as output:
            return subprocess.Popen(
                ["chroot", self.root, "sh", "-c", inside],
                env={**self.environment, **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def run(self, command, name, **variables):
        """The status of a line of shell, and what it printed."""
        log = self.folder / f"{name}.log"
        status = self.start(command, log, **variables).wait(PATIENCE)
        return status, log.read_text(encoding="utf-8", errors="replace")

    def megabytes(self):
        """The size of the packages that have come since the last call."""
        archives = (self.root / "var/cache/apt/archives").glob("*.deb")
        before, self.downloaded = self.downloaded, sum(path.stat().st_size for path in archives)
        return (self.downloaded - before) / 1e6

    def check_megabytes(self, name):
        used = self.megabytes()
        self.check(used <= MEGABYTES[name], f"{used:.1f} MB of packages, not {MEGABYTES[name]}")
        return used


def tail(text, lines=30):
    return "".join(f"    {line}\n" for line in text.splitlines()[-lines:])


def check_hints(bare):
    """Without packages one line of ours says which command brings them."""
    for command in ("make", "make unit"):
        status, printed = bare.run(command, "hint")
        own = OWN_LINES.findall(printed)
        is_hint = len(own) == 1 and "`make deps" in own[0] and "No such file" not in printed
        bare.check(
            status != 0 and is_hint, f"`{command}` without packages says:\n{tail(printed)}"
        )
        if is_hint:
            say(f"`{command}`: {own[0]}")


def wait_for_server(process, log):
    """The address of the server that the process runs; None if it ends before."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ended = process.poll() is not None
        text = log.read_text(encoding="utf-8", errors="replace")
        if found := re.search(r" listening on (http://\S+)\n", text):
            return found[1]
        if ended:
            return None
        time.sleep(0.1)
    return None


def check_answer(bare, address, example):
    printed = output_of("bash", "-c", example.text.replace(ADDRESS, address))
    bare.check(
        json.loads(printed) == json.loads(example.output) and printed == example.output,
        f"the first example prints:\n{tail(printed)}",
    )
    with urllib.request.urlopen(f"{address}/", timeout=60) as page:
        bare.check(b"/assets/main." in page.read(), "the page is not there")


def variables(environment, *command):
    """What make's database says of kernels and of the variables the compiler decides."""
    printed = subprocess.run(
        [*command, "-pn", "all"], text=True, capture_output=True, check=False, env=environment
    ).stdout
    found = dict(re.findall(r"^([A-Z_]+) :?= ?(.*)$", printed, re.MULTILINE))
    return {name: found.get(name) for name in (*SPLIT, "KERNEL_OBJECTS")}


def check_build(bare):
    """The build has what a build on a machine with everything has."""
    normal = variables({"PATH": os.environ["PATH"]}, "make", "-C", ROOT)
    inside = variables(bare.environment, "chroot", bare.root, "make", "-C", "/posenc")
    bare.check(inside == normal, f"make reads {inside} there and {normal} here")
    kernels = (normal["KERNEL_OBJECTS"] or "").split()
    missing = [name for name in kernels if not (bare.clone / name).exists()]
    bare.check(not missing, f"the build has no {missing}")
    say(f"{inside['TARGET']}, {inside['INSTRUCTION_SETS']}, {len(kernels)} kernels more")


def stop(bare, process, log):
    """End the command as Ctrl-C does: every process of the terminal gets the signal."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        bare.check(False, "the command does not end at Ctrl-C")
        os.killpg(process.pid, signal.SIGKILL)
    printed = log.read_text(encoding="utf-8", errors="replace")
    bare.check("Error" not in printed, f"Ctrl-C leaves an error behind:\n{tail(printed)}")


def processor_seconds():
    spent = os.times()
    return f"{spent.children_user + spent.children_system:.0f} s"


def run_first(bare, command, example, watch):
    log = bare.folder / "run.log"
    process = bare.start(command, log, POSENC_PORT="0")  # a free one
    address = wait_for_server(process, log)
    used = bare.check_megabytes("run")
    if not address:
        text = log.read_text(encoding="utf-8", errors="replace")
        bare.check(False, f"`{command}` serves nothing:\n{tail(text)}")
        say(f"{watch}, {used:.1f} MB: `{command}` failed")
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        return
    check_answer(bare, address, example)
    say(f"{watch}, {used:.1f} MB: `{command}`, from the clone to the first answer")
    check_build(bare)
    stop(bare, process, log)
    say(f"{processor_seconds()} of processors so far")


def run_second(bare, command):
    watch = Watch()
    status, printed = bare.run(command, "test", TEST_SHARE=SHARE)
    used = bare.check_megabytes("test")
    bare.check(status == 0, f"`{command}` ends with status {status}:\n{tail(printed)}")
    say(f"{watch}, {used:.1f} MB: `{command}`")
    say(f"{processor_seconds()} of processors in all")
    say(f"its last line: {printed.splitlines()[-1] if printed else 'none'}")


def inside(folder, archive):
    """Everything that needs the root, in namespaces of its own."""
    bare = Bare(folder, archive)
    bare.root.mkdir()
    unpack(folder / "root.tar", bare.root)
    subprocess.run(["mount", "-t", "proc", "proc", bare.root / "proc"], check=True)
    subprocess.run(["mount", "--rbind", "/dev", bare.root / "dev"], check=True)
    bare.megabytes()

    bare.check_out()
    check_hints(bare)
    watch = Watch()
    bare.check_out()
    text = (bare.clone / README.name).read_text(encoding="utf-8")
    start = list(blocks(text.split("\n## Start\n")[1].split("\n## ")[0]))
    lines = [line for block in start for line in block.text.splitlines()]
    commands = [line.split(" #")[0].strip() for line in lines if line.startswith("make ")]
    example = next(block for block in start if block.output)
    run_first(bare, commands[0], example, watch)
    if os.environ.get("BARE_ONLY") != "run":
        bare.check(len(commands) == 2, f"README.md starts with {commands}, not two commands")
        if len(commands) == 2 and not bare.failures:
            run_second(bare, commands[1])
    if bare.failures:
        sys.exit(f"check-bare: {len(bare.failures)} things are not as README.md says")
    say("README.md's first commands work on a bare machine")


def main():
    given = [text for text in sys.argv[1:] if text != "--inside"]
    folder = Path(given[0]).resolve() / "bare" / RELEASE
    if "--inside" in sys.argv:
        inside(folder, given[1] if len(given) > 1 else None)
        return
    if os.geteuid() != 0:
        say("not done: only root can make and enter a bare root")
        return
    if not shutil.which("mmdebstrap"):
        sys.exit("check-bare: mmdebstrap is missing: make deps-bare")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "root", ignore_errors=True)
    make_archive(folder / "root.tar")
    # whatever ends this program ends all that is inside
    alone = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork"]
    command = [sys.executable, "-B", __file__, *given, "--inside"]
    try:
        ended = subprocess.run([*alone, "--kill-child", *command], check=False)
    finally:
        shutil.rmtree(folder / "root", ignore_errors=True)
    sys.exit(ended.returncode)


if __name__ == "__main__":
    main()
