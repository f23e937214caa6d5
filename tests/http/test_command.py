"""The command posenc: it answers as a server does, in its own process."""

import contextlib
import json
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import tempfile
import unittest
from array import array
from pathlib import Path

import gguf_file
import stored
from server import (
    BINARY,
    PATIENCE,
    SANITIZER_TEXT,
    Server,
    ServerCase,
    environment_with,
    look_at,
    wait_until,
)

COMMAND = str(Path(BINARY).with_name("posenc"))
MANUAL = Path(__file__).resolve().parents[2] / "docker" / "posenc.1"
NPY, SAFETENSORS = "application/x-npy", "application/vnd.safetensors"
JSON, RAW = "application/json", "application/octet-stream"
CONFIG = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4}


def call(*arguments, body=None, **options):
    """Run the command to its end; its output is bytes."""
    source = {"stdin": subprocess.DEVNULL} if body is None else {"input": body}
    ended = subprocess.run(
        [COMMAND, *arguments],
        **{**source, **options},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        env=environment_with(),
    )
    ended.stderr = ended.stderr.decode()
    if SANITIZER_TEXT.search(ended.stderr):
        raise AssertionError(f"{arguments}: {ended.stderr}")
    return ended


class CommandCase(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def keep(self, name, data):
        """A file in this test's folder."""
        path = self.folder / name
        path.write_bytes(data)
        return str(path)

    def answer(self, *arguments, **options):
        """What the command prints; it must succeed and say nothing else."""
        ended = call(*arguments, **options)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), arguments)
        return ended.stdout

    def same(self, target, *arguments, headers=None):
        """The answer to a GET, which must be that of the server."""
        reply = self.get(target, headers)
        self.assertLess(reply.status, 300, reply)
        self.assertEqual(self.answer(target, *arguments), reply.body, target)
        return reply.body

    def refuse(self, status, *arguments, **options):
        """What the command says on standard error when it ends with a status."""
        ended = call(*arguments, **options)
        self.assertEqual((ended.returncode, ended.stdout), (status, b""), ended)
        self.assertTrue(ended.stderr.startswith("posenc: "), ended.stderr)
        return ended.stderr.removeprefix("posenc: ")


