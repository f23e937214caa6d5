"""The golden cases of relative.py, and what all relative schemes are asked for."""

from itertools import product

from cases import DTYPES

FORMS = ("expanded", "compact")

# Which queries meet which keys. All schemes take these.
INNER_WINDOWS = {
    "one_pair": "length=1",
    "square": "length=5",
    "last_query": "length=7&query_length=1",
    "last_queries": "length=7&query_length=3",
    "first_queries": "length=6&query_length=3&query_offset=0",
    "middle_query": "length=7&query_length=1&query_offset=3",
    "middle_queries": "length=7&query_length=2&query_offset=2",
}

# Here queries are no keys: only schemes without a row for each distance take these.
OUTER_WINDOWS = {
    "one_key": "length=1&query_length=6&query_offset=-5",
    "more_queries_than_keys": "length=3&query_length=5&query_offset=-2",
    "queries_beyond_the_keys": "length=4&query_length=3&query_offset=100",
    "queries_across_the_end": "length=4&query_length=3&query_offset=3",
    "queries_before_the_keys": "length=4&query_length=3&query_offset=-50",
    "queries_across_the_start": "length=4&query_length=3&query_offset=-1",
    "queries_far_beyond": "length=3&query_length=3&query_offset=2000000001",
    "queries_far_before": "length=3&query_length=3&query_offset=-2000000003",
    "queries_near_2_31": "length=3&query_length=3&query_offset=2147483640",
    "queries_near_minus_2_31": "length=3&query_length=3&query_offset=-2147483640",
}

WINDOWS = {**INNER_WINDOWS, **OUTER_WINDOWS}


def forms(cases):
    """Every case in both forms."""
    return {
        f"{name}_{form}": f"{query}&form={form}"
        for (name, query), form in product(cases.items(), FORMS)
    }


def dtypes(query):
    return {f"dtype_{dtype}": f"{query}&dtype={dtype}" for dtype in DTYPES}


def windows(query, shapes=None):
    return {name: f"{window}&{query}" for name, window in (shapes or WINDOWS).items()}


RELATIVE_SINUSOIDAL = {
    "defaults": "length=6&dim=8",
    **forms(
        {
            **windows("dim=4"),
            **dtypes("length=5&query_length=3&dim=8"),
            **{
                f"far_{dtype}": "length=4&query_length=3&query_offset=999999999&dim=6"
                f"&dtype={dtype}"
                for dtype in DTYPES
            },
            **{
                f"layout_{layout}": f"length=5&query_length=4&dim=8&layout={layout}"
                for layout in ("interleaved", "concat", "concat_cos_first")
            },
            "dim_2": "length=8&dim=2",
            "base_10": "length=5&dim=6&base=10",
            "base_12345.678": "length=5&dim=6&base=12345.678",
            "max_distance_1": "length=6&query_length=5&dim=4&max_distance=1",
            "max_distance_3": "length=6&dim=4&max_distance=3",
            "max_distance_3_beyond": "length=4&query_length=2&query_offset=9&dim=4"
            "&max_distance=3",
            "max_distance_3_before": "length=4&query_length=2&query_offset=-9&dim=4"
            "&max_distance=3",
            "max_distance_100": "length=5&dim=6&max_distance=100&layout=concat",
            "max_distance_f64": "length=9&query_length=2&dim=4&max_distance=5&dtype=f64",
        }
    ),
    "dim_256_compact": "length=1&query_offset=-123456&query_length=1&dim=256&form=compact",
    # The distances of these rows are the positions of rows in golden files of `sinusoidal`.
    "sinusoidal_first_rows": "length=16&dim=16&query_length=1&query_offset=0&form=compact",
    "sinusoidal_negative_offset": "length=8&dim=8&query_length=1&query_offset=5&form=compact",
    "sinusoidal_around_1e9": "length=6&dim=16&query_length=1&query_offset=-999999997"
    "&form=compact",
}

SHAW_SMALL = "max_distance=2&dim=3"

