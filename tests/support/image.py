"""Builds docker/Dockerfile with podman and uses the image as docker/sidecar.md says: image.py
BUILD. With --release FOLDER it writes there what a release has of it.

It needs root, podman, runc, and debootstrap where the base image is not there: without a
registry it is made of Debian's packages. What it makes stays under BUILD/image."""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / folder) for folder in ("docs", "http")]

from documents import blocks  # noqa: E402
from server import Server, wait_until  # noqa: E402

BASE = "docker.io/library/debian:bookworm-slim"
BYTES_MAX = 8_000_000
JOB_USER = "54321"
SOURCES = """Types: deb
URIs: http://deb.debian.org/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""
CONFINED = (
    "--network",
    "none",
    "--read-only",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
)


def say(text):
    print(f"image: {text}", flush=True)


def missing():
    """Why this machine cannot do it, or None."""
    if os.geteuid() != 0:
        return "only root can make the base image"
    lacking = [name for name in ("podman", "runc", "debootstrap") if not shutil.which(name)]
    return f"{', '.join(lacking)} missing: make deps-image installs it" if lacking else None


class Podman:
    """podman with settings and images of its own, so that those of the machine stay as they
    are."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "containers.conf").write_text(
            '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'
            '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
        )
        (folder / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\nrunroot = "{folder}/run"\ngraphroot = '
            f'"{folder}/storage"\n'
        )
        self.environment = {
            **os.environ,
            "CONTAINERS_CONF": f"{folder}/containers.conf",
            "CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf",
        }

    def __call__(self, *arguments, check=True, quiet=True):
        ended = subprocess.run(
            ["podman", *arguments],
            env=self.environment,
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if quiet else None,
        )
        if check and ended.returncode != 0:
            raise AssertionError(
                f"podman {' '.join(arguments)}: {ended.stdout}{ended.stderr or ''}"
            )
        return ended.stdout.strip() if check else ended

    def make_base(self):
        if self("image", "exists", BASE, check=False).returncode == 0:
            return
        say(f"makes {BASE} of Debian's packages")
        root = self.folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run(
            ["debootstrap", "--variant=minbase", "bookworm", root],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (root / "etc/apt/sources.list").unlink()
        (root / "etc/apt/sources.list.d/debian.sources").write_text(SOURCES)
        archive = self.folder / "root.tar"
        subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
        self("import", "--change", 'CMD ["/bin/bash"]', str(archive), BASE)
        shutil.rmtree(root)
        archive.unlink()

    def build(self, name, moment, *flags, form="docker"):
        """Build the image, or another target, and return its digest. Of podman's forms docker
        has the health check, and oci no name of the container that built it, so that its digest
        is the same again.
        """
        self(
            "build",
            "--isolation",
            "chroot",
            "--pull=never",
            "--layers",
            "--format",
            form,
            "--timestamp",
            str(moment),
            "--build-arg",
            f"SOURCE_DATE_EPOCH={moment}",
            *flags,
            "-f",
            "docker/Dockerfile",
            *(() if "--output" in flags else ("-t", name)),
            ".",
        )
        return (
            ""
            if "--output" in flags
            else self("image", "inspect", "--format", "{{.Digest}}", name)
        )


# ---- what is in it ----


def check_contents(podman, image):
    size = int(podman("image", "inspect", "--format", "{{.Size}}", image))
    say(f"{image} has {size:,} bytes")
    assert size <= BYTES_MAX, size
    container = podman("create", "--pull=never", image)
    program = podman.folder / "posenc-server"
    podman("cp", f"{container}:/posenc-server", str(program))
    archive = podman.folder / "contents.tar"
    podman("export", "-o", str(archive), container)
    podman("rm", container)
    listed = subprocess.run(
        ["tar", "-tf", archive], check=True, capture_output=True, text=True
    ).stdout.split()
    made_by_podman = re.compile(r"(dev|etc|proc|run|sys|\.|etc/.*|dev/.*|run/.*)/?")
    assert [name for name in listed if not made_by_podman.fullmatch(name)] == [
        "posenc-server"
    ], listed
    headers = subprocess.run(
        ["readelf", "-hldW", program], check=True, capture_output=True, text=True
    ).stdout
    assert "INTERP" not in headers and "(NEEDED)" not in headers and "PIE" in headers, headers
    return program


def check_sbom(podman, moment):
    folder = podman.folder / "sbom"
    podman.build(
        "posenc:sbom", moment, "--target", "sbom", "--output", f"type=local,dest={folder}"
    )
    document = json.loads((folder / "posenc.spdx.json").read_text())
    names = {package["name"]: package for package in document["packages"]}
    for name in (
        "posenc",
        "libmicrohttpd",
        "jansson",
        "nettle",
        "libpng1.6",
        "sqlite3",
        "zlib",
        "glibc",
        "d3-array",
    ):
        assert (
            names[name]["versionInfo"] and names[name]["licenseDeclared"] != "NOASSERTION"
        ), name
    say(f"{folder}/posenc.spdx.json names {len(names)} packages")
    return document["packages"][0]["checksums"][0]["checksumValue"]


def measure_start(program):
    """Milliseconds from the start of the program to its first answer, and its memory when
    idle."""
    times = []
    for _ in range(15):
        begun = time.monotonic()
        server = Server(binary=str(program))
        assert server.request("GET", "/v1/encodings/sinusoidal?length=4&dim=8").status == 200
        times.append(1000 * (time.monotonic() - begun))
        memory = server.resident()
        server.stop()
    say(
        f"first answer after {statistics.median(times):.1f} ms (median of {len(times)}, at "
        f"best {min(times):.1f}), then {memory / 1e6:.1f} MB resident"
    )


# ---- the sidecar ----


def run_sidecar(podman, image):
    text = (ROOT / "docker" / "sidecar.md").read_text()
    code = [block.text for block in blocks(text) if block.language == "python"]
    shared = podman.folder / "shared"
    shutil.rmtree(shared, ignore_errors=True)
    shared.mkdir()
    os.chown(shared, 65534, 65534)
    shared.chmod(0o755)
    container = podman(
        "run",
        "-d",
        "--pull=never",
        *CONFINED,
        "--memory=64m",
        "-v",
        f"{shared}:/run/posenc",
        "-e",
        "POSENC_UNIX_SOCKET=/run/posenc/socket",
        "-e",
        "POSENC_UNIX_SOCKET_MODE=0666",
        "-e",
        "POSENC_CACHE_BYTES=32MiB",
        image,
    )
    try:
        wait_until(
            lambda: podman("healthcheck", "run", container, check=False).returncode == 0,
            "healthy",
        )
        say("the health check says that it is healthy")
        for each in code[1:]:
            job = subprocess.run(
                [
                    "setpriv",
                    "--reuid",
                    JOB_USER,
                    "--regid",
                    JOB_USER,
                    "--clear-groups",
                    sys.executable,
                    "-c",
                    code[0] + each,
                ],
                check=True,
                capture_output=True,
                text=True,
                cwd="/",
                env={"POSENC_SOCKET": str(shared / "socket"), "PATH": os.environ["PATH"]},
            )
            say(f"the job as user {JOB_USER} prints {job.stdout.strip()}")
        process = podman("inspect", "--format", "{{.State.Pid}}", container)
        status = Path(f"/proc/{process}/status").read_text()
        say(
            ", ".join(
                re.findall(r"^((?:VmRSS|Uid|CapEff|NoNewPrivs):.*)$", status, re.MULTILINE)
            ).replace("\t", " ")
        )
        podman("stop", container)
        assert podman("inspect", "--format", "{{.State.ExitCode}}", container) == "0"
        assert not (shared / "socket").exists()
        say("it has stopped with status 0 and removed its socket")
    finally:
        logs = podman("logs", container, check=False)
        print(logs.stdout + logs.stderr, end="")
        podman("rm", "-f", container)


def check_names(podman, image):
    """A static program finds hosts by number and, through the container's hosts file, by
    name."""
    for bind in ("127.0.0.1", "localhost"):
        container = podman(
            "run",
            "-d",
            "--pull=never",
            *CONFINED,
            "--memory=64m",
            "-e",
            f"POSENC_BIND={bind}",
            image,
        )
        try:
            wait_until(
                lambda c=container: podman("healthcheck", "run", c, check=False).returncode
                == 0,
                f"{bind} answers",
            )
            say(f"it listens on {bind}")
        finally:
            podman("rm", "-f", container)


def pack(folder, archive, moment):
    """A folder as a tar file that is the same for the same files."""
    flags = (
        "--sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w,a+X"
    )
    subprocess.run(
        ["tar", "-C", folder, *flags.split(), f"--mtime=@{moment}", "-cf", archive, "."],
        check=True,
    )


def write_release(podman, moment, folder):
    """What a release has of the image: itself in OCI's layout, the programs, and the SBOM."""
    version = subprocess.run(
        ["make", "-s", "version"], check=True, capture_output=True, text=True
    ).stdout.strip()
    name = f"posenc:{version}"
    podman.build(name, moment, "--no-cache", form="oci")
    layout = podman.folder / "layout"
    shutil.rmtree(layout, ignore_errors=True)
    podman("push", name, f"oci:{layout}:{version}")
    pack(layout, folder / f"posenc-image-{version}-amd64.tar", moment)
    for target in ("programs", "sbom"):
        local = podman.folder / target
        shutil.rmtree(local, ignore_errors=True)
        output = ("--target", target, "--output", f"type=local,dest={local}")
        podman.build(name, moment, *output, form="oci")  # of the layers that are there
    pack(podman.folder / "programs", folder / f"posenc-static-{version}-amd64.tar", moment)
    subprocess.run(["gzip", "-9n", folder / f"posenc-static-{version}-amd64.tar"], check=True)
    shutil.copy(podman.folder / "sbom" / "posenc.spdx.json", folder)


def main(build, *release):
    if reason := missing():
        print(f"not built: the image, static programs and SBOM, since {reason}")
        return
    podman = Podman(Path(build).resolve() / "image")
    podman.make_base()
    moment = (
        os.environ.get("SOURCE_DATE_EPOCH")
        or subprocess.run(
            ["git", "log", "-1", "--format=%ct"], check=True, capture_output=True, text=True
        ).stdout.strip()
    )
    if release:
        write_release(podman, moment, Path(release[1]))
        return
    digests = [
        podman.build("posenc:again", moment, *flags, form="oci")
        for flags in ((), ("--no-cache",))
    ]
    say(f"two builds: {digests}")
    assert digests[0] == digests[1]
    podman.build("posenc:static", moment)
    program = check_contents(podman, "posenc:static")
    digest = subprocess.run(
        ["sha256sum", program], check=True, capture_output=True, text=True
    ).stdout.split()[0]
    assert check_sbom(podman, moment) == digest
    measure_start(program)
    check_names(podman, "posenc:static")
    run_sidecar(podman, "posenc:static")
    podman.build("posenc:dynamic", moment, "--target", "dynamic")
    say(
        "with shared libraries: "
        f"{int(podman('image', 'inspect', '--format', '{{.Size}}', 'posenc:dynamic')):,} bytes"
    )
    check_names(podman, "posenc:dynamic")
    say("the image is as it should be")


if __name__ == "__main__":
    os.chdir(ROOT)
    main(*sys.argv[1:])
