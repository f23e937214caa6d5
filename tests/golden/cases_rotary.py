"""The golden cases of rotary.py: {scheme: {case name: query string}}."""

from itertools import product

from cases import DTYPES, MIXED_POSITIONS, MIXED_POSITIONS_TO_2_48

LONGROPE = "short_factor=1,1.05,1.25,2.5&long_factor=1.5,3.75,12.1,40"

# Parameters of a small table of each type, so that every branch of its rule is taken.
SMALL = {
    "default": "dim=8",
    "linear": "dim=8&rope_type=linear&factor=2.5",
    "ntk": "dim=8&rope_type=ntk&factor=4",
    "ntk_fixed": "dim=8&rope_type=ntk_fixed&factor=4",
    "dynamic": "dim=8&rope_type=dynamic&factor=2&original_max_position_embeddings=2048"
    "&seq_len=5000",
    "yarn": "dim=16&rope_type=yarn&factor=4&original_max_position_embeddings=4096",
    "longrope": f"dim=8&rope_type=longrope&factor=32&original_max_position_embeddings=4096"
    f"&seq_len=131072&{LONGROPE}",
    "llama3": "dim=16&rope_type=llama3&rope_theta=500000",
    "proportional": "dim=8&rope_type=proportional&partial_rotary_factor=0.5&factor=8",
}

ROPE_POSITIONS = {
    "first_rows": "length=16&dim=8",
    "one_row": "length=1&offset=17&dim=6",
    "dim_2": "length=6&offset=-2&dim=2",
    "around_1e9": "length=4&offset=999999998&dim=16",
    "around_2_40": "length=4&offset=1099511627774&dim=16",
    "up_to_2_53": "length=4&offset=9007199254740989&dim=16",
    "negative_offset": "length=8&offset=-5&dim=8",
    "quarter_steps": "length=12&offset=-1.25&step=0.25&dim=6",
    "tenth_steps": "length=12&offset=-0.3&step=0.1&dim=6",
    "negative_step": "length=9&offset=4&step=-1.5&dim=6",
    "offset_60_length_10": "length=10&offset=60&dim=8",
    "known_hard_positions": "positions=131071,1048575,1000000000&dim=32",
    "mixed": f"positions={MIXED_POSITIONS}&dim=8",
    "mixed_f64": f"positions={MIXED_POSITIONS_TO_2_48}&dim=8&dtype=f64",
}

ROPE_SHAPES = {
    **{
        f"{layout}_{table}_{dtype}": f"length=5&offset=7&dim=8&layout={layout}&table={table}"
        f"&dtype={dtype}"
        for layout, table, dtype in product(
            ("half", "interleaved"), ("half_width", "full"), DTYPES
        )
    },
    "dim_128": "length=1&offset=4321&dim=128",
    "theta_1e6": "length=4&offset=9&dim=16&rope_theta=1000000",
    "theta_12345.678": "length=4&offset=9&dim=16&rope_theta=12345.678",
    "theta_100": "length=4&offset=9&dim=16&rope_theta=100",
    "type_default": "length=4&offset=9&dim=16&rope_type=default",
    # 0.4 * 80 and 0.35 * 40 are integers as products of doubles, rounded once.
    "partial_0.25": "length=4&dim=32&partial_rotary_factor=0.25",
    "partial_0.25_full": "length=4&dim=32&partial_rotary_factor=0.25&table=full",
    "partial_0.25_interleaved": "length=4&dim=32&partial_rotary_factor=0.25&table=full"
    "&layout=interleaved",
    "partial_0.4_of_80": "length=3&offset=50&dim=80&partial_rotary_factor=0.4",
    "partial_0.35_of_40": "length=3&offset=50&dim=40&partial_rotary_factor=0.35",
    "partial_1": "length=3&offset=50&dim=8&partial_rotary_factor=1",
    **{
        f"preset_{name}": f"preset={name}&length=3&offset=1000&dim=16&table=full"
        for name in ("gpt_neox", "llama2", "llama3", "llama3.1", "meta_llama", "qwen2")
    },
    "preset_gpt_neox_partial": "preset=gpt_neox&length=3&dim=64&partial_rotary_factor=0.25",
    "preset_llama3.1_dim_128": "preset=llama3.1&length=1&offset=8191&dim=128",
    "preset_llama3.1_factor_32": "preset=llama3.1&length=1&offset=8191&dim=64&factor=32",
    "preset_meta_llama_half": "preset=meta_llama&length=3&dim=8&table=full&layout=half",
    "preset_qwen2_yarn": "preset=qwen2&length=1&offset=100000&dim=64&rope_type=yarn&factor=4"
    "&original_max_position_embeddings=32768",
}

