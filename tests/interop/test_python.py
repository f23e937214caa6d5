"""api/python/posenc.py: the same arrays from a server, over a Unix socket, and from the
command."""

import importlib.util
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "api" / "python"))

import posenc  # noqa: E402
from service import SERVER, Server  # noqa: E402

COMMAND = str(Path(SERVER).with_name("posenc"))
CONFIG = {
    **{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4},
    **{"num_hidden_layers": 2, "rope_theta": 500000.0, "max_position_embeddings": 32},
}
TORCH = importlib.util.find_spec("torch") is not None


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def raises(self, kind, status, call, *arguments, **parameters):
        """The problem that a call raises."""
        with self.assertRaises(kind) as caught:
            call(*arguments, **parameters)
        self.assertEqual(caught.exception.status, status)
        self.assertEqual(caught.exception.document["status"], status)
        return caught.exception


class Calls:
    """What holds for every way to ask; `service` is the one that is asked."""

    def test_tables_come_by_name(self):
        tables = self.service.get("rope", length=8, dim=4)
        self.assertEqual(list(tables), ["cos", "sin", "inv_freq"])
        self.assertEqual((tables.cos.shape, tables["cos"].dtype), ((8, 2), np.float32))
        angles = np.outer(np.arange(8), [1, 0.01])
        np.testing.assert_allclose(tables.sin, np.sin(angles), atol=1e-7)
        self.assertEqual(tables.metadata["scheme"], "rope")
        tables.cos[0] = 0  # they belong to the caller
        self.assertEqual(pickle.loads(pickle.dumps(tables)).keys(), tables.keys())
        with self.assertRaisesRegex(AttributeError, "cos, sin, inv_freq"):
            tables.tan  # noqa: B018

    def test_requests_have_fields(self):
        target = "/v1/encodings/rope?length=8&dim=4&format=raw"
        part = self.service.request("GET", target, fields={"Range": "bytes=4-11"})
        self.assertEqual((part.status, len(part.body)), (206, 8))

    def test_every_dtype_has_its_names(self):
        exact = self.service.get("sinusoidal", length=9, dim=8, dtype=float).encoding
        self.assertEqual(exact.dtype, np.float64)
        for dtype in ("f16", "float16", np.float16, np.dtype("f2")):
            half = self.service.get("sinusoidal", length=9, dim=8, dtype=dtype).encoding
            np.testing.assert_array_equal(half, exact.astype("f2"))
        brain = self.service.get("sinusoidal", length=9, dim=8, dtype="bfloat16").encoding
        self.assertEqual(brain.dtype, np.float32)
        self.assertFalse((brain.view("u4") & 0xFFFF).any())
        np.testing.assert_allclose(brain, exact, rtol=2**-8)

    def test_lists_may_be_written_in_any_way(self):
        want = self.service.get("sinusoidal", length=3, dim=4).encoding
        for positions in ([0, 1, 2], (0, 1.0, 2), range(3), np.arange(3), np.arange(3.0)):
            found = self.service.get("sinusoidal", positions=positions, dim=4).encoding
            np.testing.assert_array_equal(found, want)
        same = self.service.get(
            "sinusoidal", length=np.int64(3), dim=4, zero_first_row=False, positions=None
        )
        np.testing.assert_array_equal(same.encoding, want)

    def test_long_lists_are_sent_as_json(self):
        positions = np.arange(0, 40000, 4)
        found = self.service.get("sinusoidal", positions=positions, dim=4).encoding
        want = self.service.get("sinusoidal", length=10000, step=4, dim=4).encoding
        np.testing.assert_array_equal(found, want)

    def test_similarities_and_documents(self):
        found = self.service.similarity("sinusoidal", length=5, dim=8, metric="cosine")
        (matrix,) = found.values()
        self.assertEqual(matrix.shape, (5, 5))
        np.testing.assert_allclose(np.diag(matrix), 1)
        self.assertEqual(self.service.document("/v1/schemes/rope")["name"], "rope")
        with self.assertRaises(TypeError):
            self.service.get("rope", length=5, dim=8, format="npy")

    def test_models_by_config_file_and_name(self):
        path = self.folder / "config.json"
        path.write_text(json.dumps(CONFIG), encoding="utf-8")
        known = mock.Mock(to_dict=lambda: {**CONFIG, "torch_dtype": np.float32})
        for config in (CONFIG, path, str(path), known):
            tables = self.service.model(config)
            self.assertEqual(tables["text.cos"].shape, (32, 8))
            self.assertEqual(tables["text.layers"].tolist(), [0, 0])
        self.assertEqual(self.service.plan(CONFIG)["model_type"], "llama")
        tables = self.service.model("meta-llama/Llama-3.1-8B", length=4, dtype="float64")
        self.assertEqual(tables["text.sin"].dtype, np.float64)

    def test_tables_are_identified(self):
        table = self.service.get("sinusoidal", length=64, dim=8, offset=7).encoding
        for form in (table, np.asfortranarray(table), table.astype(">f4")):
            found = self.service.identify(form)
            self.assertEqual(found["status"], "exact")
            self.assertIn("offset=7", found["request"]["url"])

    def test_tables_are_compared(self):
        table = self.service.get("rope", length=64, dim=8).cos
        options = {"length": 64, "dim": 8, "tensor": "cos", "tolerance": 1e-6}
        found = self.service.compare(table, "rope", **options)
        self.assertEqual((found["equal"], found["within_tolerance"]), (True, True))
        table[3, 1] += 1
        found = self.service.compare(table, "rope", **options)
        self.assertEqual((found["outside_tolerance"], found["max_abs"]["at"]), (1, [3, 1]))

    def test_encodings_are_applied(self):
        query = np.random.default_rng(0).standard_normal((3, 16, 8)).astype("f4")
        tables = self.service.get("rope", length=16, dim=8, table="full", dtype=float)
        half = np.concatenate([-query[..., 4:], query[..., :4]], -1)
        want = query * tables.cos + half * tables.sin
        found = self.service.apply(query, "rope", length=16, dim=8)
        self.assertEqual(found.dtype, np.float32)
        np.testing.assert_allclose(found, want, atol=1e-6)
        heads = np.ones((2, 16, 128), "f4")
        of_a_model = self.service.apply(heads, model="llama-3-8b", length=16)
        options = {"length": 16, "dim": 128, "rope_theta": 500000}
        np.testing.assert_array_equal(of_a_model, self.service.apply(heads, "rope", **options))
        both = self.service.apply({"query": query, "key": query}, "rope", length=16, dim=8)
        np.testing.assert_array_equal(both.key, found)
        given = {"query": query, "mine": found}
        judged = self.service.apply(given, "rope", length=16, dim=8, against="mine")
        self.assertTrue(judged["equal"])

    def test_encodings_of_a_model_are_applied(self):
        query = np.random.default_rng(1).standard_normal((2, 5, 16)).astype("f4")
        want = self.service.apply(query, "rope", length=5, dim=16, rope_theta=500000)
        path = self.folder / "applied.json"
        path.write_text(json.dumps(CONFIG), encoding="utf-8")
        for model in (CONFIG, path, mock.Mock(to_dict=lambda: CONFIG)):
            np.testing.assert_array_equal(
                self.service.apply(query, model=model, length=5), want
            )
            both = self.service.apply({"query": query, "key": query}, model=model, length=5)
            np.testing.assert_array_equal(both.key, want)
        wide = np.zeros((5, 128), "f4")
        self.assertEqual(
            self.service.apply(wide, model="llama-3.1-8b", length=5).shape, wide.shape
        )
        for given in ({}, {"scheme": "rope", "model": "llama-3.1-8b"}):
            with self.assertRaisesRegex(TypeError, "a scheme or a model"):
                self.service.apply(query, length=5, **given)

    def test_a_comparison_says_what_is_wrong(self):
        options = {"length": 64, "dim": 8}
        table = self.service.get("rope", rope_theta=1e6, **options).cos
        found = self.service.compare(table, "rope", tensor="cos", **options)
        self.assertEqual(found.text, found["explanation"]["sentence"])
        self.assertIn("rope_theta=1000000", found.text)
        query = np.random.default_rng(2).standard_normal((64, 8)).astype("f4")
        right = self.service.apply(query, "rope", **options)
        wrong = right.copy()
        wrong[3, 1] += 1
        given = {"query": query, "key": query, "wrong": wrong, "right": right}
        judged = self.service.apply(given, "rope", against=["wrong", "right"], **options)
        first, second = judged.text.splitlines()
        self.assertRegex(first, r"\Awrong: 1 of 512 entries differ, by at most .* at \[3, 1\]")
        self.assertEqual(second, "right: Every entry is the exact one.")
        given = {"query": query, "wrong": wrong}
        judged = self.service.apply(given, "rope", against="wrong", **options)
        self.assertEqual(first, f"wrong: {judged.text}")
        said = posenc.Comparison({**judged, "explanation": {"sentence": "Turned back."}})
        self.assertEqual(said.text, "Turned back.")

    def test_pairings_are_converted(self):
        weight = np.arange(64 * 3, dtype="f4").reshape(64, 3)
        want = weight.reshape(4, 2, 8, 3).swapaxes(1, 2).reshape(64, 3)
        path = self.folder / "converted.json"
        path.write_text(json.dumps(CONFIG), encoding="utf-8")
        for given in (
            {"from_": "half", "heads": 4},
            {"config": CONFIG},
            {"config": path},
            {"config": str(path)},
        ):
            found = self.service.convert(weight, "interleaved", **given)
            np.testing.assert_array_equal(found, want)
            tensors = {"l.q_proj.lora_B.weight": weight, "l.v_proj.weight": weight}
            found = self.service.convert(tensors, "interleaved", **given)
            np.testing.assert_array_equal(found["l.q_proj.lora_B.weight"], want)
            np.testing.assert_array_equal(found["l.v_proj.weight"], weight)
            back = self.service.convert(found, "half", **{**given, "from_": "interleaved"})
            np.testing.assert_array_equal(back["l.q_proj.lora_B.weight"], weight)
        key = {"k_proj.weight": np.zeros((1024, 1), "f2")}
        for name in ("model", "config"):
            found = self.service.convert(key, "interleaved", **{name: "llama-3.1-8b"})
            self.assertEqual(found["k_proj.weight"].dtype, np.float16)
        other = {"l.o_proj.weight": weight}
        problem = self.raises(
            posenc.Refused, 422, self.service.convert, other, "half", "interleaved", heads=4
        )
        self.assertIn("l.o_proj.weight", str(problem))
        kept = self.service.convert(other, "half", "interleaved", heads=4, none="allow")
        np.testing.assert_array_equal(kept["l.o_proj.weight"], weight)
        named = {"heads": 4, "tensors": ["l.o_proj.weight", "l.x"]}
        found = self.service.convert(other, "interleaved", "half", **named)
        np.testing.assert_array_equal(found["l.o_proj.weight"], want)

    def test_batches_come_by_name(self):
        requests = {
            "rope": {"scheme": "rope", "length": 4, "dim": 8, "dtype": float},
            "bias": {"scheme": "alibi", "length": 4, "heads": 2, "tensor": "bias"},
            "own": {"scheme": "sinusoidal", "positions": np.arange(3), "dim": 4, "base": None},
        }
        found = self.service.batch(requests)
        self.assertEqual(
            sorted(found), ["bias", "own", "rope.cos", "rope.inv_freq", "rope.sin"]
        )
        self.assertEqual((found["rope.cos"].dtype, found.own.shape), (np.float64, (3, 4)))
        with self.assertRaisesRegex(TypeError, "under which it is given"):
            self.service.batch({"a": {"scheme": "integer", "length": 4, "name": "b"}})
        wrong = {**requests, "bad": {"scheme": "rope", "length": 4, "dim": 7}}
        problem = self.raises(posenc.Refused, 422, self.service.batch, wrong)
        self.assertEqual(problem.errors[0]["name"], "bad")

    def test_models_are_compared(self):
        path = self.folder / "compared.json"
        path.write_text(json.dumps({**CONFIG, "rope_theta": 10000.0}), encoding="utf-8")
        self.assertTrue(self.service.compare_models(CONFIG, dict(CONFIG))["equal"])
        for second in (path, str(path)):
            found = self.service.compare_models(CONFIG, second, length=8)
            self.assertIn("rope_theta", [each["about"] for each in found["differences"]])
            found = self.service.compare_models(CONFIG, second, strict=True)
            self.assertFalse(found["equal"])
        self.assertFalse(self.service.compare_models("llama-3.1-8b", CONFIG)["equal"])

    def test_a_missing_file_is_no_name_of_a_model(self):
        for missing in ("config.jsn.json", "./config", self.folder / "none", "~/none.gguf"):
            for call in (
                self.service.model,
                self.service.plan,
                lambda config: self.service.compare_models("gpt2", config),
                lambda config: self.service.apply(np.zeros((2, 4)), model=config, length=2),
                lambda config: self.service.convert(np.zeros((4, 4)), "half", config=config),
            ):
                with self.assertRaisesRegex(FileNotFoundError, "(?i)no such file.*no|config"):
                    call(missing)
        with self.assertRaisesRegex(TypeError, "not int"):
            self.service.model(3)

    def test_errors_name_the_address_and_the_path(self):
        name = self.service._settings[0].rstrip("/")
        problem = self.raises(posenc.Refused, 422, self.service.get, "rope", length=4, dim=7)
        self.assertEqual(problem.asked, f"GET /v1/encodings/rope at {name}")
        self.assertTrue(str(problem).startswith(problem.asked + ": "))
        table = self.service.get("rope", length=9, dim=6).cos
        problem = self.raises(
            posenc.Refused,
            422,
            self.service.compare,
            table,
            "rope",
            length=8,
            dim=6,
            tensor="cos",
        )
        self.assertTrue(str(problem).startswith(f"POST /v1/compare/rope at {name}: "))
        self.assertIn("\n  1 row more", str(problem))

    def test_sets_are_stored(self):
        table = np.arange(12, dtype="f4").reshape(4, 3)
        self.service.put("mine", {"table": table})
        self.service.put("mine", {"table": table + 1})
        self.assertEqual([row["name"] for row in self.service.stored()], ["mine"])
        found = self.service.get("learned", set="mine", length=4).encoding
        np.testing.assert_array_equal(found, table + 1)
        self.service.delete("mine")
        self.assertEqual(self.service.stored(), [])
        self.raises(posenc.NotFound, 404, self.service.delete, "mine")

    def test_refusals_carry_the_problem(self):
        problem = self.raises(ValueError, 422, self.service.get, "rope", length=4, dim=7)
        self.assertIsInstance(problem, posenc.Refused)
        self.assertEqual(problem.code, "out_of_range")
        self.assertEqual(problem.errors[0]["parameter"], "dim")
        self.assertIn("even integer", str(problem))
        problem = self.raises(LookupError, 404, self.service.get, "rpoe", length=4)
        self.assertIn('did you mean "rope"', problem.detail)
        both = self.raises(posenc.Refused, 400, self.service.get, "rope")
        self.assertEqual(str(both).count("\n  missing parameter"), 2)
        self.raises(posenc.NotFound, 404, self.service.model, "no-such-model")
        with self.assertRaisesRegex(TypeError, "complex64"):
            self.service.put("mine", {"table": np.zeros(2, "c8")})
        with self.assertRaisesRegex(TypeError, "tensors by name"):
            self.service.put("mine", np.zeros(2))

    def test_a_long_table_is_sent_and_comes_whole(self):
        options = {"length": 1 << 16, "dim": 32, "offset": 5}
        table = self.service.get("sinusoidal", **options).encoding
        self.assertTrue(self.service.compare(table, "sinusoidal", **options)["equal"])