class Answers(CommandCase):
    def test_every_format_and_document_is_that_of_the_server(self):
        table = "/v1/encodings/sinusoidal?length=33&offset=1e6&dim=10"
        for form in ("npy", "raw", "csv", "png", "json&dtype=bf16", "npy&dtype=f64"):
            self.same(f"{table}&format={form}")
        self.same("/v1/similarity/sinusoidal?length=20&dim=8&metric=cosine&format=csv")
        self.same("/v1/models/llama-3.1-8b")
        self.same("/v1/models/gemma-3-27b?length=16&format=safetensors")
        for path in ("schemes", "schemes/rope", "models", "sets"):
            self.same(f"/v1/{path}")
        self.same("/openapi.json")

    def test_header_fields_choose_format_coding_and_range(self):
        target = "/v1/encodings/sinusoidal?length=64&dim=32"
        for field, value in (
            ("Accept", "text/csv"),
            ("Accept-Encoding", "gzip"),
            ("range", "bytes=100-199"),
        ):
            raw = f"{target}&format=raw" if field == "range" else target
            reply = self.get(raw, {field: value})
            self.assertEqual(self.answer(raw, "-H", f"{field}: {value}"), reply.body)
        tag = self.get(target).header("ETag")
        self.assertEqual(self.answer(target, "-H", f"If-None-Match: {tag}"), b"")

    def test_a_whole_url_is_answered_here(self):
        path = "/v1/encodings/rope?length=4&dim=8"
        same = self.same(path)
        for host in ("localhost", "127.0.0.1:8080", "LOCALHOST:1", "[::1]", ""):
            self.assertEqual(self.answer(f"http://{host}{path}"), same, host)
        mine = "https://posenc.example"
        self.assertEqual(self.answer(mine + path, "-H", "Host: posenc.example"), same)
        for host in (mine, f"{mine}:8080", "http://localhost.example", "http://a@localhost"):
            said = self.refuse(2, host + path, "-H", "Host: b.example")
            self.assertIn("nothing is sent to another host", said)
        self.assertIn("begins with a slash", self.refuse(2, "http://localhost"))
        self.assertIn("begins with a slash", self.refuse(2, "v1/schemes"))

    def test_include_writes_the_head_and_whole_problems(self):
        target = "/v1/encodings/rope?length=4&dim=8&format=npy"
        reply = self.get(target)
        head, body = self.answer("-i", target).split(b"\r\n\r\n", 1)
        self.assertEqual(body, reply.body)
        lines = head.decode().split("\r\n")
        self.assertEqual(lines[0], "HTTP/1.1 200 ")
        for name in ("ETag", "Content-Type", "Content-Length", "Tensor-Shape"):
            self.assertIn(f"{name}: {reply.header(name)}", lines)
        wrong = "/v1/encodings/rope?length=4&dim=7"
        ended = call("--include", wrong)
        self.assertEqual((ended.returncode, ended.stderr), (1, ""))
        self.assertEqual(ended.stdout.split(b"\r\n\r\n", 1)[1], self.get(wrong).body)

    def test_head_is_the_head_alone(self):
        target = "/v1/encodings/rope?length=4&dim=8&format=npy"
        printed = self.answer("-X", "HEAD", target).decode()
        self.assertTrue(printed.endswith("\r\n\r\n"), printed)
        self.assertIn(f"Content-Length: {len(self.get(target).body)}\r\n", printed)
        self.assertTrue(self.answer("-X", "HEAD", "/v1/info").endswith(b"\r\n\r\n"))
        self.assertIn("missing", self.refuse(1, "-X", "HEAD", "/v1/encodings/rope?dim=8"))

    def test_output_goes_to_a_file(self):
        path = self.folder / "table.npy"
        target = "/v1/encodings/rope?length=4&dim=8&format=npy"
        self.assertEqual(self.answer(target, "-o", str(path)), b"")
        self.assertEqual(path.read_bytes(), self.get(target).body)
        self.assertEqual(self.answer("--output=-", target), self.get(target).body)
        held = f"If-None-Match: {self.get(target).header('ETag')}"
        self.assertEqual(self.answer(target, "-o", str(path), "-H", held), b"")
        self.assertEqual(path.read_bytes(), self.get(target).body, "304 leaves it alone")

    def test_the_ending_of_the_file_says_what_is_accepted(self):
        table = "/v1/encodings/sinusoidal?length=4&dim=8"
        formats = self.get("/v1/info").json()["formats"]
        forms = [form["name"] for form in formats]
        asked = [(f"x.{form}", table, f"{table}&format={form}") for form in forms]
        asked += [
            ("x", table, table),
            ("x.bin", table, f"{table}&format=raw"),
            ("x.NPY", table, f"{table}&format=npy"),
            ("x.txt", f"{table}&format=csv", f"{table}&format=csv"),
            ("x.json", "/v1/schemes", "/v1/schemes"),
            ("x.safetensors", "/v1/models/gpt2", "/v1/models/gpt2?format=safetensors"),
            ("x.json", "/v1/models/gpt2", "/v1/models/gpt2"),
        ]
        for name, target, same in asked:
            with self.subTest(name, target=target):
                path = self.folder / name
                self.assertEqual(self.answer(target, "-o", str(path)), b"")
                self.assertEqual(path.read_bytes(), self.get(same).body)
        path = self.folder / "given.npy"
        for other, *arguments in (
            (f"{table}&format=csv",),
            (table, "-H", "Accept: text/csv"),
            ("/v1/schemes",),
        ):
            said = self.refuse(2, other, *arguments, "-o", str(path))
            self.assertIn("the ending of the file says application/x-npy", said)
            self.assertFalse(path.exists())
        for unknown in ("x.npz", "x.pt", "x.npy.txt"):
            said = self.refuse(2, table, "-o", str(self.folder / unknown))
            self.assertIn("names no format; use one of .bin, .csv, .json", said)
            self.assertFalse((self.folder / unknown).exists())
        said = self.refuse(1, f"{table}&dtype=bf16", "-o", str(self.folder / "none.npy"))
        self.assertIn("npy has no bf16", said)
        self.assertFalse((self.folder / "none.npy").exists())

    def test_the_file_that_is_read_is_not_replaced(self):
        table = self.get("/v1/encodings/rope?length=4&dim=8&format=npy").body
        path = self.keep("table.npy", table)
        target = "/v1/convert/rope?from=half&to=interleaved&axis=-1"
        with open(path, "rb") as source:
            for name, options in ((path, {}), ("-", {"stdin": source})):
                said = self.refuse(2, target, name, "-o", path, **options)
                self.assertIn("would replace the file that is read", said)
        self.assertEqual(Path(path).read_bytes(), table)

    def test_info_names_the_form_and_the_limits_that_hold(self):
        told, server = json.loads(self.answer("/v1/info")), self.get("/v1/info").json()
        self.assertEqual((told["form"], server["form"]), ("command", "server"))
        limits, served = told["limits"], server["limits"]
        self.assertEqual(limits["max-elements"], served["max-elements"])
        self.assertEqual(limits["max-table-bytes"]["value"], 1 << 40)
        self.assertNotIn("max-connections", limits)
        self.assertLess(set(limits), set(served))


