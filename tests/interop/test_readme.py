"""The documents: their commands are run, and what they say is held against the server."""

import contextlib
import importlib.util
import io
import json
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs"))

import safetensors_reader  # noqa: E402
from documents import (
    ALL,
    DOCUMENTS,
    FOR_USERS,
    METRICS_REFERENCE,
    README,
    ROOT,
    SECURITY,
    SENTENCE_MAX,
    SETTINGS_REFERENCE,
    TABLE,
    blocks,
    closed,
    rights_table,
    section,  # noqa: E402
    short_sentence,
    table_block,
    with_metrics_table,
    with_rights_table,
    with_scheme_table,
    with_settings_table,
)
from reader import Reader  # noqa: E402
from service import PATIENCE, SERVER, Server, ServiceTest  # noqa: E402

CODE = ROOT / "api" / "guides" / "use-in-code.md"
PICTURE = ROOT / "server" / "visualiser" / "page.png"
TORCH = importlib.util.find_spec("torch") is not None

BYTES_MAX = 50_000_000  # of one answer
LINES_MAX = 150  # of README.md, besides the table of schemes
PICTURE_BYTES_MAX = 200_000
REFUSED = {  # the examples of errors
    "/v1/encodings/sinusoidal?lenght=4&dim=8",
    "/v1/encodings/rope?length=8&dim=5&format=safetensors",
    "/v1/encodings/learned?set=bert-positions&length=1024",
}

# Every file that the examples write: its shape, or those of its tensors. Of a picture its
# pixels, height first.
FILES = {
    "alibi.npy": (12, 256, 256),
    "alibi_last.npy": (12, 1, 256),
    "bert.safetensors": {"table": (512, 768)},
    "changed.npy": (64, 8),
    "distances.npy": (2, 100),
    "extended.npy": (4096, 768),
    "half.npy": (64, 32),
    "interleaved.npy": (64, 32),
    "head.png": (64, 64),
    "llama.safetensors": {"cos": (8192, 128), "sin": (8192, 128), "inv_freq": (64,)},
    "longer.npy": (1024, 768),
    "mae.npy": (197, 768),
    "moved.npy": (64, 32),
    "own.npy": (512, 64),
    "pe.npy": (512, 512),
    "query.npy": (64, 32),
    "turned.npy": (64, 32),
    "qwen.safetensors": {"cos": (2048, 64), "sin": (2048, 64), "inv_freq": (64,)},
    "resized.npy": (288, 768),
    "resumed.npy": (20000, 128),
    "rope.csv": (8, 2),
    "rotated.npy": (512, 512),
    "similarity.png": (400, 400),
    "sinusoidal.csv": (128, 64),
    "sinusoidal.json": {"encoding": (4096, 64)},
    "sinusoidal.png": (512, 256),
    "sinusoidal_4x8_f32.npy": (4, 8),
    "t5.safetensors": {"bias": (12, 512, 512), "bucket": (512, 512)},
    "t5_small.safetensors": {
        **{f"{side}.bucket": (512, 512) for side in ("decoder", "encoder")},
        **{f"{side}.layers": (6,) for side in ("decoder", "encoder")},
    },
    "t5_compact.safetensors": {"bias": (12, 1023), "bucket": (1023,), "distance": (1023,)},
    "tables.safetensors": {
        "bias": (8, 64, 64),
        "rope.cos": (2048, 64),
        "rope.inv_freq": (64,),
        "rope.sin": (2048, 64),
    },
    "gemma.safetensors": {
        "text.layers": (62,),
        "vision.layers": (27,),
        **{
            f"text.{kind}_attention.{tensor}": shape
            for kind in ("full", "sliding")
            for tensor, shape in (("cos", (1024, 64)), ("sin", (1024, 64)), ("inv_freq", (64,)))
        },
    },
    "whisper.npy": (1500, 384),
}

# A comment after a call that prints: what it prints.
PRINTS = re.compile(r"\b(?:print|console\.log)\(.*\S\s+(?:#|//) (.*)$", re.MULTILINE)


