"""/v1/models: the tensors of a model, from its config.json or its name."""

import json
import unittest

from server import ServerCase
from test_batch import read_safetensors

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "max_position_embeddings": 40,
    "rope_theta": 500000.0,
}
GEMMA = {
    "model_type": "gemma3_text",
    "head_dim": 8,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 7,
    "max_position_embeddings": 32,
    "rope_theta": 1000000.0,
    "rope_local_base_freq": 10000.0,
    "rope_scaling": {"rope_type": "linear", "factor": 8.0},
}
BERT = {
    "model_type": "bert",
    "hidden_size": 8,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "max_position_embeddings": 6,
}


def i32(data):
    return [
        int.from_bytes(data[i : i + 4], "little", signed=True) for i in range(0, len(data), 4)
    ]


class ModelTensors(ServerCase):
    def ask(self, config, query="format=safetensors"):
        return self.assert_ok(self.post(f"/v1/models?{query}", config))

    def test_every_tensor_has_the_bytes_of_its_own_request(self):
        for config in (LLAMA, GEMMA):
            reply = self.ask(config)
            self.assertEqual(reply.header("Cache-Control"), "no-store")
            tensors, about = read_safetensors(reply.body)
            compared = 0
            for name, (_, _, data) in tensors.items():
                part, _, tensor = name.rpartition(".")
                if tensor != "layers":
                    target = f"{about[part]['request']}&tensor={tensor}&format=raw"
                    self.assertEqual(self.assert_ok(self.get(target)).body, data, name)
                    compared += 1
            self.assertEqual(compared, 3 if config is LLAMA else 6)

    def test_the_layers_point_to_the_parts(self):
        tensors, about = read_safetensors(self.ask(GEMMA).body)
        parts = about["model"]["parts"]
        used = [parts[i] for i in i32(tensors["text.layers"][2])]
        local, full = "text.sliding_attention", "text.full_attention"
        self.assertEqual(used, [local] * 5 + [full] + [local])
        self.assertEqual(about[full]["factor"], "8", "the scaling is that of full attention")
        self.assertEqual(about[full]["from"]["rope_theta"], "rope_theta")
        self.assertNotIn("factor", about[local])
        self.assertEqual(about[local]["rope_theta"], "10000")

    def test_json_holds_the_same(self):
        reply = self.ask(GEMMA, "format=json&length=2").json()
        self.assertEqual(
            [part["name"] for part in reply["results"]],
            ["text.full_attention", "text.sliding_attention"],
        )
        self.assertEqual(reply["model"]["model_type"], "gemma3_text")
        self.assertEqual(len(reply["lists"]["text.layers"]), 7)
        for part in reply["results"]:
            alone = self.assert_ok(self.get(part["request"])).json()
            self.assertEqual(part["encoding"], alone)

    def test_trained_tables_come_from_a_stored_set_alone(self):
        tensors, _ = read_safetensors(self.ask(BERT).body)
        self.assertEqual(list(tensors), ["text.layers"])
        header = json.dumps(
            {"table": {"dtype": "F32", "shape": [6, 8], "data_offsets": [0, 192]}}
        ).encode()
        data = bytes(range(0, 96)) * 2
        file = len(header).to_bytes(8, "little") + header + data
        put = self.server.request("PUT", "/v1/sets/bert", {}, file)
        self.assertEqual(put.status, 201, put)
        tensors, about = read_safetensors(self.ask(BERT, "set=bert&format=safetensors").body)
        trained = [name for name in tensors if not name.endswith("layers")]
        self.assertEqual(len(trained), 1)
        self.assertEqual(tensors[trained[0]], ("F32", [6, 8], data))
        self.assert_problem(self.post("/v1/models?set=nowhere&format=json", BERT), 422, "set")

    def test_a_tensor_that_is_alone_has_its_own_name_as_the_plan_says(self):
        whisper = "/v1/models/whisper-large-v3"
        tensors, _ = read_safetensors(
            self.assert_ok(self.get(f"{whisper}?length=8&format=safetensors")).body
        )
        self.assertIn("encoder.encoding", tensors)
        for name in ("whisper-large-v3", "t5-base", "gemma-3-27b", "bloom"):
            plan = self.get(f"/v1/models/{name}?plan=true&length=8").json()
            target = f"/v1/models/{name}?length=8&format=safetensors"
            tensors, _ = read_safetensors(self.get(target).body)
            planned = {
                tensor["name"]: tensor["shape"]
                for part in plan["parts"]
                if part["state"] == "computed"
                for tensor in part["tensors"]
            }
            served = {
                tensor: shape
                for tensor, (_, shape, _) in tensors.items()
                if not tensor.endswith(".layers")
            }
            self.assertEqual(served, planned, name)

    def test_a_model_without_positions_is_a_good_answer(self):
        reply = self.ask({"model_type": "mamba", "hidden_size": 64, "num_hidden_layers": 2})
        tensors, about = read_safetensors(reply.body)
        self.assertTrue(all(name.endswith("layers") for name in tensors), tensors)
        self.assertEqual(about["model"]["parts"], [])

    def test_positions_that_are_told_and_not_computed_are_not_called_none(self):
        for model_type, is_told in (("pvt", True), ("lightglue", True), ("resnet", False)):
            reply = self.post("/v1/models?plan=true", {"model_type": model_type})
            self.assert_ok(reply)
            summary = reply.json()["summary"]
            self.assertEqual("computes none of its positions" in summary, is_told, summary)
            self.assertEqual("no positions" in summary, not is_told, summary)

    def test_a_well_known_model_may_be_kept(self):
        target = "/v1/models/llama-3.1-8b?length=64&format=safetensors"
        reply = self.assert_ok(self.get(target), "application/vnd.safetensors")
        tag = reply.header("ETag")
        self.assertIn("public", reply.header("Cache-Control"))
        self.assertEqual(self.get(target, {"If-None-Match": tag}).status, 304)
        self.assert_problem(self.get(target, {"If-Match": '"x"'}), 412)
        head = self.head(target)
        self.assertEqual(head.header("Content-Length"), str(len(reply.body)))
        self.assertEqual(head.header("ETag"), tag)
        others = {
            self.assert_ok(self.get(other)).header("ETag")
            for other in (
                "/v1/models/llama-3.1-8b?length=65&format=safetensors",
                "/v1/models/llama-3.1-8b?length=64&format=json",
                f"{target}&dtype=bf16",
                "/v1/models/llama-3.2-1b?length=64&format=safetensors",
            )
        }
        self.assertEqual(len(others | {tag}), 5)
        self.assertEqual(self.assert_ok(self.get(target)).header("Cache-Status"), "posenc; hit")

    def test_what_cannot_be_answered_is_refused(self):
        self.assert_problem(
            self.post("/v1/models?plan=true&format=safetensors", LLAMA), 422, "format"
        )
        self.assert_problem(self.post("/v1/models", LLAMA, {"Accept": "image/png"}), 406)
        self.assert_problem(self.post("/v1/models?length=0", LLAMA), 422, "length")
        self.assert_problem(self.post("/v1/models?lenght=5", LLAMA), 400, "lenght")


