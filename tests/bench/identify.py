"""What identifying and comparing cost: seconds, the share of each stage, and memory.
`make cost` runs it:

    identify.py SERVER [GIB]

Shares are of samples that `perf` takes, if it is installed. GIB: a table of so many GiB is
compared, too, as it is made here."""

import http.client
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).parent.parent / "http"))

from server import Server  # noqa: E402
from library_tables import hugging_face, in_float64  # noqa: E402
from test_compare import npy  # noqa: E402

NPY = {"Content-Type": "application/x-npy"}
# a function that stands in a sample's stack, and the stage that it is
STAGES = {
    "pe_find_equivalents": "what else makes it",
    "pe_computation_find": "float32 recipes",
    "pe_count_misfits": "bounds of every entry",
    "pe_compare_table": "comparing every entry",
    "pe_check_sampled_lines": "looking at rows",
    "pe_observation_begin": "reading rows",
    "pe_observation_waves": "measuring waves",
    "pe_identify_table": "proposing",
    "api_post_identify": "reading and answering",
}


def made(server, target):
    return server.request("GET", f"/v1/encodings/{target}&format=npy").body


def cases(server):
    noise = numpy.random.default_rng(0)
    for rows, columns, target, recipe in (
        (
            131072,
            128,
            "rope?length=131072&dim=128&table=full&tensor=cos",
            lambda: hugging_face(131072, 128),
        ),
        (4096, 1024, "sinusoidal?length=4096&dim=1024", lambda: in_float64(4096, 1024, "f4")),
    ):
        size = f"{rows}x{columns}"
        yield f"{size}, exact", made(server, target)
        yield f"{size}, as libraries compute it", npy(recipe())
        yield f"{size}, noise", npy(noise.normal(size=(rows, columns)).astype("f4"))


def memory(server, name):
    line = next(
        line
        for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
        if line.startswith(name)
    )
    return int(line.split()[1]) / 1024


class Sampling:
    """Samples of a server's stacks, if there is perf."""

    def __init__(self, server, folder):
        self.file, self.process = f"{folder}/perf.data", None
        if shutil.which("perf"):
            self.process = subprocess.Popen(
                [
                    "perf",
                    "record",
                    "-q",
                    "-F",
                    "199",
                    "--call-graph",
                    "dwarf,32768",
                    "-o",
                    self.file,
                    "-p",
                    str(server.process.pid),
                ],
                stderr=subprocess.DEVNULL,
            )
            time.sleep(0.5)

    def shares(self):
        """{stage: its share of the samples}."""
        if not self.process:
            return {}
        self.process.terminate()
        self.process.wait()
        text = subprocess.run(
            ["perf", "script", "-i", self.file, "-F", "comm,ip,sym"],
            capture_output=True,
            text=True,
        ).stdout
        counts = Counter(
            next((stage for name, stage in STAGES.items() if name in sample), None)
            for sample in text.split("\n\n")
        )
        counts.pop(None, None)  # the network
        return {stage: count / max(1, counts.total()) for stage, count in counts.most_common()}


def identify(program):
    with tempfile.TemporaryDirectory() as folder:
        maker = Server(binary=program)
        for name, body in cases(maker):
            server = Server(binary=program)
            began = time.monotonic()
            said = server.request("POST", "/v1/identify", NPY, body).json()
            seconds = time.monotonic() - began
            peak = memory(server, "VmHWM")
            sampling = Sampling(server, folder)
            server.request("POST", "/v1/identify", NPY, body)
            shares = ", ".join(
                f"{stage} {share:.0%}"
                for stage, share in sampling.shares().items()
                if share >= 0.01
            )
            print(
                f"{name}: {said['status']} in {seconds:.2f} s, of {said['proposed']} proposals "
                f"{said['compared']} compared; peak {peak:.0f} MiB; {shares}",
                flush=True,
            )
            server.stop()
        maker.stop()


def compare(program, gib):
    """A table of `gib` GiB of the scheme integer, made here piece by piece."""
    count, piece = gib << 28, 1 << 22

    def pieces():
        for first in range(0, count, piece):
            yield numpy.arange(first, first + piece).astype("f4").tobytes()

    server = Server(
        "--max-table-bytes", str(gib << 30), "--compute-seconds", "600", binary=program
    )
    before = memory(server, "VmRSS")
    connection = http.client.HTTPConnection(*server.address[:2], timeout=900)
    began = time.monotonic()
    connection.request(
        "POST",
        f"/v1/compare/integer?length={count}",
        pieces(),
        {"Content-Type": "application/octet-stream", "Content-Length": str(4 * count)},
    )
    reply = connection.getresponse()
    text = reply.read().decode()
    print(
        f"{gib} GiB compared: status {reply.status} in {time.monotonic() - began:.0f} s, "
        f"memory {before:.0f} MiB before, {memory(server, 'VmHWM'):.0f} MiB at the peak; "
        + " ".join(text.split())[:220]
    )
    server.stop()


if __name__ == "__main__":
    identify(sys.argv[1])
    if len(sys.argv) > 2 and int(sys.argv[2]) > 0:
        compare(sys.argv[1], int(sys.argv[2]))
