"""POST /v1/models and GET /v1/models: the plan of a model's position tensors."""

import json
import os
import pathlib
import unittest

import model_facts
from server import ServerCase

SET = pathlib.Path(__file__).resolve().parent.parent / "models"


class Facts(ServerCase):
    def plan(self, config, query=""):
        return self.post(f"/v1/models?plan=true{query}", config)

    def ask(self, scheme, body):
        reply = self.post(f"/v1/encodings/{scheme}", body)
        self.assert_ok(reply)
        return reply.json()

    def check(self, name, config, expected):
        reply = self.plan(config)
        self.assert_ok(reply, "application/json")
        self.assertEqual([], list(model_facts.differences(reply.json(), expected, self.ask)), name)

    def test_the_projects_own_configs_have_the_plans_of_their_facts(self):
        files = sorted(SET.glob("*.json"))
        self.assertGreaterEqual(len(files), 60)
        for path in files:
            with self.subTest(path.stem):
                model = json.loads(path.read_text())
                self.check(path.stem, model["config"], model["expected"])

    def test_public_configs_have_the_plans_of_their_facts(self):
        folder = os.environ.get("POSENC_MODELS")
        if not folder:
            self.skipTest("POSENC_MODELS names no folder with expected.json and the configs beside it")
        models = json.loads(pathlib.Path(folder, "expected.json").read_text())["models"]
        for model in models:
            with self.subTest(model["name"]):
                config = json.loads(pathlib.Path(folder, model["file"]).read_text())
                self.check(model["name"], config, model["expected"])


if __name__ == "__main__":
    unittest.main()