def amount_text(size):
    unit, name = (1e3, "kB") if size < 1e5 else (1e6, "MB") if size < 999.5e6 else (1e9, "GB")
    return f"{size / unit:.3g} {name}"


class LeftOut(ServerCase):
    """What an answer does not have is named in it, and how much it is."""

    def test_an_amount_has_a_unit_that_fits(self):
        config = {"model_type": "llama", "head_dim": 8, "hidden_size": 64}
        config |= {
            "num_attention_heads": 8,
            "num_hidden_layers": 1,
            "max_position_embeddings": 96,
        }
        for length, amount in ((96, "3.09 kB"), (65536, "2.1 MB"), (2**25, "1.07 GB")):
            plan = self.post(f"/v1/models?plan=true&length={length}", config).json()
            self.assertIn(f"; {amount} of tensors", plan["summary"])
            self.assertTrue(plan["parts"][0]["summary"].endswith("; the only layer."))

    def test_parts_that_are_trained_are_named_with_the_request_that_gives_them(self):
        known = self.server.request("GET", "/v1/models").json()["models"]
        names = [each["name"] for each in known]
        found = 0
        for name in names:
            plan = self.server.request("GET", f"/v1/models/{name}?plan=true").json()
            kept = [part for part in plan["parts"] if part["state"] == "computed"]
            nothing = [p for p in plan["parts"] if p["state"] == "nothing to compute"]
            left_out, names = plan["left_out"], [part["name"] for part in plan["parts"]]
            parts = [each for each in left_out if each["part"] in names]
            self.assertEqual(len(parts), len(plan["parts"]) - len(kept) - len(nothing), name)
            if not left_out:
                self.assertNotIn("left_out", plan["summary"])
                continue
            found += 1
            self.assertIn("left_out", plan["summary"])
            sizes = [each["bytes"] for part in kept for each in part["tensors"]]
            self.assertIn(f"; {amount_text(sum(sizes))} of tensors", plan["summary"])
            head = self.get(f"/v1/models/{name}?format=safetensors").body
            length = int.from_bytes(head[:8], "little")
            metadata = json.loads(head[8 : 8 + length])["__metadata__"]
            self.assertEqual(json.loads(metadata["model"])["left_out"], left_out)
            document = self.server.request("GET", f"/v1/models/{name}?format=json").json()
            if "detail" not in document:  # too large as JSON
                self.assertEqual(document["model"]["left_out"], left_out)
            for each in left_out:
                if "trained" in each["reason"] and "request" in each:
                    self.assertIn("set=", each["request"])
        self.assertGreater(found, 5)

    def test_trained_tensors_beside_computed_ones_are_left_out_and_not_drawn(self):
        for model_type, left_out, asked in (
            ("t5", ["encoder.bias", "decoder.bias"], "&tensor=bucket"),
            ("swin", [f"vision.stage{stage}.bias" for stage in (1, 2, 3, 4)], "&tensor=index"),
            ("deberta-v2", ["text.table", "text.table"], ""),  # positions, and distances
            ("transfo-xl", ["text.u", "text.v", "text.relative"], ""),
            ("llama", [], ""),
        ):
            plan = self.post("/v1/models?plan=true", {"model_type": model_type}).json()
            self.assertEqual([each["part"] for each in plan["left_out"]], left_out)
            self.assertTrue(plan["parts"][0]["request"].endswith(asked))
            self.assertTrue(
                all("&set=YOUR-SET" in each["request"] for each in plan["left_out"])
            )
        tensor = {"dtype": "F32", "shape": [27, 64], "data_offsets": [0, 6912]}
        other = {**tensor, "data_offsets": [6912, 13824]}
        header = json.dumps({"rel_pos_h": tensor, "rel_pos_w": other}).encode()
        file = len(header).to_bytes(8, "little") + header + bytes(13824)
        self.server.request("PUT", "/v1/sets/mine", {}, file)
        sam = {"model_type": "sam_vision_model", "num_hidden_layers": 1}
        plan = self.post("/v1/models?plan=true", sam).json()
        self.assertEqual(plan["left_out"][0]["part"], "vision.window.rel_h")
        request = plan["left_out"][0]["request"].replace("YOUR-SET", "mine")
        self.assert_ok(self.get(f"{request}&tensor=rel_h"))


if __name__ == "__main__":
    unittest.main()
