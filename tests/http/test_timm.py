"""Configs of timm, which name an architecture of the library."""

import json
import unittest

from server import ServerCase

JSON = {"Content-Type": "application/json"}
VIT = {
    "architecture": "vit_base_patch16_224",
    "num_classes": 1000,
    "num_features": 768,
    "global_pool": "token",
    "pretrained_cfg": {
        "tag": "augreg2_in21k_ft_in1k",
        "input_size": [3, 224, 224],
        "fixed_input_size": True,
    },
}


class TimmTest(ServerCase):
    def plan(self, config, status=200):
        body = json.dumps(config).encode()
        reply = self.server.request("POST", "/v1/models?plan=true", JSON, body)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def rows(self, name, **arguments):
        plan = self.plan({**VIT, "architecture": name, "model_args": arguments})
        facts = plan["parts"][0]["facts"]
        return [facts["rows"]["value"], facts["dim"]["value"]]

    def test_a_table_has_rows_for_patches_and_the_class_token(self):
        plan = self.plan(VIT)
        (part,) = plan["parts"]
        self.assertEqual(part["kind"], "learned")
        self.assertEqual(part["facts"]["rows"]["value"], 14 * 14 + 1)
        self.assertEqual(part["facts"]["dim"]["value"], 768)
        self.assertEqual(plan["source"]["library"], "timm")
        self.assertEqual(plan["not_used"], [])

    def test_architectures_differ_by_what_comes_before_the_patches(self):
        for name, expected in {
            "deit_base_distilled_patch16_224": [198, 768],
            "vit_base_patch16_siglip_224": [196, 768],
            "deit3_small_patch16_224": [196, 384],
            "vit_tiny_patch16_224.augreg_in21k": [197, 192],
        }.items():
            with self.subTest(name):
                self.assertEqual(self.rows(name), expected)

    def test_model_args_are_stronger_than_the_architecture(self):
        for arguments, rows in [
            ({"img_size": 384}, 24 * 24 + 1),
            ({"img_size": [224, 448]}, 14 * 28 + 1),
            ({"patch_size": 32}, 7 * 7 + 1),
            ({"class_token": False}, 196),
            ({"reg_tokens": 4}, 201),
            ({"reg_tokens": 4, "no_embed_class": True}, 196),
        ]:
            with self.subTest(arguments):
                self.assertEqual(self.rows(VIT["architecture"], **arguments)[0], rows)
        self.assertEqual(self.rows(VIT["architecture"], embed_dim=384)[1], 384)

    def test_the_size_of_the_weights_counts_where_the_library_fixes_it(self):
        weights = {**VIT["pretrained_cfg"], "input_size": [3, 384, 384]}
        for is_fixed, rows in ((True, 577), (False, 197)):
            config = {**VIT, "pretrained_cfg": {**weights, "fixed_input_size": is_fixed}}
            facts = self.plan(config)["parts"][0]["facts"]
            self.assertEqual(facts["rows"]["value"], rows)

    def test_a_fixed_size_that_is_none_is_refused(self):
        for size, given in (("large", "large"), ([3, 384], "a list"), ([3, "a", 8], "a list")):
            with self.subTest(size):
                weights = {"input_size": size, "fixed_input_size": True}
                plan = self.plan({**VIT, "pretrained_cfg": weights}, 422)
                (error,) = plan["errors"]
                self.assertEqual(error["parameter"], "pretrained_cfg.input_size")
                self.assertEqual(error["given"], given)

    def test_no_positions(self):
        switched_off = {**VIT, "model_args": {"pos_embed": "none"}}
        convolutions = ("resnet50", "resnet50_clip_gap.openai", "mobilenetv4_hybrid_large")
        for config in (switched_off, *({"architecture": name} for name in convolutions)):
            self.assertEqual(self.plan(config)["parts"], [])

    def test_beit_has_a_bias_of_windows(self):
        (part,) = self.plan({**VIT, "architecture": "beit_large_patch16_224"})["parts"]
        self.assertEqual(part["kind"], "swin_relative_bias")
        self.assertEqual(part["facts"]["rows"]["value"], 27 * 27 + 3)
        self.assertEqual(part["facts"]["heads"]["value"], 16)

    def test_swin_has_a_bias_for_each_stage(self):
        for name, arguments, windows in (
            ("swin_tiny_patch4_window7_224", {}, [[7, 7]] * 4),
            ("swin_s3_tiny_224", {}, [[7, 7], [7, 7], [14, 14], [7, 7]]),
            ("swin_s3_tiny_224", {"img_size": [96, 224]}, [[7, 7], [7, 7], [6, 14], [3, 7]]),
            ("swinv2_tiny_window8_256", {"window_size": [4, 16]}, [[4, 16]] * 3 + [[4, 8]]),
            ("swinv2_tiny_window8_256", {"img_size": 64}, [[8, 8], [8, 8], [4, 4], [2, 2]]),
            (
                "swin_tiny_patch4_window7_224",
                {"img_size": 64},
                [[7, 7], [7, 7], [4, 4], [2, 2]],
            ),
            (
                "swin_tiny_patch4_window7_224",
                {"img_size": 64, "always_partition": True},
                [[7, 7]] * 4,
            ),
        ):
            with self.subTest(name, arguments=arguments):
                parts = self.plan({"architecture": name, "model_args": arguments})["parts"]
                self.assertEqual([p["facts"]["window"]["value"] for p in parts], windows)

    def arguments(self, name, **given):
        """Those of the rotary table of an architecture."""
        part = self.plan({"architecture": name, "model_args": given})["parts"][0]
        self.assertEqual(part["scheme"], "axial_rope")
        return {key: value["value"] for key, value in part["arguments"].items()}

    def test_eva_turns_cells_as_its_pretraining_counted_them(self):
        eva = {"preset": "eva", "dim": 64, "rope_theta": 10000, "prefix": 1}
        self.assertEqual(
            self.arguments("eva02_base_patch14_448"),
            {**eva, "sizes": [32, 32], "reference_sizes": [16, 16]},
        )
        self.assertEqual(
            self.arguments("vit_pe_core_base_patch16_224", img_size=[224, 320]),
            {
                **eva,
                "sizes": [14, 20],
                "reference_sizes": [14, 14],
                "first_index": [1],
                "axis_order": "reversed",
            },
        )
        self.assertEqual(
            self.arguments("vit_small_patch16_dinov3"),
            {**eva, "preset": "dinov3", "rope_theta": 100, "sizes": [16, 16], "prefix": 5},
        )

    def test_tables_beside_turns(self):
        for name, given, kinds in (
            ("eva02_tiny_patch14_224", {}, ["rope_2d", "learned"]),
            ("eva02_tiny_patch14_224", {"use_abs_pos_emb": False}, ["rope_2d"]),
            ("eva02_tiny_patch14_224", {"use_rot_pos_emb": False}, ["learned"]),
            ("eva_giant_patch14_224", {}, ["learned"]),
            ("eva_giant_patch14_224", {"use_rot_pos_emb": True}, ["rope_2d", "learned"]),
            ("vit_base_patch16_rope_ape_224", {}, ["rope_2d", "learned"]),
            ("vit_base_patch16_rope_224", {}, ["rope_2d"]),
        ):
            with self.subTest(name, given=given):
                parts = self.plan({"architecture": name, "model_args": given})["parts"]
                self.assertEqual([part["kind"] for part in parts], kinds)

    def test_a_distilled_class_has_a_table_whatever_its_arguments_say(self):
        name = "deit_tiny_distilled_patch16_224"
        self.assertEqual(self.rows(name, pos_embed="none", no_embed_class=True), [198, 192])

    def test_problems_print_what_was_given_under_the_name_that_it_has(self):
        swin, eva = "swin_tiny_patch4_window7_224", "eva02_tiny_patch14_224"
        for name, key, value, given in (
            ("vit_tiny_patch16_224", "img_size", "large", "large"),
            ("vit_tiny_patch16_224", "img_size", [0, 32], "a list"),
            ("vit_tiny_patch16_224", "patch_size", 0, "0"),
            ("vit_tiny_patch16_224", "embed_dim", -4, "-4"),
            ("vit_tiny_patch16_224", "class_token", "yes", "yes"),
            ("vit_tiny_patch16_224", "use_rot_pos_emb", True, "true"),
            ("beit_base_patch16_224", "num_heads", "12", "12"),
            (swin, "window_size", [7, 7, 7], "a list"),
            (swin, "depths", [2, 0], None),
            (eva, "rope_type", "mixed", "mixed"),
            (eva, "rope_rotate_half", True, "true"),
            (eva, "ref_feat_shape", "16", "16"),
        ):
            with self.subTest(name, key=key, value=value):
                config = {"architecture": name, "model_args": {key: value}}
                (error,) = self.plan(config, 422)["errors"]
                self.assertEqual(error["parameter"], f"model_args.{key}")
                self.assertEqual(error["given"], given)

    def test_what_is_not_read_is_listed(self):
        plan = self.plan({**VIT, "rope_theta": 100, "model_args": {"rope_grid_offset": 1}})
        self.assertEqual(plan["not_used"], ["rope_theta", "model_args.rope_grid_offset"])

    def test_a_config_of_the_wrapper_goes_the_same_way(self):
        wrapper = {**VIT, "model_type": "timm_wrapper"}
        self.assertEqual(self.plan(wrapper)["parts"], self.plan(VIT)["parts"])

    def test_an_architecture_that_is_not_known_is_refused(self):
        for given, suggested in (
            ("vit_baes_patch16_224", "vit_base_patch16_224"),
            ("vit_base_patch16_225", None),
            ("xcit_nano_12_p16_224", None),
            ("resnet50_clip.openai", None),
            ("mobilenetv5_300m_enc", None),
            ("vit_small_patch16_rope_mixed_224", None),
            (7, None),
        ):
            with self.subTest(given):
                (error,) = self.plan({**VIT, "architecture": given}, 422)["errors"]
                self.assertEqual(error["parameter"], "architecture")
                self.assertEqual(error.get("did_you_mean"), suggested)

    def test_arguments_that_the_class_does_not_take_are_refused(self):
        for name, value in (
            ("reg_tokens", -1),
            ("reg_tokens", 1.5),
            ("pos_embed", "learned"),
            ("depth", "12"),
            ("use_rot_pos_emb", True),
        ):
            with self.subTest(name, value=value):
                (error,) = self.plan({**VIT, "model_args": {name: value}}, 422)["errors"]
                self.assertEqual(error["parameter"], f"model_args.{name}")
        (error,) = self.plan({**VIT, "model_args": [1]}, 422)["errors"]
        self.assertEqual(error["parameter"], "model_args")


if __name__ == "__main__":
    unittest.main()
