"""The golden cases of decays.py: {scheme: {case name: query string}}."""

from itertools import product

from cases_relative import INNER_WINDOWS, OUTER_WINDOWS, dtypes, forms, windows

MASKS = ("symmetric", "causal")


def in_masks(cases):
    return {
        f"{name}_{mask}": f"{query}&mask={mask}"
        for (name, query), mask in product(cases.items(), MASKS)
    }


KERNELS = ("log", "power")

KERPLE = {
    "defaults": "heads=4&length=6",
    **forms(
        in_masks(
            {
                **{
                    f"{kernel}_{name}": f"{query}&kernel={kernel}"
                    for kernel in KERNELS
                    for name, query in {
                        **windows("heads=2"),
                        **dtypes("heads=3&length=5&query_length=3"),
                    }.items()
                },
            }
        )
    ),
    **{
        f"{kernel}_heads_12": f"heads=12&length=3&query_length=1&kernel={kernel}"
        for kernel in KERNELS
    },
    **{
        f"{kernel}_seed_17_f64": f"heads=3&length=4&seed=17&kernel={kernel}&dtype=f64"
        for kernel in KERNELS
    },
    **{
        f"{kernel}_far_{dtype}": "heads=3&length=3&query_length=1&query_offset=2000000001"
        f"&kernel={kernel}&dtype={dtype}"
        for kernel, dtype in product(KERNELS, ("f32", "f64"))
    },
    **{
        f"{kernel}_long": f"heads=1&length=150&form=compact&kernel={kernel}"
        for kernel in KERNELS
    },
}

FIRE = {
    "defaults": "heads=4&length=6",
    **forms(
        in_masks(
            {**dtypes("heads=3&length=5&query_length=3"), **windows("heads=2", INNER_WINDOWS)}
        )
    ),
    **in_masks(windows("heads=2", OUTER_WINDOWS)),
    **{
        f"beyond_threshold_{mask}_{dtype}": "heads=2&length=9&query_length=6&threshold=4.5"
        f"&mask={mask}&dtype={dtype}"
        for mask, dtype in product(MASKS, ("f32", "f64", "bf16"))
    },
    "at_the_threshold_compact": "heads=2&length=5&threshold=4&form=compact",
    # The last query's first key has u = 1, which is exact without an epsilon.
    "epsilon_0": "heads=2&length=6&threshold=3&epsilon=0",
    "epsilon_0_f64": "heads=2&length=6&threshold=3&epsilon=0&dtype=f64",
    "epsilon_1": "heads=2&length=4&epsilon=1",
    "c_1e-9": "heads=2&length=4&c=1e-9&dtype=f64",
    "c_1e9": "heads=2&length=4&c=1e9&dtype=f64",
    "c_12.5": "heads=2&length=4&c=12.5",
    "threshold_0.001": "heads=2&length=4&threshold=0.001",
    "hidden_1": "heads=2&length=5&hidden=1",
    "hidden_2_f64": "heads=2&length=5&hidden=2&dtype=f64",
    "hidden_100": "heads=2&length=4&query_length=2&hidden=100",
    "seed_17": "heads=3&length=4&seed=17",
    "seed_2_53_f64": "heads=2&length=3&seed=9007199254740992&dtype=f64",
    "long": "heads=1&length=150&query_length=1",
    "far": "heads=2&length=3&query_length=2&query_offset=2000000001",
}

SANDWICH = {
    "defaults": "heads=4&length=4",
    **forms(
        in_masks(
            {**windows("heads=3&dim=8"), **dtypes("heads=5&length=5&query_length=3&dim=16")}
        )
    ),
    "dim_2": "heads=3&length=5&dim=2",
    "dim_128_f64": "heads=12&length=4&query_length=1&dtype=f64",
    "heads_1": "heads=1&length=5&query_length=1",
    "heads_16_f16": "heads=16&length=3&query_length=1&dtype=f16",
    "base_10": "heads=2&length=5&dim=8&base=10",
    "base_12345.678": "heads=2&length=4&dim=6&base=12345.678",
    "far": "heads=3&length=3&query_length=1&query_offset=2000000001&dim=8",
    "far_f64": "heads=3&length=3&query_length=1&query_offset=2000000001&dim=8&dtype=f64",
    "long": "heads=1&length=90&query_length=1&dim=32",
}

RETNET = {
    "defaults": "heads=4&length=5&dim=4",
    **forms({**windows("heads=3&dim=4"), **dtypes("heads=5&length=5&query_length=3&dim=8")}),
    "dim_2": "heads=1&length=5&dim=2",
    "dim_64": "heads=1&length=2&dim=64",
    "base_12345.678": "heads=1&length=4&dim=6&base=12345.678",
    # Powers of 31/32, 63/64 ... of few bits: some lie on rounding boundaries, as 31^5 of f32.
    **{
        f"ties_{dtype}": f"heads=8&length=14&query_length=1&dim=2&dtype={dtype}"
        for dtype in ("f32", "f64", "f16", "bf16")
    },
    # Factors that become subnormal, and vanish.
    **{
        f"vanishing_{dtype}": f"heads=2&length={length}&query_length=1"
        f"&query_offset={offset}&dim=2&dtype={dtype}"
        for dtype, length, offset in (
            ("f32", 6, 3270),
            ("f64", 6, 23400),
            ("f16", 6, 540),
            ("bf16", 6, 2900),
        )
    },
    "vanished": "heads=3&length=2&query_length=1&query_offset=2000000001&dim=2",
    "heads_200_f64": "heads=200&length=2&query_length=1&dim=2&dtype=f64",
    "heads_150": "heads=150&length=2&query_length=1&dim=2",
}

DECAYS_CASES = {"kerple": KERPLE, "fire": FIRE, "sandwich": SANDWICH, "retnet": RETNET}