class Posts(CommandCase):
    def setUp(self):
        super().setUp()
        self.table = self.get("/v1/encodings/sinusoidal?length=24&dim=8&format=npy").body
        self.spoilt = self.table[:-4] + struct.pack("<f", 3)

    def same_post(self, target, name, data, media_type, status=0):
        """Send a file by its ending, by its first bytes, and through a pipe."""
        reply = self.server.request("POST", target, {"Content-Type": media_type}, data)
        for source in (self.keep(name, data), self.keep("plain", data), "-"):
            with self.subTest(target=target, source=source):
                ended = call(target, source, **({"body": data} if source == "-" else {}))
                self.assertEqual((ended.returncode, ended.stderr), (status, ""))
                self.assertEqual(ended.stdout, reply.body)
        return reply

    def test_tables_are_identified_and_compared(self):
        self.same_post("/v1/identify", "a.npy", self.table, NPY)
        target = "/v1/compare/sinusoidal?length=24&dim=8"
        self.same_post(target, "a.npy", self.spoilt, NPY)
        file = stored.write({"x": ("F32", [24, 8], self.table[-768:])})
        reply = self.same_post(target, "a.safetensors", file, SAFETENSORS)
        self.assertTrue(reply.json()["equal"])
        raw = f"{target}&dtype=f32"
        self.same_post(raw, "a.bin", self.table[-768:], RAW)
        own = self.server.request("GET", "/v1/encodings/sinusoidal?length=24&dim=8").body
        self.assertEqual(self.same_post("/v1/identify", "a.json", own, JSON).status, 200)
        marked = call("/v1/identify", self.keep("mark.json", b"\xef\xbb\xbf" + own))
        self.assertEqual(json.loads(marked.stdout)["status"], "exact")
        data = json.dumps(json.loads(own)["tensors"][0]["data"]).encode()
        self.assertTrue(self.same_post(target, "b.json", data, JSON).json()["equal"])
        lines = call("/v1/encodings/sinusoidal?length=24&dim=8&format=csv").stdout
        found = json.loads(call(target, self.keep("a.csv", lines)).stdout)
        self.assertEqual((found["equal"], found["file"]["format"]), (True, "csv"))

    def test_a_comparison_beyond_the_tolerance_ends_with_1_and_is_shown(self):
        target = "/v1/compare/sinusoidal?length=24&dim=8&tolerance=1e-3"
        self.assertEqual(self.same_post(target, "a.npy", self.table, NPY).status, 200)
        reply = self.same_post(target, "a.npy", self.spoilt, NPY, status=1)
        self.assertEqual((reply.status, reply.json()["outside_tolerance"]), (409, 1))

    def test_two_models_that_differ_end_with_1(self):
        names = {"first": "llama-3.1-8b", "second": "llama-2-7b"}
        body = json.dumps(names).encode()
        target = "/v1/models/compare?strict=true"
        self.assertEqual(self.same_post(target, "a.json", body, JSON, status=1).status, 409)

    def test_encodings_are_applied_and_pairings_converted(self):
        self.same_post("/v1/apply/rope?length=24&dim=8", "q.npy", self.table, NPY)
        self.same_post(
            "/v1/convert/rope?from=half&to=interleaved&axis=-1", "q.npy", self.table, NPY
        )

    def test_objects_are_posted(self):
        config = json.dumps(CONFIG).encode()
        self.same_post("/v1/models", "config.json", config, JSON)
        self.same_post("/v1/encodings/rope", "a.json", b' {"length": 3, "dim": 4}', JSON)
        requests = [{"name": "r", "scheme": "rope", "length": 4, "dim": 8}]
        batch = json.dumps({"format": "safetensors", "requests": requests}).encode()
        self.same_post("/v1/batch", "a.json", batch, JSON)

    def test_a_header_field_beats_the_ending(self):
        path = self.keep("table.bin", self.table)
        target = "/v1/compare/sinusoidal?length=24&dim=8"
        found = json.loads(self.answer("-H", f"content-type: {NPY}", target, path))
        self.assertTrue(found["equal"])

    def test_long_tables_come_from_files_and_pipes(self):
        made = "/v1/encodings/sinusoidal?length=40000&dim=16&format=npy"
        table, path = self.answer(made), str(self.folder / "long.npy")
        Path(path).write_bytes(table)
        for source, options in (
            (path, {}),
            ("-", {"body": table}),
            ("-", {"stdin": open(path, "rb")}),
        ):
            with contextlib.ExitStack() as closing:
                if "stdin" in options:
                    closing.enter_context(options["stdin"])
                target = "/v1/compare/sinusoidal?length=40000&dim=16&tolerance=0"
                found = json.loads(self.answer(target, source, **options))
            self.assertTrue(found["equal"], source)

    def test_of_a_gguf_file_the_head_is_read(self):
        """A file is far longer than a body may be."""
        pairs = {
            "general.architecture": "llama",
            "llama.context_length": 64,
            "llama.embedding_length": 64,
            "llama.block_count": 2,
            "llama.attention.head_count": 4,
        }
        data = gguf_file.write(pairs) + bytes(9 << 20)
        plan = json.loads(self.answer("/v1/models", self.keep("m.gguf", data)))
        self.assertEqual(plan, json.loads(self.answer("/v1/models", "-", body=data)))
        self.assertEqual(plan["model_type"], "llama")

    def test_a_file_with_tables_may_be_longer_than_a_server_takes(self):
        path = self.keep("long.bin", b"")
        os.truncate(path, 3 << 30)
        said = self.refuse(1, "/v1/compare/sinusoidal?length=24&dim=8", path)
        self.assertNotIn("too large", said)
        self.assertIn("3221225472", said)

    def test_a_body_beyond_the_limit_is_refused(self):
        path = self.keep("long.json", b"[" + b" " * (9 << 20) + b"]")
        self.assertIn("The body is too large", self.refuse(1, "/v1/models", path))


