"""Plans of /v1/models against what the code of libraries does, as tests/models/peers.jsonl
keeps it: `make peers` wrote it, and this needs no library."""

import kept
from server import ServerCase


class Peers(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sources, cls.cases = kept.read()

    def test_every_config_gets_what_the_code_of_the_library_does(self):
        post = kept.poster(self.server)
        judged, unlike = 0, []
        for (model_type, release), cases in self.cases.items():
            for case in cases:
                if case["result"] not in kept.KEPT:
                    continue
                judged += 1
                found, verdicts = kept.judge(case, post)
                name = f"{model_type} of {release}, {case['name']}"
                if case["result"] == "right" != found["result"]:
                    unlike.append(f"{name}: {verdicts}")
                elif case["result"] != "right" == found["result"]:
                    unlike.append(f"{name} is no difference any more: `make peers AGAIN=1`")
        self.assertEqual([], unlike)
        self.assertGreater(judged, 800)

    def test_the_list_of_checked_types_is_that_of_the_comparison(self):
        text = kept.TABLE.read_text(encoding="utf-8")
        self.assertEqual(
            kept.table_text(self.sources, self.cases, kept.list_types(self.server)),
            text,
            "`make peers AGAIN=1`",
        )

    def test_types_and_plans_say_whose_code_they_follow(self):
        sources = {source["release"]: source for source in self.sources}
        newest, oldest = self.sources[0], sources["4.53"]
        listed = self.get("/v1/models").json()["model_types"]
        checked = {row["model_type"] for row in listed if row["source"]["checked"]}
        timm = next(source for source in self.sources if source["library"] == "timm")
        compared = {newest["release"], "0.40", timm["release"]}
        self.assertEqual(
            checked,
            {name for release in compared for name in kept.checked_types(self.cases, release)},
        )
        of_type = {row["model_type"]: row["source"] for row in listed}
        self.assertEqual(of_type["llama"], {**newest, "checked": True})
        own = of_type["internlm2"]
        self.assertEqual(own["library"], "the checkpoint's own code")
        self.assertEqual((own["release"], own["commit"], own["checked"]), (None, None, False))
        self.assertEqual(
            of_type["UNet2DModel"],
            {**sources["0.40"], "checked": True},
        )
        self.assertEqual(of_type["timm-eva"], {**timm, "checked": True})
        for query, source in (("", newest), ("&convention=transformers-4.53", oldest)):
            reply = self.post(f"/v1/models?plan=true{query}", {"model_type": "llama"})
            self.assert_ok(reply)
            self.assertEqual(reply.json()["source"], {**source, "checked": True})