ROPE_TYPES = {
    **{
        f"{rope_type}_{dtype}": f"length=3&offset=99&dtype={dtype}&{small}"
        for (rope_type, small), dtype in product(SMALL.items(), DTYPES)
        if rope_type != "default"
    },
    **{
        f"{rope_type}_partial_0.5": "length=3&offset=99&partial_rotary_factor=0.5&"
        + small.replace("dim=16", "dim=32").replace("dim=8", "dim=16")
        for rope_type, small in SMALL.items()
        if rope_type not in ("default", "proportional")
    },
    **{
        f"{rope_type}_{where}": f"positions={positions}&{small}"
        for (rope_type, small), (where, positions) in product(
            SMALL.items(),
            (
                ("mixed", "0,-3,0.5,-1048575.75,0.1"),
                ("huge", "1000000000,-999999999,1099511627776,1099511627777,9007199254740991"),
            ),
        )
        if rope_type != "default"
    },
    **{
        f"{rope_type}_interleaved": f"length=2&offset=31&table=full&layout=interleaved&{small}"
        for rope_type, small in SMALL.items()
        if rope_type != "default"
    },
    "linear_factor_1": "length=3&dim=8&rope_type=linear&factor=1",
    "linear_factor_3": "length=3&dim=8&rope_type=linear&factor=3",
    "ntk_dim_4": "length=4&dim=4&rope_type=ntk&factor=2.5",
    "ntk_dim_128": "length=1&offset=20000&dim=128&rope_type=ntk&factor=8",
    "ntk_fixed_dim_2": "length=4&dim=2&rope_type=ntk_fixed&factor=2.5",
    "ntk_fixed_dim_64": "length=1&offset=20000&dim=64&rope_type=ntk_fixed&factor=8",
    "dynamic_within": "length=3&dim=8&rope_type=dynamic&factor=2"
    "&original_max_position_embeddings=2048&seq_len=100",
    "dynamic_one_beyond": "length=3&dim=8&rope_type=dynamic&factor=2"
    "&original_max_position_embeddings=2048&seq_len=2049",
    "dynamic_max_position_embeddings": "length=3&dim=8&rope_type=dynamic&factor=2.5"
    "&max_position_embeddings=2048&seq_len=8192",
    "dynamic_dim_128": "length=1&offset=20000&dim=128&rope_type=dynamic&factor=4"
    "&max_position_embeddings=4096&seq_len=32768",
    "longrope_short_at_the_limit": "length=3&dim=8&rope_type=longrope&factor=32"
    f"&original_max_position_embeddings=4096&seq_len=4096&{LONGROPE}",
    "longrope_long_beyond_the_limit": "length=3&dim=8&rope_type=longrope&factor=32"
    f"&original_max_position_embeddings=4096&seq_len=4097&{LONGROPE}",
    "longrope_max_position_embeddings": "length=3&dim=8&rope_type=longrope"
    "&max_position_embeddings=131072&original_max_position_embeddings=4096&seq_len=8000"
    f"&{LONGROPE}",
    "longrope_factor_1": "length=3&dim=8&rope_type=longrope&factor=1"
    f"&original_max_position_embeddings=4096&seq_len=4096&{LONGROPE}",
    "longrope_attention_factor": "length=3&dim=8&rope_type=longrope&factor=32"
    f"&original_max_position_embeddings=4096&seq_len=8000&attention_factor=1.25&{LONGROPE}",
    "llama3_dim_128_low_2_high_5": "length=1&offset=8191&dim=128&rope_type=llama3&factor=16"
    "&low_freq_factor=2&high_freq_factor=5.5&original_max_position_embeddings=4096",
    "llama3_defaults": "length=1&offset=77&dim=64&rope_type=llama3",
    "proportional_defaults": "length=3&dim=8&rope_type=proportional",
    "proportional_rounds_down": "length=3&offset=5&dim=10&rope_type=proportional"
    "&partial_rotary_factor=0.5",
    # 0.3 * 20 / 2 is 3 with one rounding; the double nearest to 0.3 is below 3/10.
    "proportional_0.3_of_20": "length=3&offset=5&dim=20&rope_type=proportional"
    "&partial_rotary_factor=0.3&factor=2.5",
}