class Alone(unittest.TestCase):
    """It opens no socket, so that nobody reaches it."""

    def test_its_program_asks_for_no_socket(self):
        listed = subprocess.run(
            ["nm", "--dynamic", "--undefined-only", COMMAND], capture_output=True, check=True
        )
        names = {line.split()[-1].partition(b"@")[0] for line in listed.stdout.splitlines()}
        self.assertIn(b"open", {name.removesuffix(b"64") for name in names})
        self.assertEqual(names & {b"socket", b"bind", b"listen", b"accept", b"connect"}, set())

    def test_it_has_no_socket_while_it_computes(self):
        target = "/v1/encodings/sinusoidal?length=4000000&dim=64&format=raw"
        with subprocess.Popen(
            [COMMAND, target], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        ) as process:
            self.assertTrue(process.stdout.read(1))
            opened = look_at(Path(f"/proc/{process.pid}/fd").iterdir(), os.readlink)
            process.kill()
        self.assertTrue(any(name.startswith("pipe:") for name in opened))
        self.assertFalse([name for name in opened if name.startswith("socket:")])


class Stored(CommandCase):
    def setUp(self):
        super().setUp()
        self.sets = ("--data-dir", str(self.folder / "sets"))
        self.file = stored.write({"table": ("F32", [2, 3], array("f", range(6)).tobytes())})
        self.path = self.keep("mine.safetensors", self.file)

    def test_a_set_outlives_the_command_and_is_that_of_a_server(self):
        put = ("-X", "PUT", "/v1/sets/mine")
        described = json.loads(self.answer(*self.sets, *put, self.path))
        self.assertEqual(described["tensors"][0]["shape"], [2, 3])
        self.assertEqual(self.answer(*self.sets, *put, "-", body=self.file), b"")
        target = "/v1/encodings/learned?set=mine&length=2&format=csv"
        printed = self.answer(*self.sets, target)
        self.assertEqual(printed, b"0.0,1.0,2.0\n3.0,4.0,5.0\n")
        self.assertEqual(self.answer(*self.sets, "/v1/sets/mine"), self.file)
        server = Server(*self.sets)
        try:
            self.assertEqual(server.request("GET", target).body, printed)
            self.assertIn("another server is using it", self.refuse(1, *self.sets, target))
        finally:
            server.stop()
        held = "If-None-Match: *"
        self.assertIn("condition", self.refuse(1, *self.sets, *put, self.path, "-H", held))
        self.assertEqual(self.answer(*self.sets, "-X", "DELETE", "/v1/sets/mine"), b"")
        self.assertIn("name of a set", self.refuse(1, *self.sets, target))

    def test_only_an_upload_makes_a_directory(self):
        sets = ("--data-dir", str(self.folder / "typo"))
        for arguments in (("/v1/sets",), ("/v1/info",), ("-X", "DELETE", "/v1/sets/mine")):
            self.assertIn("No such file", self.refuse(2, *sets, *arguments))
            self.assertFalse((self.folder / "typo").exists())
        self.answer(*sets, "-X", "PUT", "/v1/sets/mine", self.path)
        self.assertEqual(self.answer(*sets, "/v1/sets/mine"), self.file)

    def test_without_a_directory_no_set_is_stored(self):
        for arguments in (
            ("-X", "PUT", "/v1/sets/mine", self.path),
            ("-X", "DELETE", "/v1/sets/mine"),
        ):
            self.assertIn("--data-dir", self.refuse(2, *arguments))
        self.assertEqual(json.loads(self.answer("/v1/sets"))["sets"], [])