def size_of_picture(body):
    """(height, width) as the IHDR chunk has them."""
    if body[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("not a PNG")
    return struct.unpack(">II", body[16:24])[::-1]


def shape_in(path):
    """What FILES says of a file, read from its content."""
    if path.suffix == ".npy":
        return np.load(path).shape
    if path.suffix == ".csv":
        return np.loadtxt(path, delimiter=",").shape
    if path.suffix == ".png":
        return size_of_picture(path.read_bytes())
    if path.suffix == ".json":
        tensors = json.loads(path.read_text(encoding="utf-8"))["tensors"]
        return {tensor["name"]: np.shape(tensor["data"]) for tensor in tensors}
    tensors, _, _ = safetensors_reader.read(path.read_bytes())
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


class Examples(unittest.TestCase):
    """All blocks of all documents, run once, in order, in a folder for each."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        server = Server("--access-log", "--log-format", "json")
        try:
            with Reader(server.url, SERVER, cls.folder) as reader:
                cls.results = [
                    result for path in DOCUMENTS for result in cls.follow(path, reader)
                ]
        finally:
            status = server.stop()
            log = server.read_log()
            server.log.close()
        if status != 0:
            raise AssertionError(f"the server ended with status {status}:\n{log}")
        for reason in sorted(set(reader.skipped)):
            print(f"test_readme: some blocks are not run: {reason}", file=sys.stderr)
        lines = map(json.loads, log.splitlines())
        cls.requests = [line for line in lines if line["message"] == "request"]

    @staticmethod
    def follow(path, reader):
        """(path, block, what it printed) of every block of a document."""
        text = path.read_text(encoding="utf-8")
        reader.new_document(path)
        return [
            (path, block, reader.run(block))
            for block in [*blocks(text), table_block(text)]
            if block.text
        ]

    def test_there_are_examples_in_most_documents(self):
        run = {path for path, _, printed in self.results if printed is not None}
        self.assertIn(README, run)
        self.assertGreater(len(run), 15)
        self.assertGreater(len(self.requests), 50)

    def test_blocks_print_what_the_documents_say(self):
        checked = 0
        for path, block, printed in self.results:
            if printed is None:
                continue
            with self.subTest(path=path.relative_to(ROOT), block=block.text):
                if block.output is not None:
                    self.assertEqual(closed(printed), block.output, "run `make readme`")
                elif said := PRINTS.findall(block.text):
                    self.assertEqual(printed.splitlines(), said)
                else:
                    continue
                checked += 1
        self.assertGreaterEqual(checked, 8)

    def test_files_hold_what_their_requests_ask_for(self):
        paths = list(self.folder.glob("*/*"))
        self.assertEqual({path.name for path in paths}, FILES.keys())
        for path in paths:
            self.assertEqual(shape_in(path), FILES[path.name], path)

    def test_each_file_is_written_by_one_command(self):
        written = [
            (path, name)
            for path, block, _ in self.results
            for line in block.text.splitlines()
            if "-C -" not in line  # which goes on with a file
            for name in re.findall(r" -o (\S+)", line)
        ]
        self.assertGreaterEqual(len(written), 15)
        self.assertEqual(sorted(written), sorted(set(written)))

    def test_no_example_fails(self):
        failed = {line["target"] for line in self.requests if line["status"] >= 400}
        self.assertEqual(failed, REFUSED)

    def test_no_example_fetches_a_large_body(self):
        large = {
            line["target"]: line["bytes"] for line in self.requests if line["bytes"] > BYTES_MAX
        }
        self.assertEqual(large, {})


class Claims(ServiceTest):
    """What the documents say beside their commands."""

    maxDiff = None

    def texts(self):
        return [(path, path.read_text(encoding="utf-8")) for path in FOR_USERS]

    def test_the_table_of_schemes_is_the_registrys(self):
        schemes = json.loads(self.get("/v1/schemes").body)["schemes"]
        text = README.read_text(encoding="utf-8")
        self.assertEqual(text, with_scheme_table(text, schemes), "run `make readme`")
        self.assertEqual(table_block(text).text.count("curl "), len(schemes))

    def test_a_row_of_that_table_has_one_short_sentence(self):
        rows = TABLE.search(README.read_text(encoding="utf-8"))[0].splitlines()[2:]
        said = [row.split(" | ")[1] for row in rows]
        long = [sentence for sentence in said if len(sentence) > SENTENCE_MAX]
        self.assertEqual([one for one in said if re.search(r"[.;] ", one)], [])
        self.assertEqual([one for one in long if re.search(r"[,:] ", one)], [])
        self.assertEqual(
            short_sentence("One, two; three. Four."), "One, two.", "it stops at a semicolon"
        )

    def test_the_table_of_settings_is_that_of_help(self):
        told = self.told()
        text = SETTINGS_REFERENCE.read_text(encoding="utf-8")
        self.assertEqual(text, with_settings_table(text, told), "run `make readme`")
        flags = re.findall(r"(?m)^  --([a-z-]+)", told)
        self.assertGreater(len(flags), 40)
        self.assertEqual(re.findall(r"(?m)^\| `--([a-z-]+)", text), flags)

    def test_the_table_of_metrics_is_that_of_the_server(self):
        told = self.get("/metrics").body.decode()
        text = METRICS_REFERENCE.read_text(encoding="utf-8")
        self.assertEqual(text, with_metrics_table(text, told), "run `make readme`")
        names = re.findall(r"(?m)^# TYPE (\w+) ", told)
        self.assertGreater(len(names), 30)
        self.assertEqual(re.findall(r"(?m)^\| `((?:posenc|process)_\w+)`", text), names)

    def test_the_table_of_rights_is_that_of_the_routes(self):
        openapi = json.loads(self.get("/openapi.json").body)
        text = SECURITY.read_text(encoding="utf-8")
        self.assertEqual(text, with_rights_table(text, openapi), "run `make readme`")
        table = rights_table(openapi)
        for request, right in (
            ("PUT /v1/sets/{name}", "store"),
            ("POST /v1/apply/{scheme}", "tables"),
        ):
            self.assertRegex(table, rf"(?m)^\| `{re.escape(request)}`: .* \| {right} \|$")

    def test_the_files_that_hold_what_security_claims_are_there(self):
        folders = ("tests", "api", "server", "lib", "docker")
        known = {
            path.name
            for folder in folders
            for path in (ROOT / folder).rglob("*.*")
            if "node_modules" not in path.parts
        }
        text = SECURITY.read_text(encoding="utf-8")
        names = re.findall(r"`([\w./-]+\.(?:c|py|js|txt|service))`", text)
        self.assertGreater(len(names), 30)
        for name in names:
            exists = (ROOT / name).exists() if "/" in name else name in known
            self.assertTrue(exists, name)

    def test_curl_fails_where_it_writes_a_file(self):
        """Else a file that should be an array has a problem document in it."""
        written = 0
        for path in ALL:
            text = path.read_text(encoding="utf-8").replace("\\\n", " ")
            for command in re.findall(r"\bcurl -[^|\n`]*", text):
                outside = re.sub(r"'[^']*'|\"[^\"]*\"", "…", command)
                if not re.search(r" -o | -\w*O|>", outside):
                    continue
                written += 1
                with self.subTest(document=path.relative_to(ROOT), command=command):
                    self.assertRegex(outside, r" (-[a-zA-Z]*f[a-zA-Z]*|--fail\S*)(\s|$)")
        self.assertGreater(written, 20)

    def test_readme_is_short(self):
        lines = README.read_text(encoding="utf-8").splitlines()
        own = [line for line in lines if not line.startswith("| [`")]
        self.assertLessEqual(len(own), LINES_MAX)

    def test_the_picture_is_small(self):
        body = PICTURE.read_bytes()
        self.assertLess(len(body), PICTURE_BYTES_MAX)
        self.assertEqual(size_of_picture(body)[1], 1200)

    def test_links_lead_somewhere(self):
        for path in ALL:
            text = path.read_text(encoding="utf-8")
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                with self.subTest(document=path.relative_to(ROOT), target=target):
                    if re.match(r"https?:", target):
                        continue
                    name, _, anchor = target.partition("#")
                    linked = path.parent / name if name else path
                    self.assertTrue(linked.exists())
                    if anchor:
                        self.assertIn(anchor, self.anchors(linked))

    @staticmethod
    def anchors(path):
        headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        return [
            re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings
        ]

    def test_targets_of_make_exist(self):
        rules = "".join(
            (ROOT / name).read_text(encoding="utf-8")
            for name in (
                "Makefile",
                "docker/package.mk",
                "server/module/module.mk",
                "tests/tests.mk",
            )
        )
        for path, text in self.texts():
            for command in re.findall(r"(?:^|`)make ([^`#\n]*)", text, re.MULTILINE):
                for word in command.split():
                    if re.fullmatch(r"[a-z-]+", word):
                        with self.subTest(document=path.relative_to(ROOT), target=word):
                            found = re.search(rf"^{word}:", rules, re.MULTILINE)
                            self.assertTrue(found, "make has no such target")

    @staticmethod
    def told(program=SERVER):
        return subprocess.run(
            [program, "--help"], capture_output=True, text=True, check=True, timeout=PATIENCE
        ).stdout

    def test_settings_exist(self):
        """Of the server, of the command, or of the module for Python."""
        told = self.told() + self.told(str(Path(SERVER).with_name("posenc")))
        told += (ROOT / "api" / "python" / "posenc.py").read_text(encoding="utf-8")
        for path in DOCUMENTS:
            text = path.read_text(encoding="utf-8")
            names = re.findall(r"`(--(?!url-query)[a-z-]+)", text) + re.findall(
                r"POSENC_[A-Z_]+", text
            )
            for name in names:
                with self.subTest(document=path.relative_to(ROOT), setting=name):
                    self.assertRegex(told, rf"{name}\b")

    def test_metrics_exist(self):
        metrics = self.get("/metrics").body.decode()
        names = {
            name for _, text in self.texts() for name in re.findall(r"`(posenc_\w+)`", text)
        }
        self.assertGreaterEqual(len(names), 5)
        for name in names:
            self.assertRegex(metrics, rf"(?m)^# TYPE {name} ", name)

    def test_the_line_of_the_log_is_one_of_the_servers(self):
        text = METRICS_REFERENCE.read_text(encoding="utf-8")
        said = json.loads(re.search(r'^\{"time".*\}$', text, re.MULTILINE)[0])
        log = self.logged(said["target"])
        self.assertEqual(list(log[-1]), list(said))
        for name in (
            "level",
            "message",
            "method",
            "target",
            "route",
            "status",
            "cache",
            "bytes",
        ):
            self.assertEqual(log[-1][name], said[name], name)

    def logged(self, target):
        """The access log's lines of two requests for the target, without a User-Agent."""
        server = Server("--access-log", "--log-format", "json")
        try:
            address = urlsplit(server.url).netloc
            with contextlib.closing(HTTPConnection(address, timeout=PATIENCE)) as connection:
                for _ in range(2):
                    connection.request("GET", target)
                    connection.getresponse().read()
        finally:
            server.stop()
            log = server.read_log()
            server.log.close()
        lines = map(json.loads, log.splitlines())
        return [line for line in lines if line["message"] == "request"]


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


class InAModel(ServiceTest):
    """The lines that bring encodings into a model, checked by other means."""

    def run_blocks(self, count):
        """The names that the first blocks of the section define, and what they print."""
        code = section(CODE, "Attention in numpy and torch")
        self.assertEqual([language for language, _ in code], ["python"] * 4)
        names, printed = {}, io.StringIO()
        text = "\n".join(text for _, text in code[:count])
        with contextlib.redirect_stdout(printed):
            exec(text.replace("http://127.0.0.1:8080", self.server.url), names)
        return names, printed.getvalue()

    def test_a_sinusoidal_table_is_added_to_the_words(self):
        names, _ = self.run_blocks(1)
        angle = np.arange(4)[:, None] * 10000.0 ** (-np.arange(0, 64, 2) / 64)
        table = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(4, 64)
        want = names["words"][names["tokens"]] * 8 + table
        self.assertEqual(names["embedded"].shape, (2, 4, 64))
        np.testing.assert_allclose(names["embedded"], want, atol=1e-6)

    def test_rotated_queries_and_keys_know_their_distance_alone(self):
        names, _ = self.run_blocks(2)
        query, key = (
            names[name][..., :16] + 1j * names[name][..., 16:] for name in ("query", "key")
        )
        turn = np.exp(1j * np.arange(16)[:, None] * 10000.0 ** (-np.arange(0, 32, 2) / 32))
        want = np.einsum("bhid,bhjd,id,jd->bhij", query, key.conj(), turn, turn.conj()).real
        np.testing.assert_allclose(names["scores"], want / 32**0.5, atol=1e-5)
        rotated = names["rotate"](np.broadcast_to(names["query"][:, :, :1], (2, 8, 16, 32)))
        products = rotated @ rotated.swapaxes(-1, -2)
        np.testing.assert_allclose(products[..., 1:, 1:], products[..., :-1, :-1], atol=1e-4)

    def test_biases_are_added_to_the_scores(self):
        names, _ = self.run_blocks(3)
        query, key, value = names["query"], names["key"], names["value"]
        scores = query @ key.swapaxes(-1, -2) / 32**0.5
        distance = np.arange(16)[None, :] - np.arange(16)[:, None]
        bias = 2.0 ** -np.arange(1, 9)[:, None, None] * distance
        want = softmax(np.where(distance > 0, -np.inf, scores + bias)) @ value
        np.testing.assert_allclose(names["causal"], want, atol=1e-9)
        np.testing.assert_allclose(names["last"], want[:, :, -1:], atol=1e-9)
        table = names["fetch"]("learned?length=32&dim=8&seed=1")  # what t5 draws
        bucket = names["fetch"]("t5?length=16&heads=8&tensor=bucket")
        want = softmax(scores + table[bucket].transpose(2, 0, 1)) @ value
        np.testing.assert_allclose(names["bucketed"], want, atol=1e-9)
        want = softmax(scores + names["table"][bucket].transpose(2, 0, 1)) @ value
        np.testing.assert_allclose(names["trained"], want, atol=1e-9)

    @unittest.skipUnless(
        TORCH, "torch is not installed: the modules of use-in-code.md are not run"
    )
    def test_torch_modules_take_the_same_tables(self):
        import torch

        torch.manual_seed(0)
        names, printed = self.run_blocks(4)
        self.assertEqual(printed, "torch.Size([2, 16, 64])\n")
        embedding = names["Embedding"](100, 16, 64)
        tokens = torch.arange(20).view(2, 10)
        added = embedding(tokens) - embedding.words(tokens)
        want = names["fetch"]("sinusoidal?length=10&dim=64")
        np.testing.assert_allclose(added.detach().numpy(), np.stack([want] * 2), atol=1e-6)
        attention = names["Attention"](16, 64, 8)
        x = torch.randn(2, 16, 64)
        before = attention(x).detach().numpy()
        changed = x.clone()
        changed[:, 9:] += 1  # what comes later changes nothing before it
        after = attention(changed).detach().numpy()
        np.testing.assert_array_equal(after[:, :9], before[:, :9])
        self.assertGreater(np.abs(after[:, 9:] - before[:, 9:]).min(), 0)
        self.assertEqual(
            dict(attention.named_parameters()).keys(), {"project.weight", "project.bias"}
        )


if __name__ == "__main__":
    unittest.main()