class OverHttp(Calls, Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        server = Server()
        cls.addClassCleanup(server.log.close)
        cls.addClassCleanup(server.stop)
        cls.service = posenc.Service(server.url + "/")


class OverAUnixSocket(Calls, Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        server = Server("--unix-socket", str(cls.folder / "socket"))
        cls.addClassCleanup(server.log.close)
        cls.addClassCleanup(server.stop)
        cls.service = posenc.Service(server.url)


def stored_in(folder):
    """A directory of sets in a folder, which must be there before anything is read."""
    sets = folder / "sets"
    sets.mkdir(exist_ok=True)
    return sets


class ByTheCommand(Calls, Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.service = posenc.Service(f"command:{COMMAND}", data_dir=str(stored_in(cls.folder)))

    def test_without_a_directory_no_set_is_stored(self):
        with self.assertRaisesRegex(ValueError, "--data-dir"):
            posenc.Service(f"command:{COMMAND}").put("mine", {"table": np.zeros((2, 2))})


class Choice(Case):
    """Who answers where nobody is named."""

    def test_the_variable_decides_and_use_beats_it(self):
        server = Server("--unix-socket", str(self.folder / "socket"))
        self.addCleanup(server.log.close)
        self.addCleanup(server.stop)
        self.addCleanup(posenc.use)
        with mock.patch.dict(os.environ, {posenc.VARIABLE: server.url}):
            posenc.use()
            self.assertEqual(posenc.document("/v1/info")["form"], "server")
            posenc.use(f"command:{COMMAND}")
            self.assertEqual(posenc.document("/v1/info")["form"], "command")

    def test_the_command_answers_where_no_server_runs(self):
        self.addCleanup(posenc.use)
        posenc.use()
        with mock.patch.object(posenc, "_is_posenc", lambda where: False), mock.patch.object(
            posenc, "_find_program", lambda: COMMAND
        ), mock.patch.dict(os.environ):
            os.environ.pop(posenc.VARIABLE, None)
            self.assertEqual(
                posenc.get("integer", length=3).encoding.ravel().tolist(), [0, 1, 2]
            )

    def test_a_key_opens_the_sets_of_a_server(self):
        path = self.folder / "key"
        path.write_text("0123456789abcdef\n", encoding="utf-8")
        server = Server("--api-key-file", str(path))
        self.addCleanup(server.log.close)
        self.addCleanup(server.stop)
        table = {"table": np.zeros((2, 2))}
        problem = self.raises(posenc.Problem, 401, posenc.Service(server.url).put, "a", table)
        self.assertNotIsInstance(problem, posenc.Refused)
        service = posenc.Service(server.url, key="0123456789abcdef")
        service.put("a", table)
        self.assertEqual(len(service.stored()), 1)

    def test_a_server_is_known_by_what_it_says(self):
        server = Server()
        self.addCleanup(server.log.close)
        self.addCleanup(server.stop)
        # each look gives up after two seconds, in which a busy machine may not answer
        self.assertTrue(any(posenc._is_posenc(server.url) for _ in range(30)))
        self.assertFalse(posenc._is_posenc(f"unix:{self.folder}/none"))

    def test_other_addresses_and_no_command_are_told(self):
        with self.assertRaisesRegex(ValueError, "unix:/PATH"):
            posenc.Service("localhost:8080").get("rope")
        with mock.patch.object(posenc, "_find_program", lambda: None):
            with self.assertRaisesRegex(FileNotFoundError, posenc.VARIABLE):
                posenc.Service("command:").get("rope")
        for where, kind in (
            (f"unix:{self.folder}/none", FileNotFoundError),
            ("http://127.0.0.1:1", ConnectionRefusedError),
            ("http://127.0.0.1:1/prefix/", ConnectionRefusedError),
            (f"command:{self.folder}/none", FileNotFoundError),
        ):
            with self.assertRaises(kind) as caught:
                posenc.Service(where).get("rope", length=4, dim=4)
            self.assertIn(
                f"GET /v1/encodings/rope at {where.rstrip('/')}", str(caught.exception)
            )
        with mock.patch.object(posenc._Http, "ask", side_effect=TimeoutError("timed out")):
            with self.assertRaisesRegex(TimeoutError, "at http://a.example: timed out"):
                posenc.Service("http://a.example").get("rope", length=4, dim=4)

    def test_a_server_ignores_the_variable(self):
        """Both may run in one environment."""
        environment = {**os.environ, posenc.VARIABLE: "http://127.0.0.1:8080"}
        subprocess.run(
            [SERVER, "--check-config"], env=environment, check=True, capture_output=True
        )


@unittest.skipUnless(TORCH, "torch is not installed")
class Torch(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.service = posenc.Service(f"command:{COMMAND}", data_dir=str(stored_in(cls.folder)))

    def test_a_dtype_of_torch_gives_tensors_of_torch(self):
        import torch

        exact = self.service.get("sinusoidal", length=9, dim=8, dtype=torch.float64).encoding
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            found = self.service.get("sinusoidal", length=9, dim=8, dtype=dtype).encoding
            self.assertEqual(found.dtype, dtype)
            self.assertTrue(torch.equal(found, exact.to(dtype)))
        tables = self.service.model(CONFIG, dtype=torch.bfloat16)
        self.assertEqual(tables["text.cos"].dtype, torch.bfloat16)

    def test_tensors_of_torch_are_sent(self):
        import torch

        table = self.service.get("rope", length=64, dim=8, dtype=torch.bfloat16).cos
        options = {"length": 64, "dim": 8}
        found = self.service.compare(table, "rope", tensor="cos", dtype="bf16", **options)
        self.assertTrue(found["equal"])
        query = torch.randn(2, 64, 8, generator=torch.Generator().manual_seed(0))
        for given in (query, query.bfloat16(), query.double().requires_grad_()):
            turned = self.service.apply(given, "rope", **options)
            self.assertEqual((turned.dtype, turned.shape), (given.dtype, given.shape))
        weight = torch.arange(64, dtype=torch.bfloat16).reshape(16, 4)
        want = weight.reshape(2, 2, 4, 4).transpose(1, 2).reshape(16, 4)
        how = {"to": "interleaved", "from_": "half", "heads": 2}
        self.assertTrue(torch.equal(self.service.convert(weight, **how), want))
        found = self.service.convert({"q_proj.weight": weight}, **how)
        self.assertTrue(torch.equal(found["q_proj.weight"], want))
        self.service.put("mine", {"table": torch.ones(4, 3, dtype=torch.bfloat16)})
        found = self.service.get("learned", set="mine", length=4).encoding
        np.testing.assert_array_equal(found, np.ones((4, 3)))


if __name__ == "__main__":
    unittest.main()
