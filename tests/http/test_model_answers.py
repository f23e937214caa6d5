"""/v1/models: whether the answer is the plan, or the tensors of the model."""

import json
import unittest

from server import ServerCase

JSON, FILE = "application/json", "application/vnd.safetensors"
MODEL = "/v1/models/t5-small"
CONFIG = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4}
LARGEST = 1 << 20  # bytes of a known model's plan

# {Accept: Content-Type of the answer to a name alone; None: there is none}
ACCEPTS = {
    None: JSON,
    "*/*": JSON,
    JSON: JSON,
    "application/*": JSON,
    "text/html,application/xhtml+xml,*/*;q=0.8": JSON,
    f"{JSON};q=0.5, */*": JSON,
    f"{FILE}, {JSON}": JSON,
    f"{FILE}, */*": JSON,
    f"{FILE};q=0.5, {JSON}": JSON,
    FILE: FILE,
    f"{FILE}, */*;q=0.1": FILE,
    f"{FILE}, {JSON};q=0.9": FILE,
    f"{JSON};q=0, */*": FILE,
    "text/html": None,
    "image/png": None,
}


class Answers(ServerCase):
    def kind(self, reply):
        """The media type of an answer, and whether it is a plan."""
        media_type = self.assert_ok(reply).header("Content-Type")
        return media_type, media_type == JSON and "components" in json.loads(reply.body)

    def test_a_known_name_alone_is_a_plan_with_the_request_of_every_tensor(self):
        names = [each["name"] for each in self.get("/v1/models").json()["models"]]
        served = 0
        for name in names:
            with self.subTest(name):
                reply = self.get(f"/v1/models/{name}")
                self.assertEqual(self.kind(reply), (JSON, True))
                self.assertLess(len(reply.body), LARGEST)
                self.assertEqual(reply.body, self.get(f"/v1/models/{name}?plan=true").body)
                for part in reply.json()["parts"]:
                    if part["state"] != "computed":
                        continue
                    head = self.assert_ok(self.head(f"{part['request']}&format=safetensors"))
                    sizes = [each["bytes"] for each in part["tensors"]]
                    self.assertGreater(int(head.header("Content-Length")), sum(sizes))
                    served += 1
        self.assertGreater(len(names), 50)
        self.assertGreater(served, len(names) // 2)

    def test_accept_decides_where_nothing_else_is_said(self):
        for accept, media_type in ACCEPTS.items():
            headers = {"Accept": accept} if accept else {}
            replies = [
                self.get(f"{MODEL}?length=8", headers),
                self.post("/v1/models?length=8", CONFIG, headers),
            ]
            for reply in replies:
                with self.subTest(accept):
                    if media_type:
                        self.assertEqual(self.kind(reply), (media_type, media_type == JSON))
                    else:
                        self.assert_problem(reply, 406)

    def test_what_is_said_beats_accept(self):
        for query, accept, kind in (
            ("plan=true", FILE, (JSON, True)),
            ("plan=true", "image/png", (JSON, True)),
            ("plan=true&format=json", FILE, (JSON, True)),
            ("format=json", FILE, (JSON, False)),
            ("plan=false&format=json", FILE, (JSON, False)),
            ("format=safetensors", JSON, (FILE, False)),
            ("plan=false", JSON, (JSON, False)),
            ("plan=false", FILE, (FILE, False)),
            ("plan=false&format=safetensors", JSON, (FILE, False)),
        ):
            for path, config in ((MODEL, None), ("/v1/models", CONFIG)):
                with self.subTest(query, accept=accept, path=path):
                    target = f"{path}?length=8&{query}"
                    headers = {"Accept": accept}
                    reply = (
                        self.post(target, config, headers)
                        if config
                        else self.get(target, headers)
                    )
                    self.assertEqual(self.kind(reply), kind)

    def test_tensors_without_a_wish_are_json_of_a_get_and_a_file_of_a_post(self):
        reply = self.get(f"{MODEL}?length=8&plan=false")
        self.assertEqual(self.kind(reply), (JSON, False))
        reply = self.post("/v1/models?length=8&plan=false", CONFIG)
        self.assertEqual(self.kind(reply), (FILE, False))

    def test_a_plan_depends_on_accept_unless_it_is_asked_for(self):
        by_accept, by_query = "Accept, Accept-Encoding", "Accept-Encoding"
        for query, vary in (("", by_accept), ("?plan=true", by_query)):
            target = MODEL + query
            reply, head = self.get(target), self.head(target)
            tag = reply.header("ETag")
            held = self.get(target, {"If-None-Match": tag})
            self.assertEqual((held.status, held.header("ETag"), held.body), (304, tag, b""))
            for each in (reply, head, held, self.post(f"/v1/models{query}", CONFIG)):
                self.assertEqual(each.header("Vary"), vary)
            self.assertEqual(head.header("ETag"), tag)
            self.assertEqual(head.header("Content-Length"), str(len(reply.body)))
            self.assert_problem(self.get(target, {"If-Match": '"other"'}), 412)
            coded = self.get(target, {"Accept-Encoding": "gzip"})
            self.assertEqual(coded.header("Content-Encoding"), "gzip")
            self.assertEqual(coded.header("Vary"), vary)

    def test_the_file_is_another_representation_than_the_plan(self):
        target = f"{MODEL}?length=8"
        plan, file = self.get(target), self.get(target, {"Accept": FILE})
        self.assertEqual(file.header("Vary"), plan.header("Vary"))
        tags = plan.header("ETag"), file.header("ETag")
        self.assertNotEqual(*tags)
        for accept, own, other in ((JSON, *tags), (FILE, *reversed(tags))):
            asked = {"Accept": accept, "If-None-Match": own}
            self.assertEqual(self.get(target, asked).status, 304)
            asked["If-None-Match"] = other
            self.assert_ok(self.get(target, asked))
            self.assertEqual(self.head(target, {"Accept": accept}).header("ETag"), own)


if __name__ == "__main__":
    unittest.main()