YARN = "rope_type=yarn&original_max_position_embeddings"

ROPE_YARN = {
    "yarn_truncate_false": f"length=3&offset=99&dim=16&{YARN}=4096&factor=4&truncate=false",
    "yarn_truncate_true": f"length=3&offset=99&dim=16&{YARN}=4096&factor=4&truncate=true",
    "yarn_betas_16_2": f"length=3&offset=99&dim=32&{YARN}=2048&factor=8.5&beta_fast=16"
    "&beta_slow=2",
    "yarn_betas_fractional": f"length=3&offset=99&dim=32&{YARN}=2048&factor=8&beta_fast=20.5"
    "&beta_slow=0.75&truncate=false",
    "yarn_equal_bounds": f"length=3&offset=99&dim=16&{YARN}=4096&factor=4&beta_fast=2"
    "&beta_slow=2&truncate=false",
    "yarn_equal_bounds_at_0": f"length=3&offset=99&dim=16&{YARN}=6&factor=4",
    "yarn_low_clamped": f"length=3&offset=99&dim=16&{YARN}=100&factor=4",
    "yarn_high_clamped": f"length=3&offset=9&dim=8&rope_theta=10&{YARN}=650&factor=4",
    "yarn_factor_1": f"length=3&offset=99&dim=16&{YARN}=4096&factor=1",
    "yarn_attention_factor_1": f"length=3&dim=16&{YARN}=4096&factor=4&attention_factor=1",
    "yarn_attention_factor_0.8": f"length=3&dim=16&{YARN}=4096&factor=4&attention_factor=0.8",
    "yarn_attention_factor_f64": f"length=3&dim=16&{YARN}=4096&factor=4&attention_factor=3.75"
    "&dtype=f64",
    "yarn_mscales": f"length=3&dim=16&{YARN}=4096&factor=40&mscale=1&mscale_all_dim=0.8",
    "yarn_mscales_equal": f"length=3&dim=16&{YARN}=4096&factor=40&mscale=0.707"
    "&mscale_all_dim=0.707",
    "yarn_mscales_bf16": f"length=3&dim=16&{YARN}=4096&factor=40&mscale=0.707"
    "&mscale_all_dim=1&dtype=bf16",
    "yarn_dim_64": f"length=2&offset=131070&dim=64&{YARN}=4096&factor=32",
}

