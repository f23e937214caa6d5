"""The golden cases of biases.py: {scheme: {case name: query string}}."""

from itertools import product

from cases import DTYPES
from cases_relative import FORMS, INNER_WINDOWS, dtypes, forms, windows


def t5_run(first, count, options):
    """One query and the keys whose distances are first, first + 1 ... key minus query."""
    return f"heads=1&length={count}&query_length=1&query_offset={-first}&{options}"


UNI = "bidirectional=false"

# Pairs of buckets and max_distance with distances exactly at a bucket's begin, where a quotient
# of rounded logarithms may fall below it. Published code does: at 9/128 and 10/160 in double,
# at 17/27 in float; the others depend on the logarithm.
T5_HARD = (
    (3, 9),
    (3, 81),
    (7, 243),
    (9, 128),
    (10, 160),
    (12, 54),
    (16, 162),
    (17, 27),
    (19, 49),
)

T5 = {
    "defaults": "heads=2&length=6",
    **forms(
        {
            **windows("heads=2&num_buckets=8&max_distance=16"),
            **dtypes("heads=3&length=6&query_length=4"),
            **{f"heads_{heads}": f"heads={heads}&length=4" for heads in (1, 12)},
            "unidirectional": f"heads=2&length=6&{UNI}",
            "unidirectional_last_queries": f"heads=2&length=9&query_length=3&{UNI}",
            "unidirectional_before": "heads=2&length=4&query_length=3&query_offset=-50"
            f"&{UNI}",
            "unidirectional_far": f"heads=2&length=3&query_offset=2000000001&{UNI}",
            "bidirectional": "heads=2&length=6&bidirectional=true",
            "fewest_buckets": "heads=2&length=7&num_buckets=4&max_distance=4",
            "fewest_buckets_unidirectional": f"heads=2&length=7&num_buckets=2&max_distance=5"
            f"&{UNI}",
            "odd_buckets_unidirectional": f"heads=2&length=8&num_buckets=9&max_distance=20"
            f"&{UNI}",
            "seed_17": "heads=2&length=5&seed=17",
        }
    ),
    "32_128": t5_run(-140, 281, "form=compact"),
    "32_128_expanded": t5_run(-140, 281, "form=expanded"),
    "32_128_unidirectional": t5_run(-270, 276, f"{UNI}&form=compact"),
    "32_128_unidirectional_expanded": t5_run(-270, 276, f"{UNI}&form=expanded"),
    "32_128_past_the_end": t5_run(-1000000, 8, "form=compact"),
    "64_256": t5_run(-270, 271, "num_buckets=64&max_distance=256&form=compact"),
    "64_256_keys_ahead": t5_run(0, 271, "num_buckets=64&max_distance=256&form=compact"),
    "320_800": t5_run(-300, 300, "num_buckets=320&max_distance=800&form=compact"),
    **{
        f"hard_{buckets}_{most}_unidirectional": t5_run(
            -most - 8, most + 9, f"num_buckets={buckets}&max_distance={most}&{UNI}&form=compact"
        )
        for buckets, most in T5_HARD
    },
    **{
        f"hard_{2 * buckets}_{most}_{side}": t5_run(
            first, most + 9, f"num_buckets={2 * buckets}&max_distance={most}&form=compact"
        )
        for buckets, most in T5_HARD
        for side, first in (("behind", -most - 8), ("ahead", 0))
    },
}