SHAW = {
    "defaults": "length=5&dim=4",
    "defaults_compact": "length=5&dim=4&form=compact",
    **forms(
        {
            **windows(SHAW_SMALL),
            **{
                f"{source}_{dtype}": f"length=6&query_length=4&max_distance=2&dim=4"
                f"&source={source}&dtype={dtype}"
                for source, dtype in product(("learned", "sinusoidal"), DTYPES)
            },
            **{
                f"asymmetric_{source}": "length=7&query_length=4&min_distance=-1"
                f"&max_distance=3&dim=4&source={source}"
                for source in ("learned", "sinusoidal")
            },
            "backward_only": "length=6&min_distance=-3&max_distance=0&dim=4",
            "forward_only": "length=6&min_distance=0&max_distance=3&dim=4&seed=5",
            "no_distance": "length=4&min_distance=0&max_distance=0&dim=4",
            "symmetric_spelt_out": "length=6&min_distance=-2&max_distance=2&dim=4",
            "dim_1": "length=8&max_distance=3&dim=1",
            "odd_dim": "length=4&max_distance=4&dim=5",
            "seed_17": "length=5&max_distance=2&dim=4&seed=17",
            "seed_2_53_f64": "length=4&max_distance=2&dim=4&seed=9007199254740992&dtype=f64",
            "sinusoidal_far": "length=3&query_length=2&query_offset=50&max_distance=20&dim=6"
            "&source=sinusoidal",
        }
    ),
    **forms(
        {
            "preset_wav2vec2_bert": "preset=wav2vec2_bert&length=5&dim=2",
            "preset_wav2vec2_bert_left": "preset=wav2vec2_bert&length=3&query_length=2"
            "&query_offset=64&dim=2",
            "preset_wav2vec2_bert_right": "preset=wav2vec2_bert&length=11&query_length=1"
            "&query_offset=0&dim=2",
            "preset_speecht5": "preset=speecht5&length=5&dim=1",
            "preset_speecht5_left": "preset=speecht5&length=3&query_length=3"
            "&query_offset=158&dim=1",
            "preset_speecht5_right": "preset=speecht5&length=163&query_length=1"
            "&query_offset=0&dim=1",
            **{
                f"query_minus_key_{source}": f"length=7&query_length=4&min_distance=-1"
                f"&max_distance=3&dim=4&source={source}&difference=query_minus_key"
                for source in ("learned", "sinusoidal")
            },
            "key_minus_query": "length=4&max_distance=2&dim=2&difference=key_minus_query",
            "keys_and_values": "length=4&max_distance=2&dim=2&keys_only=false",
            "keys_only_sinusoidal": "length=4&max_distance=2&dim=2&keys_only=true"
            "&source=sinusoidal&dtype=f64",
        }
    ),
    "max_distance_128": "length=6&query_length=2&query_offset=100&max_distance=128&dim=4",
}

TRANSFORMER_XL = {
    "defaults": "length=5&dim=8",
    "defaults_compact": "length=5&dim=8&form=compact",
    **forms(
        {
            **{
                f"{attention}_{name}": f"{query}&dim=4&attention={attention}"
                for attention, (name, query) in product(
                    ("bi", "uni", "txl"),
                    {
                        "one_pair": "length=1",
                        "square": "length=5",
                        "memory": "length=7&query_length=3",
                        "last_query": "length=7&query_length=1",
                        "more_queries_than_keys": "length=3&query_length=5&query_offset=-2",
                        "clamp_2": "length=7&query_length=3&clamp_length=2",
                    }.items(),
                )
            },
            **dtypes("length=6&query_length=3&dim=8&heads=2"),
            **{
                f"heads_{heads}": f"length=4&query_length=2&dim=12&heads={heads}"
                for heads in (1, 3, 12)
            },
            "first_queries": "length=6&query_length=3&query_offset=0&dim=4",
            "queries_beyond_the_keys": "length=4&query_length=3&query_offset=100&dim=4",
            "queries_before_the_keys": "length=4&query_length=3&query_offset=-50&dim=4"
            "&clamp_length=7",
            "queries_far_beyond": "length=3&query_length=3&query_offset=2000000001&dim=4",
            "clamp_1": "length=5&dim=4&clamp_length=1",
            "clamp_beyond_all": "length=5&dim=4&clamp_length=1000",
            "clamp_f64": "length=5&query_length=4&dim=4&clamp_length=3&dtype=f64",
            "base_10": "length=4&dim=6&base=10&attention=uni",
            **{
                f"two_sided_{name}": f"{query}&dim=4&attention=two_sided"
                for name, query in {
                    "one_pair": "length=1",
                    "square": "length=5",
                    "memory": "length=7&query_length=3",
                    "concat": "length=5&layout=concat",
                    "clamp_2": "length=7&query_length=3&clamp_length=2",
                    "f64": "length=4&dtype=f64",
                }.items()
            },
            "preset_conformer": "preset=conformer&length=4&dim=6&heads=3",
            "preset_conformer_bf16": "preset=conformer&length=4&dim=6&dtype=bf16",
            "base_12345.678": "length=4&dim=6&base=12345.678",
            "seed_17": "length=4&dim=6&heads=3&seed=17",
        }
    ),
}

RELATIVE_CASES = {
    "relative_sinusoidal": RELATIVE_SINUSOIDAL,
    "shaw": SHAW,
    "transformer_xl": TRANSFORMER_XL,
}
