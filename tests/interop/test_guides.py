"""The guides and references: what a reader searches is in a heading, none is long, and the
messages of troubleshooting.md are those of the programs."""

import json
import re
import subprocess
import sys
import unittest
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs"))

from documents import FOR_USERS, ROOT  # noqa: E402
from service import PATIENCE, SERVER, ServiceTest  # noqa: E402

INDEX = ROOT / "api" / "README.md"
TROUBLESHOOTING = ROOT / "api" / "guides" / "troubleshooting.md"
LINES_MAX = 400
QUESTIONS_MIN = 30

# What people search for; each is in a heading.
SEARCHED = (
    "positions",
    "windows",
    "many tables",
    "large tables",
    "downloads",
    "numpy",
    "torch",
    "JAX",
    "JavaScript",
    "C program",
    "attention",
    "config",
    "GGUF",
    "compare two models",
    "longer than",
    "what made a table",
    "tolerance",
    "bfloat16",
    "kernel",
    "packed sequences",
    "interleaved",
    "LoRA",
    "trained tables",
    "YaRN",
    "NTK",
    "ALiBi",
    "RoPE",
    "checksums",
    "stability",
    "ETag",
    "CORS",
    "CSV",
    "PNG",
    "errors",
    "statuses",
    "limits",
    "memory",
    "health",
    "draining",
    "keys and access",
    "PostgreSQL",
    "metrics",
    "log",
    "Unix socket",
    "settings",
    "notebook",
    "iframe",
    "WebAssembly",
    "without a server",
    "continuous integration",
    "exit status",
    "Debian",
    "systemd",
    "Kubernetes",
    "seeded",
    "messages",
)

JSON = {"Content-Type": "application/json"}
NPY = {"Content-Type": "application/x-npy"}
TABLE = np.zeros((64, 16), "f4")
HEADS = np.zeros((2, 8, 8, 128), "f4")

# What provokes a message of the document: target, body and head. `…` stands for what differs.
REQUESTS = {
    "in a shell, quote the URL, since & ends a command": ("/v1/encodings/rope?length=4",),
    'unknown parameter "base"; did you mean "rope_theta"': (
        "/v1/encodings/rope?length=4&dim=8&base=500000",
    ),
    'there is no scheme "…"': ("/v1/encodings/sines?length=4",),
    "nothing is served at this path": ("/rope?length=4",),
    "+ in a query string means a blank": ("/v1/encodings/integer?length=4&offset=1e+9",),
    "Content-Type must be application/json": (
        "/v1/encodings/integer",
        b'{"length": 4}',
        {"Content-Type": "application/x-www-form-urlencoded"},
    ),
    "dim must be an even number": ("/v1/encodings/sinusoidal?length=4&dim=7",),
    "rope_scaling.factor must be given": (
        "/v1/models",
        b'{"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, '
        b'"rope_scaling": {"type": "yarn"}}',
        JSON,
    ),
    "application/json carries at most 16777216 elements": (
        "/v1/encodings/rope?length=4000000&dim=128",
    ),
    "all tensors together have at most 68719476736 elements": (
        "/v1/encodings/alibi?length=200000&heads=32&format=npy",
    ),
    "such that computing takes at most 100000000000 multiply-adds": (
        "/v1/encodings/fire?length=20000&heads=32&hidden=4096&format=npy",
    ),
    "slice must be an index of the leading axis": (
        "/v1/encodings/alibi?length=64&heads=8&format=png",
    ),
    "What came is a form, as curl sends it without -H": (
        "/v1/compare/rope?length=64&dim=32&tensor=cos",
        TABLE,
        {"Content-Type": "application/x-www-form-urlencoded"},
    ),
    r"the body must be an npy file, which begins with \x93NUMPY": (
        "/v1/identify",
        b"PK",
        NPY,
    ),
    'missing parameter "tensor": rope needs one of cos, sin, inv_freq': (
        "/v1/compare/rope?length=64&dim=32",
        TABLE,
        NPY,
    ),
    "shape must be [32, 16], as the tensor cos of this request": (
        "/v1/compare/rope?length=32&dim=32&tensor=cos",
        TABLE,
        NPY,
    ),
    "shape must be given with raw elements": (
        "/v1/identify",
        b"0123",
        {"Content-Type": "application/octet-stream"},
    ),
    "axes must be given, as two axes of query have 8 entries": (
        "/v1/apply/rope?length=8&dim=128",
        HEADS,
        NPY,
    ),
    'missing parameter "heads"': ("/v1/convert/rope?from=half&to=interleaved", TABLE, NPY),
    'no model is known as "…"': ("/v1/models/llama-9b",),
    "model_type must be one that GET /v1/models lists": (
        "/v1/models",
        b'{"model_type": "nonesuch"}',
        JSON,
    ),
    "this seems to be a tokenizer's tokenizer_config.json": (
        "/v1/models",
        b'{"tokenizer_class": "X"}',
        JSON,
    ),
    "set must be the name of a set": ("/v1/encodings/learned?set=nonesuch&length=4",),
    "every position is below 512, the number of rows of the table": (
        "/v1/encodings/learned?length=600&base_length=512&dim=8",
    ),
    "/v1/sets is only open to local clients": (
        "/v1/sets",
        None,
        {"X-Forwarded-For": "192.0.2.1"},
    ),
    "/v1/sets is only open under loopback names": ("/v1/sets", None, {"Host": "example"}),
}
# What test_deadlines.py, test_overload.py, test_full_disk.py, test_stop.py and the package's
# tests provoke.
ELSEWHERE = {
    "the worker … could not be loaded",
    "deadline_exceeded",
    "503 with `Retry-After`",
    "507",
    "a download that ends early",
}