LEVIT = {
    "defaults": "heads=2&length=6",
    **forms(
        {
            **windows("heads=2", INNER_WINDOWS),
            **dtypes("heads=3&length=6&query_length=4"),
            **{
                f"dim_head_{size}": f"heads=2&length=6&query_length=4&dim_head={size}"
                for size in (1, 16, 32, 64)
            },
            **{
                f"dim_head_32_{dtype}": f"heads=2&length=6&dim_head=32&dtype={dtype}"
                for dtype in DTYPES[1:]
            },
            "heads_1": "heads=1&length=9",
            "heads_8": "heads=8&length=4",
            "seed_17": "heads=2&length=5&seed=17",
        }
    ),
    "2_by_3": "heads=2&height=2&width=3",
    "3_by_2": "heads=2&height=3&width=2",
    "4_by_4": "heads=1&height=4&width=4",
    "1_by_6": "heads=2&height=1&width=6",
    "6_by_1": "heads=2&height=6&width=1",
    "1_by_1": "heads=3&height=1&width=1",
    "3_by_5_one_head": "heads=1&height=3&width=5&form=expanded&seed=9",
    "2_by_3_last_query": "heads=3&height=2&width=3&query_length=1",
    "4_by_5_middle_queries": "heads=2&height=4&width=5&query_length=5&query_offset=7",
    "2_by_3_dim_head_64": "heads=2&height=2&width=3&dim_head=64",
    **{
        f"3_by_2_{dtype}": f"heads=2&height=3&width=2&dim_head=48&dtype={dtype}"
        for dtype in DTYPES
    },
}

DEBERTA_BUCKETS = {
    "256_512": "position_buckets=256&max_relative_positions=512&dim=1",
    "128_512": "position_buckets=128&max_relative_positions=512&dim=1",
    "no_buckets": "position_buckets=-1&max_relative_positions=512&dim=1",
}

# The first query minus the first key of runs of 280 distances.
DEBERTA_RUNS = {"middle": 140, "up": 400, "end": 640, "down": -121, "start": -361}

# Pairs of position_buckets and max_relative_positions where published code, in double or (at
# 6/148 and 18/65) in float, puts a distance at the end of a bucket into the next one.
DEBERTA_HARD = ((6, 148), (18, 26), (18, 50), (18, 65), (20, 81), (32, 129), (54, 148))

DEBERTA_SMALL = "dim=2&position_buckets=8&max_relative_positions=16"

DEBERTA = {
    "defaults": "length=5&dim=1",
    "defaults_compact": "length=5&dim=1&form=compact",
    **forms(
        {
            **windows(DEBERTA_SMALL),
            **dtypes(f"length=6&query_length=4&{DEBERTA_SMALL}"),
            **{
                f"p2c_{p2c}_{name}": f"length=7&query_length=5&query_offset=1&p2c={p2c}&{query}"
                for p2c, (name, query) in product(
                    ("code", "paper"),
                    {
                        "buckets": "dim=2&position_buckets=4&max_relative_positions=6",
                        "no_buckets": "dim=2&max_relative_positions=3",
                    }.items(),
                )
            },
            **{
                f"p2c_{p2c}_far": f"length=3&query_offset=2000000001&p2c={p2c}&{DEBERTA_SMALL}"
                for p2c in ("code", "paper")
            },
            **{
                f"clipped_no_buckets_{where}": "length=5&query_length=3&dim=3"
                f"&max_relative_positions=4&query_offset={offset}"
                for where, offset in (("beyond", 6), ("before", -6))
            },
            "seed_17": f"length=4&seed=17&{DEBERTA_SMALL}",
            "dim_5": "length=4&dim=5&position_buckets=6&max_relative_positions=20",
        }
    ),
    **{
        f"{name}_{run}": f"length=280&query_length=1&query_offset={first}&form=compact&{query}"
        for (name, query), (run, first) in product(
            DEBERTA_BUCKETS.items(), DEBERTA_RUNS.items()
        )
    },
    # -512 and less: row 1 of the table for Microsoft's clamp, row 0 for Hugging Face.
    **{
        f"beyond_{beyond}_{run}": f"length=9&query_length=1&query_offset={first}&form={form}"
        f"&beyond={beyond}&" + DEBERTA_BUCKETS["256_512"]
        for beyond, (run, first, form) in product(
            ("clamp", "continue"),
            (("before", -507, "compact"), ("after", 515, "expanded"), ("far", 9999, "compact")),
        )
    },
    # Buckets that end exactly at 2 * 4^k; 2048 is the end of one.
    "beyond_continue_powers": "length=9&query_length=1&query_offset=2052&form=compact"
    "&beyond=continue&dim=1&position_buckets=4&max_relative_positions=9",
    "beyond_continue_paper": "length=40&query_length=1&query_offset=0&form=compact"
    "&beyond=continue&dim=1&position_buckets=6&max_relative_positions=9&p2c=paper",
    "beyond_continue_two_buckets": "length=9&query_length=1&query_offset=4&beyond=continue"
    "&dim=1&position_buckets=2&max_relative_positions=3",
    "beyond_continue_none": "length=5&query_length=3&dim=3&max_relative_positions=4"
    "&query_offset=6&beyond=continue",
    "256_512_paper": "length=280&query_length=1&query_offset=400&form=compact&p2c=paper&"
    + DEBERTA_BUCKETS["256_512"],
    "256_512_expanded": "length=100&query_length=3&query_offset=300&"
    + DEBERTA_BUCKETS["256_512"],
    **{
        f"hard_{buckets}_{most}": f"length={2 * most + 9}&query_length=1"
        f"&query_offset={most + 4}&form=compact&dim=1&position_buckets={buckets}"
        f"&max_relative_positions={most}"
        for buckets, most in DEBERTA_HARD
    },
}