class Refusals(CommandCase):
    def test_a_problem_is_a_sentence(self):
        for target in (
            "/v1/encodings/rope?length=4&dim=7",
            "/v1/encodings/nothing?length=4",
            "/v1/nothing?",
            "/v1/encodings/rope?length=4&dim=8&format=pdf",
        ):
            problem = self.get(target).json()
            path = self.folder / "none"
            said = self.refuse(1, target, "-o", str(path))
            self.assertEqual(said, f"{problem['title']}: {problem['detail']}\n")
            self.assertFalse(path.exists())

    def test_what_explains_a_problem_is_told(self):
        table = "/v1/encodings/sinusoidal?length=64&dim=32&format=npy"
        path = self.keep("s.npy", self.get(table).body)
        said = self.refuse(1, "/v1/compare/sinusoidal?length=63&dim=32", path)
        self.assertIn("shape must be [63, 32]", said)
        self.assertRegex(said, r"\n  1 row more: .*length=64")

    def test_several_errors_have_a_line_each(self):
        for page in ("/", "/docs", "/assets/page.js"):
            self.assertIn("only posenc-server serves pages", self.refuse(1, page))
        problem = self.get("/v1/encodings/rope").json()
        lines = [f"  {error['message']}" for error in problem["errors"]]
        said = self.refuse(1, "/v1/encodings/rope").splitlines()
        self.assertEqual(said[1:], lines)
        self.assertEqual(len(lines), 2)

    def test_a_target_that_a_shell_has_cut_is_told(self):
        hint = "in a shell, quote the URL"
        self.assertIn(hint, self.refuse(1, "/v1/encodings/rope?length=8"))
        self.assertIn(hint, self.refuse(1, "/v1/compare/rope?length=8"))
        self.assertIn(hint, self.refuse(2, "/v1/encodings/rope?length=8", "dim=4"))
        self.assertNotIn(hint, self.refuse(1, "/v1/encodings/rope?length=8&table=full"))
        self.assertNotIn(hint, self.refuse(1, "/v1/encodings/rope?dim=7&length=8"))

    def test_wrong_arguments_end_with_2(self):
        for arguments, said in (
            ((), "no target"),
            (("--nothing",), "--help lists the options"),
            (("/v1/info", "a", "b"), "at most one file"),
            (("-H", "Accept", "/v1/info"), "a colon"),
            (("-H", "Acept: x", "/v1/info"), "no header field of this name"),
            (("/v1/models", str(self.folder / "absent.json")), "No such file"),
            (("/v1/models", str(self.folder)), "Is a directory"),
            (("-X", "GET", "/v1/models", str(self.folder)), "only a POST or a PUT"),
            (("-X", "DELETE", "/v1/sets/a", "-"), "only a POST or a PUT"),
        ):
            with self.subTest(arguments=arguments):
                ended = call(*arguments)
                self.assertEqual((ended.returncode, ended.stdout), (2, b""), ended)
                self.assertIn(said, ended.stderr)

    def test_what_cannot_be_written_ends_with_1(self):
        target = "/v1/encodings/rope?length=4&dim=8"
        self.assertIn("absent", self.refuse(1, target, "-o", str(self.folder / "absent" / "x")))
        self.assertIn("No space left", self.refuse(1, target, "-o", "/dev/full"))

    def test_the_version_and_the_help(self):
        version = self.get("/v1/info").json()["version"]
        for option in ("--version", "-V"):
            self.assertEqual(self.answer(option).decode(), f"posenc {version}\n")
        told = self.answer("--help").decode()
        self.assertEqual(self.answer("-h").decode(), told)
        for scheme in self.get("/v1/schemes").json()["schemes"]:
            self.assertRegex(told, rf"\b{scheme['name']}\b")
        paths = self.get("/openapi.json").json()["paths"]
        for line in re.findall(r"^  (/\S+ +\S.*)$", told, re.MULTILINE):
            path, methods = line.split(None, 1)
            path = path if path in paths else path.replace("{scheme}", "alibi")
            known = [method.upper() for method in paths[path] if method != "parameters"]
            self.assertEqual(sorted(methods.split(", ")), sorted(known), path)