def headings():
    return [
        heading
        for path in FOR_USERS
        for heading in re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]


class Guides(unittest.TestCase):
    def test_what_is_searched_is_in_a_heading(self):
        every = "\n".join(headings()).lower()
        self.assertEqual([word for word in SEARCHED if word.lower() not in every], [])

    def test_no_document_is_long(self):
        for path in FOR_USERS:
            with self.subTest(path.relative_to(ROOT)):
                lines = path.read_text(encoding="utf-8").splitlines()
                self.assertLessEqual(len(lines), LINES_MAX)

    def test_every_document_is_reached_from_the_index(self):
        text = INDEX.read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^)#\s]+)", text)
        linked = {(INDEX.parent / link).resolve() for link in links}
        folders = [ROOT / "api" / "guides", ROOT / "api" / "reference"]
        documents = {path for path in FOR_USERS if path.parent in folders}
        self.assertGreater(len(documents), 20)
        self.assertEqual(documents - linked, set())

    def test_the_names_that_developers_read_are_in_the_code(self):
        sources = (ROOT / folder for folder in ("lib", "api", "server", "tests"))
        known = set()
        for path in (path for folder in sources for path in folder.rglob("*.*")):
            if path.suffix in (".c", ".h", ".def", ".py") and "node_modules" not in path.parts:
                known |= set(re.findall(r"[a-z]\w+", path.read_text(errors="replace")))
        for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
            text = (ROOT / name).read_text(encoding="utf-8")
            named = set(re.findall(r"`((?!ret_)[a-z][a-z0-9]*(?:_[a-z0-9]+)+)`", text))
            self.assertGreater(len(named), 20, name)
            self.assertEqual(named - known, set(), name)

    def test_the_index_answers_thirty_questions(self):
        text = INDEX.read_text(encoding="utf-8").split("## Where is it answered?\n")[1]
        self.assertGreaterEqual(len(re.findall(r"^\| .*\]\(", text, re.M)), QUESTIONS_MIN)


class OnePage(unittest.TestCase):
    """The documents as one page of HTML."""

    SCRIPT = str(ROOT / "server" / "visualiser" / "documents.sh")

    def written(self, *arguments):
        return subprocess.run(
            ["sh", self.SCRIPT, *arguments], capture_output=True, text=True, check=True
        ).stdout

    def test_no_document_is_left_out(self):
        listed = [ROOT / name for name in self.written("--list").split()]
        self.assertEqual(set(listed), {*FOR_USERS} - {ROOT / "tests" / "README.md"})

    def test_every_link_leads_to_a_heading(self):
        page = self.written()
        places = re.findall(r' id="([^"]+)"', page)
        self.assertEqual(len(places), len(set(places)))
        links = re.findall(r'href="#([^"]+)"', page)
        self.assertGreater(len(links), 150)
        self.assertEqual(set(links) - set(places), set())
        self.assertEqual(
            re.findall(r".*(?:\]\(|`|\*\*).*", re.sub(r"(?s)<pre>.*?</pre>", "", page)), []
        )

    def test_it_is_well_formed(self):
        """Each element that must be closed is, in its order."""
        open_elements = []
        for closing, name in re.findall(r"<(/?)(h\d|pre|ul|table|code|a|b)\b", self.written()):
            if not closing:
                open_elements.append(name)
            else:
                self.assertEqual(open_elements.pop(), name)
        self.assertEqual(open_elements, [])


def npy(array):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {array.shape}, }}".encode()
    head = head.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + array.tobytes()


class Messages(ServiceTest):
    """Every message of troubleshooting.md is provoked here."""

    def said(self):
        text = TROUBLESHOOTING.read_text(encoding="utf-8")
        rows = re.findall(r"^\| (.*?) \| .* \|$", text, re.MULTILINE)
        return [row for row in rows if row not in ("message", "---")]

    def test_every_message_has_what_provokes_it(self):
        said = [row.strip("`") if row.count("`") == 2 else row for row in self.said()]
        programs = {"Address already in use; choose another port", "unknown argument --…"}
        clients = {"`Connection refused`, `Failed to connect`"}
        known = {*REQUESTS, *programs, *clients}
        other = {row for row in said if row not in known}
        self.assertEqual(
            {row.strip("`") for row in other}, {row.strip("`") for row in ELSEWHERE}
        )
        self.assertGreaterEqual(len(said), 20)
        self.assertEqual(set(known) - set(said), set())

    def test_requests_are_answered_so(self):
        address = urlsplit(self.server.url).netloc
        for message, (target, *rest) in REQUESTS.items():
            body, fields = [*rest, None, {}][:2] if rest else (None, {})
            body = npy(body) if isinstance(body, np.ndarray) else body
            with self.subTest(message):
                connection = HTTPConnection(address, timeout=PATIENCE)
                connection.request("POST" if body else "GET", target, body, fields or {})
                problem = json.load(connection.getresponse())
                connection.close()
                pattern = ".*".join(map(re.escape, message.split("…")))
                self.assertRegex(problem["detail"], pattern)

    def test_programs_say_so(self):
        port = urlsplit(self.server.url).port
        for flags, message in (
            (["--port", str(port)], "Address already in use; choose another port"),
            (["--nonesuch", "1"], "unknown argument --nonesuch"),
        ):
            ended = subprocess.run(
                [SERVER, *flags], capture_output=True, text=True, timeout=PATIENCE, check=False
            )
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn(message, ended.stderr)


if __name__ == "__main__":
    unittest.main()