URPE = {
    "defaults": "length=5",
    "defaults_compact": "length=5&form=compact",
    **forms(
        {
            **windows("init=normal&heads=2", INNER_WINDOWS),
            **{
                f"{init}_{dtype}": f"length=6&query_length=4&heads=3&init={init}&dtype={dtype}"
                for init, dtype in product(("ones", "normal"), DTYPES)
            },
            "one_head": "length=8&init=normal",
            "heads_12": "length=4&heads=12&init=normal",
            "seed_17": "length=5&heads=2&init=normal&seed=17",
            "ones_last_query": "length=9&query_length=1&heads=4",
        }
    ),
}

MASKS = ("symmetric", "causal", "key_only")
# Counts of heads with slopes that are powers of two, square roots and less regular numbers.
SOME_HEADS = (1, 2, 3, 5, 6, 8, 12, 20, 25, 32, 40, 112)


def in_masks(cases):
    """Every case in every mask and form; key_only has no compact form."""
    return {
        f"{name}_{mask}_{form}": f"{query}&mask={mask}&form={form}"
        for (name, query), mask, form in product(cases.items(), MASKS, FORMS)
        if (mask, form) != ("key_only", "compact")
    }


ALIBI = {
    "defaults": "heads=8&length=5",
    **in_masks(
        {
            **windows("heads=3"),
            **dtypes("heads=6&length=5&query_length=3"),
            "heads_8": "heads=8&length=5",
            "max_16": "heads=4&length=5&alibi_bias_max=16",
            "geometric": "heads=3&length=5&non_power_of_two=geometric",
        }
    ),
    **{
        f"slopes_of_{heads:03}": f"heads={heads}&length=2&query_length=1"
        for heads in range(1, 129)
    },
    **{
        f"slopes_of_{heads:03}_{dtype}": f"heads={heads}&length=2&query_length=1&dtype={dtype}"
        for heads, dtype in product(SOME_HEADS, DTYPES[1:])
    },
    **{
        f"{rule}_{heads:03}": f"heads={heads}&length=2&query_length=1&non_power_of_two={rule}"
        for heads, rule in product((1, 3, 8, 12, 25, 112), ("official", "geometric"))
    },
    **{
        f"geometric_012_{dtype}": "heads=12&length=3&query_length=1&non_power_of_two=geometric"
        f"&dtype={dtype}"
        for dtype in DTYPES[1:]
    },
    **{
        f"max_{most}_of_{heads}": f"heads={heads}&length=4&query_length=2&alibi_bias_max={most}"
        for most, heads in product((1, 4, 8, 16, 24), (1, 8, 12))
    },
    # Slopes and biases that are subnormal or vanish.
    **{
        f"max_30_of_{heads}_f16": f"heads={heads}&length=4&query_length=2&alibi_bias_max=30"
        "&dtype=f16"
        for heads in (1, 2, 6)
    },
    # Products that are exact before they are rounded: 2049 and 2051 halves, 257 and 259.
    "ties_f16": "heads=8&length=4&query_length=1&query_offset=2051&dtype=f16",
    "ties_bf16": "heads=8&length=4&query_length=1&query_offset=259&dtype=bf16",
    "ties_f32": "heads=8&length=4&query_length=1&query_offset=16777219",
    **{
        f"preset_{preset}_{heads:03}": f"preset={preset}&heads={heads}&length=5"
        for preset, heads in product(("bloom", "falcon", "mpt"), (8, 32, 71))
    },
    "preset_falcon_bf16": "preset=falcon&heads=71&length=5&query_length=1&dtype=bf16",
    "preset_falcon_f64": "preset=falcon&heads=71&length=5&query_length=1&dtype=f64",
    "preset_mpt_square": "preset=mpt&heads=3&length=4&query_length=4",
    **{
        f"from_last_key_{name}": f"heads=3&mask=from_last_key&{query}"
        for name, query in {
            "square": "length=5",
            "one_key": "length=1",
            "queries_far": "length=3&query_length=2&query_offset=1000000",
            "f64": "length=5&query_length=1&dtype=f64",
        }.items()
    },
    **{
        f"slopes_in_{slopes}_{dtype}": f"heads=12&length=4&query_length=1&slope_dtype={slopes}"
        f"&dtype={dtype}"
        for slopes, dtype in product(("f32", "f16", "bf16"), ("f32", "f64"))
    },
    "slopes_in_f16_vanish": "heads=2&length=3&query_length=1&alibi_bias_max=30&slope_dtype=f16",
    **{
        f"head_dim_{dim}_{mask}": f"heads=12&length=6&query_length=2&head_dim={dim}&mask={mask}"
        for dim, mask in product((1, 36, 64, 80, 128), ("symmetric", "causal"))
    },
    # (2^24 + 3) * 3 over 6 is a tie, and so are its kin: the quotient is exact.
    "head_dim_36_ties": "heads=8&length=4&query_length=1&query_offset=50331657&head_dim=36",
    "head_dim_36_ties_f16": "heads=8&length=4&query_length=1&query_offset=6153&head_dim=36"
    "&dtype=f16",
    "head_dim_80_f64": "heads=12&length=4&query_length=1&head_dim=80&dtype=f64",
    # The heads of each tensor-parallel rank, also where two laws meet within one.
    **{
        f"ranks_of_{total:02}_from_{first:02}": f"heads={heads}&length=3&query_length=1"
        f"&heads_total={total}&first_head={first}"
        for total, heads, first in (
            (8, 4, 0),
            (8, 4, 4),
            (8, 1, 7),
            (12, 6, 6),
            (12, 4, 6),
            (12, 3, 9),
        )
    },
    **{
        f"ranks_geometric_{dtype}": "heads=4&length=3&query_length=1&heads_total=12"
        f"&first_head=8&non_power_of_two=geometric&dtype={dtype}"
        for dtype in DTYPES
    },
    "ranks_slopes_in_bf16": "heads=4&length=3&query_length=1&heads_total=12&first_head=6"
    "&slope_dtype=bf16&head_dim=80",
    "long": "heads=1&length=150&form=compact",
    "long_irrational": "heads=3&length=90&query_length=1",
}

BIASES_CASES = {
    "t5": T5,
    "levit": LEVIT,
    "deberta": DEBERTA,
    "urpe": URPE,
    "alibi": ALIBI,
}