class Terminals(CommandCase):
    def on_terminal(self, *arguments):
        """Status, and what a terminal shows."""
        main, side = pty.openpty()
        try:
            process = subprocess.Popen(
                [COMMAND, *arguments], stdin=side, stdout=side, stderr=side
            )
            os.close(side)
            shown = b""
            with contextlib.suppress(OSError):  # the other side is closed
                while data := os.read(main, 1 << 16):
                    shown += data
            return process.wait(PATIENCE), shown
        finally:
            os.close(main)

    def test_binary_is_not_written_to_a_terminal(self):
        target = "/v1/encodings/rope?length=4&dim=8&format=npy"
        status, shown = self.on_terminal(target)
        self.assertEqual(status, 2)
        self.assertIn(b"-o -", shown)
        self.assertNotIn(b"NUMPY", shown)
        self.assertIn(b"NUMPY", self.on_terminal(target, "-o", "-")[1])
        self.assertIn(b'"cos"', self.on_terminal("/v1/encodings/rope?length=4&dim=8")[1])


class Measured(CommandCase):
    def test_it_is_ready_in_10_ms(self):
        """Of a processor: what others do on the machine does not count."""
        used = []
        for _ in range(10):
            process = subprocess.Popen(
                [COMMAND, "/v1/encodings/rope?length=8&dim=4&format=npy"],
                stdout=subprocess.DEVNULL,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            used.append(usage.ru_utime + usage.ru_stime)
        self.assertLess(min(used), 0.01)

    def test_a_long_table_takes_little_memory(self):
        rows = 1 << 17
        target = f"/v1/encodings/sinusoidal?length={rows}&dim=1024&format=raw"
        with subprocess.Popen([COMMAND, target], stdout=subprocess.PIPE) as process:
            size = 0
            while data := process.stdout.read(1 << 20):
                size += len(data)
                if size == rows * 2048:  # half of it
                    told = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
            process.wait(PATIENCE)
        self.assertEqual((process.returncode, size), (0, rows * 4096))
        self.assertLess(int(re.search(r"VmHWM:\s+(\d+) kB", told)[1]), 32 << 10)


class Streams(CommandCase):
    def test_a_reader_that_has_enough_ends_it_quietly(self):
        endless = "/v1/encodings/sinusoidal?length=6e7&dim=1024&format=raw"
        command = [COMMAND, endless]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            self.assertEqual(len(process.stdout.read(4096)), 4096)
            process.stdout.close()
            self.assertEqual(process.wait(PATIENCE), -signal.SIGPIPE)
            self.assertEqual(process.stderr.read(), b"")

    def test_an_interrupt_ends_it_and_removes_the_file(self):
        endless = "/v1/encodings/sinusoidal?length=1e9&dim=64&format=raw"
        path = self.folder / "table"
        process = subprocess.Popen(
            [COMMAND, endless, "-o", str(path)],
            # a shell without job control ignores interrupts for what runs in its background
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        wait_until(lambda: path.exists() and path.stat().st_size > 0, "it is written")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), -signal.SIGINT)
        self.assertFalse(path.exists())


class Manual(CommandCase):
    def test_the_examples_of_the_manual_run(self):
        examples = MANUAL.read_text(encoding="utf-8").split(".SH EXAMPLES\n")[1]
        blocks = re.findall(r"^\.nf\n(.*?)^\.fi$", examples, re.MULTILINE | re.DOTALL)
        script = "".join(blocks).replace("\\-", "-").replace("\\(aq", "'")
        self.assertEqual(script.count("posenc "), 12)
        tensors = {"table": ("F32", [16, 8], array("f", range(128)).tobytes())}
        self.keep("trained.safetensors", stored.write(tensors))
        script = re.sub(r"^posenc ", f"{shlex.quote(COMMAND)} ", script, flags=re.MULTILINE)
        ended = subprocess.run(
            ["bash", "-euc", script],
            cwd=self.folder,
            capture_output=True,
            timeout=PATIENCE,
            text=True,
            check=False,
        )
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), script)
        written = {path.name for path in self.folder.iterdir()}
        self.assertLess({"rope.safetensors", "table.npy", "expected.npy", "sets"}, written)
        self.assertIn('"status": "exact"', ended.stdout)


if __name__ == "__main__":
    unittest.main()