# Settings of real models that the other cases lack.
ROPE_MODELS = {
    **{
        f"preset_{name}": f"preset={name}&length=2&offset=8191&dim={dim}"
        for name, dim in (
            ("llama3.2", 64),
            ("llama4_scout", 128),
            ("llama4_maverick", 128),
            ("qwen2.5", 128),
            ("qwen3", 128),
            ("mistral", 128),
            ("gemma2", 128),
            ("gemma3_global", 128),
            ("gemma3_local", 128),
            ("gpt_oss", 64),
            ("deepseek_v3", 64),
            ("glm4", 128),
            ("phi3", 96),
        )
    },
    "preset_llama4_scout_full": "preset=llama4_scout&length=2&dim=16&table=full",
    "llama3_hard_step": "length=3&offset=99&dim=64&rope_type=llama3&low_freq_factor=2.5"
    "&high_freq_factor=2.5",
    # Moonshine: 36 * 0.9 is 32.4; 0.58 * 50 is 28.999999999999996 as a product of doubles.
    "partial_0.9_of_36": "length=3&offset=50&dim=36&partial_rotary_factor=0.9",
    "partial_0.58_of_50": "length=3&offset=50&dim=50&partial_rotary_factor=0.58",
    "yarn_mscale_alone": f"length=3&dim=16&{YARN}=4096&factor=40&mscale=0.707",
    "yarn_mscale_all_dim_alone": f"length=3&dim=16&{YARN}=4096&factor=40&mscale_all_dim=1",
    "yarn_mscale_all_dim_0": f"length=3&dim=16&{YARN}=4096&factor=40&mscale=1"
    "&mscale_all_dim=0",
    "yarn_inverted": f"length=3&offset=9&dim=16&rope_theta=10&{YARN}=131072&factor=4",
    "yarn_inverted_below_0": f"length=3&offset=9&dim=16&{YARN}=3&factor=4&truncate=false",
    "longrope_factor_and_max_position_embeddings": "length=3&dim=8&rope_type=longrope"
    "&factor=2.5&max_position_embeddings=131072&original_max_position_embeddings=4096"
    f"&seq_len=8000&{LONGROPE}",
    "dynamic_alpha": "length=3&offset=99&dim=128&rope_type=dynamic&alpha=1000",
    "dynamic_alpha_ignores_others": "length=3&offset=99&dim=8&rope_type=dynamic&alpha=2.5"
    "&factor=1&max_position_embeddings=32&seq_len=1000",
}

ROTATION_MATRIX = {
    **{
        f"{convention}_{dtype}": f"length=5&offset=-2&dim=6&convention={convention}"
        f"&dtype={dtype}"
        for convention, dtype in product(("rope", "shift"), DTYPES)
    },
    **{
        f"{convention}_mixed": f"positions={MIXED_POSITIONS}&dim=4&convention={convention}"
        for convention in ("rope", "shift")
    },
    "defaults": "length=5&dim=6",
    "dim_2": "length=20&offset=3&dim=2",
    "dim_12": "length=1&offset=12345&dim=12",
    "mixed_f64": f"positions={MIXED_POSITIONS_TO_2_48}&dim=4&dtype=f64",
    "around_1e9": "length=4&offset=999999998&dim=6",
    "around_2_40": "length=4&offset=1099511627774&dim=6",
    "up_to_2_53": "length=4&offset=9007199254740989&dim=6",
    "negative_offset_shift": "length=4&offset=-1000003&dim=6&convention=shift",
    "tenth_steps": "length=8&offset=-0.3&step=0.1&dim=4",
    "negative_step": "length=8&offset=4&step=-1.5&dim=4",
    "base_10": "length=4&offset=20&dim=6&base=10",
    "base_12345.678_shift": "length=4&offset=20&dim=6&base=12345.678&convention=shift",
}

