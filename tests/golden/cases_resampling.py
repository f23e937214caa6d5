"""The golden cases of tables on other grids: {scheme: {case name: query string}}."""

from itertools import product

from cases import DTYPES

# Filters that differ, as options of a query.
FILTERS = {
    "nearest": "mode=nearest",
    "bilinear": "mode=bilinear",
    "bilinear_aligned": "mode=bilinear&align_corners=true",
    "bilinear_antialias": "mode=bilinear&antialias=true",
    "bicubic": "mode=bicubic",
    "bicubic_aligned": "mode=bicubic&align_corners=true",
    "bicubic_antialias": "mode=bicubic&antialias=true",
}

RESIZED = {
    "defaults": "height=5&source_height=3&dim=4",
    **{
        f"{name}_{dtype}": f"height=4&width=3&source_height=3&source_width=5&dim=3&{options}"
        f"&dtype={dtype}"
        for (name, options), dtype in product(FILTERS.items(), DTYPES)
    },
    **{
        f"{name}_{change}": f"{sizes}&dim=2&seed=5&{options}"
        for (name, options), (change, sizes) in product(
            FILTERS.items(),
            {
                "grows": "height=7&source_height=3",
                "doubles": "height=6&source_height=3",
                "shrinks": "height=3&source_height=7",
                "halves": "height=3&source_height=6",
                "stays": "height=3&source_height=3",
                "from_one_cell": "height=3&source_height=1",
                "to_one_cell": "height=1&source_height=3",
                "line": "height=1&width=9&source_height=1&source_width=4",
                "with_prefix": "height=2&width=5&source_height=4&source_width=3"
                "&prefix_tokens=2",
            }.items(),
        )
    },
    **{
        f"{mode}_offset_{offset}": f"height=5&source_height=3&dim=2&mode={mode}"
        f"&scale_offset={offset}"
        for mode, offset in product(("bilinear", "bicubic"), ("0.1", "0.5", "0.999"))
    },
    **{
        f"{mode}_factor_{factor}": f"scale_factor={factor}&source_height=3&source_width=4&dim=2"
        f"&mode={mode}"
        for mode, factor in product(
            ("nearest", "bilinear", "bicubic"), ("0.7", "1", "1.1", "1.5", "2.3333333333333335")
        )
    },
    "factor_that_rounds_up": "scale_factor=0.7&source_height=10&dim=1",
    "offset_f64": "height=4&source_height=3&dim=2&scale_offset=0.1&dtype=f64",
    "factor_f64": "scale_factor=1.3&source_height=3&dim=2&dtype=f64",
    "offset_of_the_same_size": "height=3&source_height=3&dim=2&mode=bilinear&scale_offset=0.1",
    "strongly_shrunk": "height=1&source_height=15&dim=2&antialias=true&dtype=f64",
    "many_columns": "height=3&width=2&source_height=2&dim=131",
    "length": "length=9&source_height=4&dim=3",
    "length_f64": "length=5&source_height=7&dim=2&mode=bilinear&antialias=true&dtype=f64",
    "long_line": "height=1&width=70&source_height=1&source_width=150&dim=1&antialias=true",
    "seed_2_53": "height=3&source_height=2&dim=2&seed=9007199254740992",
    **{
        f"preset_{preset}": f"preset={preset}&height=4&source_height=3&dim=2"
        for preset in (
            "vit",
            "dinov2",
            "dinov2_registers",
            "timm",
            "siglip2",
            "qwen3_vl",
            "idefics2",
        )
    },
}
SWIN = {
    "defaults": "height=3&heads=2",
    **{
        f"{name}_{dtype}": f"height=2&width=3&heads=2&seed=4&{options}&dtype={dtype}"
        for (name, options), dtype in product(
            {
                "plain": "class_token=false",
                "class_token": "class_token=true",
                "resized": "source_height=3&class_token=true",
                "resized_bilinear": "source_height=4&source_width=2&mode=bilinear",
            }.items(),
            DTYPES,
        )
    },
    "one_token": "height=1&heads=3",
    "one_token_and_class": "height=1&heads=1&class_token=true",
    "line": "height=1&width=6&heads=1",
    "column": "height=5&width=1&heads=1",
    "grown": "height=4&source_height=2&heads=1",
    "shrunk": "height=2&source_height=5&heads=1&class_token=true",
    "from_one_token": "height=3&width=2&source_height=1&heads=1",
    "one_axis": "height=3&width=2&source_height=3&source_width=3&heads=1",
    "same_source": "height=2&width=3&source_height=2&source_width=3&heads=2&mode=bilinear",
    "many_heads": "height=2&width=1&heads=17",
    "preset_beit": "preset=beit&height=2&heads=2",
    "preset_beit_resized": "preset=beit&height=3&width=2&source_height=2&heads=2",
}

SWIN_V2 = {
    "defaults": "height=2&heads=2",
    **{
        f"{name}_{dtype}": f"height=2&width=3&heads=2&hidden=9&seed=3{options}&dtype={dtype}"
        for (name, options), dtype in product(
            {"plain": "", "pretrained": "&pretrained_height=5&pretrained_width=9"}.items(),
            DTYPES,
        )
    },
    "one_token": "height=1&heads=3&hidden=4",
    "line": "height=1&width=4&heads=1&hidden=5&dtype=f64",
    "column": "height=4&width=1&heads=1&hidden=5",
    "many_heads": "height=2&width=1&heads=17&hidden=3",
    "one_unit": "height=2&heads=2&hidden=1&dtype=f64",
    # 8 * 7 / 8 = 7, so that the coordinate is 1
    "whole_coordinate": "height=1&width=8&heads=1&hidden=2&pretrained_width=9&dtype=f64",
    "pretrained_smaller": "height=1&width=5&heads=1&hidden=6&pretrained_width=2",
    "pretrained_larger": "height=2&width=2&heads=1&hidden=6&pretrained_height=16384",
    "defaults_f64": "height=2&width=1&heads=1&seed=8&dtype=f64",
}

DECOMPOSED = {
    "defaults": "height=3&dim=2",
    **{
        f"{name}_{dtype}": f"height=2&width=3&dim=3&seed=6{options}&dtype={dtype}"
        for (name, options), dtype in product(
            {"plain": "", "resized": "&source_height=4&source_width=2"}.items(), DTYPES
        )
    },
    "one_cell": "height=1&dim=2",
    "from_one_cell": "height=3&dim=2&source_height=1&source_width=1",
    "to_one_cell": "height=1&dim=2&source_height=3&source_width=4",
    "same_source": "height=2&dim=2&source_height=2&source_width=2&dtype=f64",
    "more_queries": "height=2&query_height=4&query_width=6&dim=1",
    "more_keys": "height=6&width=4&query_height=2&query_width=2&dim=1",
    "other_queries": "height=3&width=5&query_height=4&query_width=3&dim=1",
    "other_queries_resized": "height=2&width=5&query_height=3&query_width=4&dim=1"
    "&source_height=4&source_width=3",
}

RESAMPLING_CASES = {
    "resized": RESIZED,
    "swin": SWIN,
    "swin_v2": SWIN_V2,
    "decomposed": DECOMPOSED,
}