# What models need beside the tables.
ROPE_EXTRAS = {
    **{
        f"cos_sin_{rope_type}_{dtype}": f"length=3&offset=99&cos_sin=true&dtype={dtype}&{small}"
        for (rope_type, small), dtype in product(SMALL.items(), DTYPES)
        if rope_type in ("default", "yarn", "proportional")
    },
    "cos_sin_mixed": f"positions={MIXED_POSITIONS}&dim=8&cos_sin=true",
    "cos_sin_dim_2": "length=6&offset=-2&dim=2&cos_sin=true&layout=interleaved",
    "cos_sin_dim_140": "length=2&offset=50&dim=140&cos_sin=true",
    "cos_sin_false": "length=3&dim=4&cos_sin=false",
    **{
        f"softmax_factor_{dtype}": "length=1&dim=4&preset=deepseek_v3&softmax_factor=true"
        f"&dtype={dtype}"
        for dtype in DTYPES
    },
    "softmax_factor_0.707": f"length=1&dim=4&{YARN}=4096&factor=40&mscale=1"
    "&mscale_all_dim=0.707&softmax_factor=true",
    "softmax_factor_without_mscale": f"length=1&dim=4&{YARN}=4096&factor=40"
    "&softmax_factor=true",
    "softmax_factor_factor_1": f"length=1&dim=4&{YARN}=4096&factor=1&mscale=1"
    "&mscale_all_dim=1&softmax_factor=true",
    **{
        f"temperature_{temperature}_{dtype}": f"positions={positions}&dim=2"
        f"&temperature={temperature}&dtype={dtype}"
        for temperature, positions in (
            ("llama4", "0,8190,8190.5,8191,8192,16383,1000000,9007199254740991"),
            ("ministral3", "0,16383,16383.75,16384,32767,32768,262143,9007199254740991"),
        )
        for dtype in DTYPES
    },
    "temperature_steps": "length=7&offset=24574.75&step=0.1&dim=2&temperature=llama4",
    "temperature_of_its_own": "length=8&dim=2&temperature=llama4&temperature_beta=0.5"
    "&temperature_length=2",
    "temperature_beta_0": "length=2&offset=20000&dim=2&temperature=ministral3"
    "&temperature_beta=0",
    "temperature_of_the_preset": "length=2&offset=131071&dim=8&preset=ministral3"
    "&temperature=ministral3",
    "temperature_of_yarn": f"length=3&offset=4095&dim=8&{YARN}=4096&factor=4"
    "&temperature=ministral3",
    "temperature_llama4_scout": "length=2&offset=8190&dim=128&preset=llama4_scout"
    "&temperature=llama4",
    "preset_ministral3": "preset=ministral3&length=2&offset=16383&dim=128",
    "everything": "length=2&dim=4&preset=deepseek_v3&cos_sin=true"
    "&softmax_factor=true&temperature=ministral3",
}

XPOS = {
    "defaults": "length=6&dim=8",
    **{
        f"{layout}_{table}_{dtype}": f"length=5&offset=7&dim=8&layout={layout}&table={table}"
        f"&dtype={dtype}"
        for layout, table, dtype in product(
            ("half", "interleaved"), ("half_width", "full"), DTYPES
        )
    },
    "dim_2": "length=6&offset=-2&dim=2",
    "dim_130": "length=2&offset=300&dim=130",
    "dim_130_f64": "length=1&offset=300&dim=130&dtype=f64",
    "more_rows_than_a_block": "length=67&offset=-40&dim=4&centre=3",
    "centre_of_torchscale": "length=9&dim=6&centre=5",
    "centre_far": "length=4&offset=30000&dim=6&centre=1000",
    "centre_and_positions_far": "length=4&offset=999999998&dim=6&centre=1000000000",
    "centre_fractional": "length=5&dim=6&centre=2.25",
    "far_f16": "length=3&offset=4200&dim=6&dtype=f16",
    "far_f64": "length=3&offset=280000&dim=6&dtype=f64",
    "negative_offset": "length=5&offset=-2050&dim=6",
    "tenth_steps": "length=8&offset=-0.3&step=0.1&dim=6",
    "negative_step": "length=6&offset=4&step=-1.5&dim=6",
    "positions": "positions=0,0.5,-3,10000.75,0.1,-1048.5,0.000001,1&dim=6",
    "positions_f64": "positions=0,0.5,-3,10000.75,0.1,-1048.5,0.000001,1&dim=6&dtype=f64",
    "gamma_0.001": "length=4&offset=50&dim=6&gamma=0.001",
    "gamma_1000": "length=4&offset=50&dim=6&gamma=1000&dtype=f64",
    "scale_base_64": "length=4&offset=50&dim=6&scale_base=64",
    "scale_base_1": "length=4&dim=6&scale_base=1",
    "scale_base_100000.5": "length=4&offset=50&dim=6&scale_base=100000.5",
    "base_12345.678": "length=4&offset=9&dim=6&base=12345.678",
}

ROTARY_CASES = {
    "rope": {
        **ROPE_POSITIONS,
        **ROPE_SHAPES,
        **ROPE_TYPES,
        **ROPE_YARN,
        **ROPE_MODELS,
        **ROPE_EXTRAS,
    },
    "rotation_matrix": ROTATION_MATRIX,
    "xpos": XPOS,
}
