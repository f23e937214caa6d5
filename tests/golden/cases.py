"""The golden cases: {scheme: {case name: query string}}."""

from itertools import product

DTYPES = ("f32", "f64", "f16", "bf16")

# Integers that come close to a multiple of pi/2 (numerators of its convergents): one of sine
# and cosine almost vanishes there, and all of its bits come from the argument reduction.
NEAR_QUARTER_TURNS = (
    "11,344,355,51819,52174,260515,573204,4846147,5419351,37362253,42781604,122925461,"
    "411557987,534483448,2549491779,3083975227,17969367914,21053343141,881156436695,"
    "902209779836,2685575996367,8958937768937,65398140378926,74357078147863,"
    "139755218526789,214112296674652,5920787228742393,6134899525417045"
)

# Integers whose sine or cosine lies within 2e-8 of an ulp of a rounding boundary of f32.
NEAR_TIES_F32 = (
    "59297659,76292798,2127657,46204913,5428171,61553337,46590787,34357995,13701936,52126884,"
    "74146599"
)

# Integers whose sine or cosine would round differently if it were rounded to f32 first.
DOUBLE_ROUNDING_F16 = "300,7101,10213,16292,22747,29884,34715,45346,45643,80315,81116,83412"
DOUBLE_ROUNDING_BF16 = "11446,15443,49043,129252,130338,219051,306294,316855,419381,477614"

# Positions k halfway between two neighbours of the dtype whose even one is above; sin k is
# below k by a k^2/6 part of it only, and must round down.
TIES_F32 = (  # (2^24 + 3) * 2^e for e = -40, -52, -64, -90 and minus the third
    "0.000015258791790984105,0.000000003725290964595729,0.0000000000009094948644032541,"
    "0.000000000000000000013552529579449506,-0.0000000000009094948644032541"
)
TIES_F16 = (  # 2051 * 2^e for e = -17, -20, -24 and +-3 * 2^-25, a subnormal
    "0.01564788818359375,0.0019559860229492188,0.00012224912643432617,"
    "0.00000008940696716308594,-0.00000008940696716308594"
)
TIES_BF16 = (  # 259 * 2^e for e = -14, -24, -40, -60 and minus the last
    "0.01580810546875,0.000015437602996826172,0.0000000002355591277591884,"
    "0.0000000000000002246466901389965,-0.0000000000000002246466901389965"
)

MIXED_POSITIONS = (
    "0,0.5,-3,1000000,0.1,-1048575.75,2147483647,-4294967296,1099511627776.3,"
    "9007199254740992,1,0.000001"
)
MIXED_POSITIONS_TO_2_48 = MIXED_POSITIONS.replace("9007199254740992", "281474976710656")

INTEGER = {
    "first_rows": "length=10",
    "one_row": "length=1&offset=-7",
    "offset_60_length_10": "length=10&offset=60",
    "offset_minus_70_length_140": "length=140&offset=-70",
    "tenth_steps": "length=12&offset=-0.3&step=0.1",
    "tenth_steps_f64": "length=12&offset=-0.3&step=0.1&dtype=f64",
    "negative_step": "length=9&offset=4&step=-1.5",
    "f64_mixed": f"positions={MIXED_POSITIONS}&dtype=f64",
    "f32_beyond_2_24": "length=8&offset=16777214",
    "f32_ties": "positions=16777217,16777219,-16777217,33554434,33554438,-33554438,"
    "1000000001,9007199254740991,-9007199254740991,9007199254740992,-9007199254740992",
    # The first row is a tie, the next one is above it by less than a double can tell.
    "f32_tie_broken_by_the_step": "length=3&offset=1.000000059604644775390625"
    "&step=0.0000000000000000000009765625",
    "f64_rows_between_doubles": "length=5&offset=9007199254740991&step=0.25&dtype=f64",
    "f16_beyond_2048": "length=8&offset=2046&dtype=f16",
    "f16_ties": "positions=2049,2051,-2049,4098,4102,65504,65519,-65519,0.1,3.14159&dtype=f16",
    # 1.5, 0.5 and 0.25 of the least subnormal, then just above its half.
    "f16_subnormals": "positions=0.000000089406967163085938,0.000000029802322387695312,"
    "-0.000000029802322387695312,-0.000000014901161193847656,0.000000029802322387695316,"
    "0.00006,-0.00006&dtype=f16",
    "bf16_beyond_256": "length=8&offset=254&dtype=bf16",
    "bf16_ties": "positions=257,259,-257,514,518,65535,16777217,1000000001,9007199254740991,"
    "0.1,3.14159&dtype=bf16",
}

NORMALIZED = {
    f"length_{length}_{dtype}": f"length={length}&dtype={dtype}"
    for length, dtype in product((1, 2, 3, 10, 1000), DTYPES)
}

BINARY = {
    "first_rows": "length=17&width=5",
    "zero_has_one_bit": "length=1&width=1",
    "lsb": "length=17&order=lsb&width=5",
    "msb_width_12": "length=9&offset=1020&width=12&order=msb",
    "lsb_width_12": "length=9&offset=1020&width=12&order=lsb",
    "step_3": "length=30&offset=5&step=3&width=7",
    "negative_step": "length=11&offset=10&step=-1&width=4",
    "offset_60_length_10": "length=10&offset=60&width=7",
    "positions": "positions=5,0,1023,512,1,0,70&width=10",
    "up_to_2_53_minus_1": "positions=9007199254740991,0,1,4503599627370496,6004799503160661"
    "&width=53",
    "up_to_2_53_minus_1_lsb": "length=4&offset=9007199254740988&order=lsb&width=53",
    "two_to_53": "positions=9007199254740992,9007199254740991,1&width=54",
    **{f"dtype_{dtype}": f"length=6&width=3&dtype={dtype}" for dtype in DTYPES},
}

PERIODIC = {
    "dyadic_first_rows": "length=17&dim=8",
    "dyadic_dim_1": "length=9&offset=-4&dim=1",
    "dyadic_quarter_periods": "positions=1,-1,2,3,4,8,16,32,48,64,-64,96,128,1024&dim=7",
    "dyadic_large_positions": "positions=1000001,1000000001,-1000000003,1099511627777,"
    "9007199254740991,-9007199254740991,9007199254740992&dim=60",
    "dyadic_fractions": "positions=0.5,0.25,-0.75,1.5,0.1,-1048575.7&dim=12",
    "dyadic_quarter_steps": "length=20&offset=-2&step=0.25&dim=6",
    "dyadic_offset_minus_70_length_140": "length=140&offset=-70&dim=4",
    "dyadic_subnormals_f32": "positions=1,-1,3,0.1&dim=160",
    "dyadic_subnormals_f16": "positions=1,-1,3,0.1&dim=40&dtype=f16",
    "dyadic_subnormals_bf16": "positions=1,-1,3,0.1&dim=160&dtype=bf16",
    "dyadic_dim_1024": "length=1&offset=12345&dim=1024",
    "geometric_first_rows": "length=10&dim=8&frequencies=geometric",
    "geometric_dim_7_base_10": "length=10&offset=-3&dim=7&frequencies=geometric&base=10",
    "geometric_base_12345.678": "length=5&offset=999998&dim=16&frequencies=geometric"
    "&base=12345.678",
    "geometric_mixed": f"positions={MIXED_POSITIONS}&dim=8&frequencies=geometric",
    **{
        f"{rule}_{dtype}": f"length=12&offset=-2&dim=6&frequencies={rule}&dtype={dtype}"
        for rule, dtype in product(("dyadic", "geometric"), DTYPES[1:])
    },
}

SINUSOIDAL_POSITIONS = {
    "first_rows": "length=16&dim=16",
    "one_row": "length=1&offset=17&dim=6",
    "dim_2": "length=6&dim=2",
    "around_1e6": "length=6&offset=999997&dim=16",
    "around_1e9": "length=6&offset=999999997&dim=16",
    "around_2_40": "length=6&offset=1099511627773&dim=16",
    "up_to_2_53": "length=8&offset=9007199254740985&dim=16",
    "down_to_minus_2_53": "length=8&offset=-9007199254740985&step=-1&dim=16",
    "rows_between_doubles": "length=5&offset=9007199254740991&step=0.25&dim=8",
    "known_hard_positions": "positions=131071,1048575,1000000000&dim=64",
    "negative_offset": "length=8&offset=-5&dim=8",
    "quarter_steps": "length=12&offset=-1.25&step=0.25&dim=8",
    "tenth_steps": "length=12&offset=-0.3&step=0.1&dim=8",
    "tenth_steps_around_2_40": "length=8&offset=1099511627776&step=0.1&dim=8",
    "negative_step": "length=9&offset=4&step=-1.5&dim=8",
    "offset_60_length_10": "length=10&offset=60&dim=8",
    "offset_minus_70_length_140": "length=140&offset=-70&dim=4",
    "mixed": f"positions={MIXED_POSITIONS}&dim=12",
    "near_quarter_turns": f"positions={NEAR_QUARTER_TURNS}&dim=2",
    "near_ties_f32": f"positions={NEAR_TIES_F32}&dim=2",
}

SINUSOIDAL_DTYPES = {
    **{f"dtype_{dtype}": f"length=12&offset=-4&dim=8&dtype={dtype}" for dtype in DTYPES[1:]},
    "mixed_f64": f"positions={MIXED_POSITIONS_TO_2_48}&dim=12&dtype=f64",
    "mixed_f16": f"positions={MIXED_POSITIONS}&dim=12&dtype=f16",
    "mixed_bf16": f"positions={MIXED_POSITIONS}&dim=12&dtype=bf16",
    "around_1e9_f64": "length=6&offset=999999997&dim=16&dtype=f64",
    "subnormals_f16": "positions=1,-1,0.01,-0.01,0.0001,-0.0001&dim=8&base=1000000&dtype=f16",
    "near_quarter_turns_f64": f"positions={NEAR_QUARTER_TURNS.rsplit(',', 2)[0]}&dim=2"
    "&dtype=f64",
    "double_rounding_f16": f"positions={DOUBLE_ROUNDING_F16}&dim=2&dtype=f16",
    "double_rounding_bf16": f"positions={DOUBLE_ROUNDING_BF16}&dim=2&dtype=bf16",
    "ties_f32": f"positions={TIES_F32}&dim=2",
    "ties_f16": f"positions={TIES_F16}&dim=2&dtype=f16",
    "ties_bf16": f"positions={TIES_BF16}&dim=2&dtype=bf16",
}

# Times of diffusion models, whole and fractional.
TIMES = {
    "ddpm": "0,1,500.5,999",
    "dit": "0,1,0.3,999.99",
    "sd3": "0,1000,333.25,999.0000001",
    "flux": "0,1,0.5,0.9869,0.0001",
    "ggml": "0,999,0.1,14.6146",
}

SINUSOIDAL_CHOICES = {
    **{
        f"{layout}_{rule}": f"length=6&offset=9&dim=8&layout={layout}&frequencies={rule}"
        for layout, rule in product(
            ("interleaved", "concat", "concat_cos_first"), ("vaswani", "tensor2tensor")
        )
    },
    "per_column": "length=6&dim=8&frequencies=per_column",
    **{
        f"{odd_dim}_{layout}_{rule}": f"length=4&offset=5&dim=7&layout={layout}"
        f"&frequencies={rule}&odd_dim={odd_dim}"
        for odd_dim, layout, rule in product(
            ("truncate", "pad"),
            ("interleaved", "concat", "concat_cos_first"),
            ("vaswani", "tensor2tensor"),
        )
    },
    "truncate_per_column": "length=4&offset=5&dim=7&frequencies=per_column&odd_dim=truncate",
    "pad_per_column": "length=4&offset=5&dim=7&frequencies=per_column&odd_dim=pad",
    "truncate_even_dim": "length=4&dim=6&odd_dim=truncate",
    "truncate_dim_3": "length=4&dim=3&odd_dim=truncate",
    "pad_dim_3": "length=4&dim=3&odd_dim=pad",
    "tensor2tensor_dim_4": "length=6&dim=4&frequencies=tensor2tensor",
    "zero_first_row": "length=7&offset=-3&dim=6&zero_first_row=true",
    "zero_first_row_positions": "positions=3,0,-2,0,0.5&dim=4&zero_first_row=true",
    "amplitude_0.5": "length=6&offset=-2&dim=8&amplitude=0.5",
    "amplitude_0.5_f64": "length=6&offset=-2&dim=8&amplitude=0.5&dtype=f64",
    "amplitude_3.7": "length=6&offset=-2&dim=8&amplitude=3.7",
    "amplitude_3.7_bf16": "length=6&offset=-2&dim=8&amplitude=3.7&dtype=bf16",
    "amplitude_minus_2": "length=6&offset=-2&dim=7&amplitude=-2&odd_dim=pad",
    # 1 + 3 * 2^-24: the cosine of row 0 is a tie and goes up, the others are just below it.
    "amplitude_tie": "positions=0,0.000000001,-0.000001,0.0001&dim=2"
    "&amplitude=1.000000178813934326171875",
    **{
        f"dim_1024_base_{base}": f"length=1&offset=123456&dim=1024&base={base}"
        for base in ("1", "10", "10000", "12345.678", "1000000")
    },
    # frequencies that rise: 10^(4i/63) of DiffWave and CSDI, and others
    **{
        f"rising_{dtype}": f"length=5&offset=46&dim=12&base=0.0001&layout=concat"
        f"&frequencies=tensor2tensor&dtype={dtype}"
        for dtype in DTYPES
    },
    "rising_dim_128": "length=2&offset=49&dim=128&base=0.0001&frequencies=tensor2tensor",
    "rising_fractions": "positions=0,0.5,-3.25,0.1,1e-9,123456.789&dim=10&base=0.003&dtype=f64",
    "rising_steps": "length=4&offset=-0.3&step=0.1&dim=9&base=0.5&odd_dim=truncate",
    "rising_per_column": "length=4&offset=-2&dim=7&base=0.01&frequencies=per_column"
    "&odd_dim=pad&zero_first_row=true",
    "rising_times": "positions=0,1,0.333&dim=8&base=0.02&position_scale=1000&amplitude=2",
    "rising_power_of_two": "length=4&dim=6&base=0.25&frequencies=tensor2tensor&dtype=f64",
    "rising_dim_2": "length=3&dim=2&base=0.1",
    "rising_least_base": "positions=0.001,-0.0011&dim=8&base=1e-18&frequencies=tensor2tensor",
    "rising_far": "positions=1125899906842,-1125899906841.5&dim=4&base=0.001"
    "&frequencies=tensor2tensor&dtype=f64",
    "dim_768_around_1e9_bf16": "length=2&offset=1000000007&dim=768&dtype=bf16",
    **{
        f"preset_{name}": f"preset={name}&length=5&dim=8"
        for name in ("vaswani", "whisper", "marian", "transformer_xl", "seed_cls")
    },
    **{
        f"preset_{name}_dim_{dim}": f"preset={name}&length=5&dim={dim}"
        for name, dim in product(("tensor2tensor", "fairseq"), ("8", "7"))
    },
    **{
        f"preset_{name}_{dim}_{dtype}": f"preset={name}&positions={times}&dim={dim}"
        f"&dtype={dtype}"
        for name, times in TIMES.items()
        for dim, dtype in (("8", "f32"), ("7", "f32"), ("8", "f64"), ("8", "f16"))
    },
    "position_scale_steps": "length=9&offset=-0.25&step=0.125&dim=8&position_scale=1000",
    "position_scale_small": "length=5&offset=999997&dim=8&position_scale=0.001&dtype=f64",
    "position_scale_of_many_bits": "positions=0.3,1000000,-0.000001&dim=8&position_scale=1.1",
    "position_scale_up_to_2_52": "positions=4503599627,-4503599627.25,0&dim=8"
    "&position_scale=1000000",
    # (2^24 + 3) * 2^-50 in two factors
    "position_scale_tie": "positions=0.0000000003725290964595729,-0.0000000003725290964595729"
    "&dim=2&position_scale=40",
    "preset_whisper_interleaved": "preset=whisper&length=5&dim=8&layout=interleaved",
}

LEGAL_GROUPINGS = (("interleaved", "axis"), ("concat", "axis"), ("concat", "function"))

SINUSOIDAL_2D = {
    **{
        f"{shape}_{layout}_{axis_order}_{grouping}": f"height=2&width=3&dim=8&layout={layout}"
        f"&axis_order={axis_order}&grouping={grouping}&shape={shape}"
        for shape, (layout, grouping), axis_order in product(
            ("chw", "hwc", "nc"), LEGAL_GROUPINGS, ("width_first", "height_first")
        )
    },
    "defaults": "height=3&width=4&dim=8",
    **{
        f"extra_tokens_{count}": f"height=2&width=3&dim=8&shape=nc&extra_tokens={count}"
        for count in (0, 1, 3)
    },
    "one_row_of_cells": "height=1&width=7&dim=8&shape=nc",
    "one_column_of_cells": "height=7&width=1&dim=8&shape=nc",
    "one_cell": "height=1&width=1&dim=4",
    "dim_4": "height=5&width=3&dim=4",
    "dim_12": "height=3&width=5&dim=12&layout=concat",
    "base_100": "height=3&width=3&dim=16&base=100",
    "grid_3_by_130": "height=3&width=130&dim=4",
    "grid_130_by_3": "height=130&width=3&dim=4&shape=hwc",
    **{f"dtype_{dtype}": f"height=3&width=4&dim=8&dtype={dtype}" for dtype in DTYPES[1:]},
    "preset_mae": "preset=mae&height=5&width=5&dim=16&extra_tokens=1",
    "preset_timm": "preset=timm&height=3&width=5&dim=16",
    "preset_timm_interleaved": "preset=timm_interleaved&height=3&width=5&dim=16",
    **{
        f"preset_{name}": f"preset={name}&height=3&width=5&dim=16"
        for name in ("detr", "deformable_detr", "dab_detr", "rt_detr", "pixart", "sd3")
    },
    **{
        f"preset_{name}_{dtype}": f"preset={name}&height=3&width=4&dim=8&dtype={dtype}"
        for name, dtype in product(("detr", "deformable_detr", "pixart", "sd3"), DTYPES[1:])
    },
    "normalized_one_cell": "preset=detr&height=1&width=1&dim=8&dtype=f64",
    "normalized_nc_extra_tokens": "preset=detr&height=2&width=3&dim=8&shape=nc&extra_tokens=2",
    "normalized_by_function": "preset=detr&height=2&width=3&dim=8&shape=hwc&layout=concat"
    "&grouping=function",
    "normalized_from_0": "height=3&width=4&dim=8&normalize=cells&turns=0.5",
    "normalized_turns_100.25": "height=3&width=2&dim=8&normalize=cells&turns=100.25&dtype=f64",
    # 2000001 = 3 * 666667: the third position is a quarter of a million turns
    "normalized_quarter_turns": "height=1&width=2&dim=8&normalize=cells&turns=666667"
    "&first_position=0.5&dtype=f64&base=16",
    "normalized_base_1": "height=2&width=3&dim=8&normalize=cells&base=1",
    "bases_of_both_axes": "height=3&width=4&dim=8&base=20&base_height=7.5",
    "bases_normalized": "height=3&width=4&dim=8&preset=dab_detr&base_height=100&shape=hwc",
    "first_position_0.5": "height=3&width=4&dim=8&first_position=0.5",
    "first_position_1_bases": "height=3&width=4&dim=8&first_position=1&base_height=100",
    "interpolation_0.7": "height=3&width=4&dim=8&interpolation_scale=0.7",
    "interpolation_0.001": "height=3&width=4&dim=8&interpolation_scale=0.001&dtype=f64",
    "base_size_larger": "height=3&width=5&dim=8&base_size=1000&first_position=0.5",
    "table_size_without_base": "height=3&width=4&dim=8&table_size=96&shape=nc",
    "table_size_96_odd": "height=3&width=5&dim=16&preset=sd3&table_size=96",
    "padded_right_and_below": "preset=detr&height=4&width=5&dim=8&mask=3,2,3,2,3,7",
    "padded_deformable": "preset=deformable_detr&height=4&width=5&dim=8&mask=3,2,3,2,3,7",
    "padded_deformable_f64": "preset=deformable_detr&height=3&width=4&dim=8&mask=3,1,3,5"
    "&dtype=f64&base=100",
    "padded_left_and_above": "preset=detr&height=3&width=4&dim=8&mask=0,5,3,1,3&shape=hwc",
    "mask_with_holes": "preset=detr&height=4&width=4&dim=8&mask=1,1,3,2,1,3,2,1,2&shape=nc"
    "&extra_tokens=1",
    "mask_all_valid": "preset=detr&height=2&width=3&dim=8&mask=6",
    "mask_none_valid": "preset=deformable_detr&height=2&width=3&dim=8&mask=0,6",
    "mask_without_normalization": "height=3&width=4&dim=8&mask=3,1,3,5&first_position=1",
    "mask_from_0_bf16": "height=3&width=4&dim=8&mask=0,1,2,2,3,4&dtype=bf16&layout=concat"
    "&grouping=function",
    **{
        f"preset_{name}": f"preset={name}&height=3&width=5&dim=16"
        for name in ("simple_vit", "big_vision")
    },
    **{
        f"preset_simple_vit_{dtype}": f"preset=simple_vit&height=3&width=4&dim=12&dtype={dtype}"
        for dtype in DTYPES[1:]
    },
    "tensor2tensor_dim_8": "height=2&width=3&dim=8&frequencies=tensor2tensor",
    "tensor2tensor_bases": "height=3&width=4&dim=16&frequencies=tensor2tensor&base=20"
    "&base_height=100&dtype=f64",
    "tensor2tensor_normalized": "preset=deformable_detr&height=3&width=4&dim=12"
    "&frequencies=tensor2tensor&mask=3,1,3,5",
}

SINUSOIDAL_3D = {
    "defaults": "depth=2&height=3&width=4&dim=12",
    "one_cell": "depth=1&height=1&width=1&dim=6",
    **{
        f"{shape}_{axis_order}": f"depth=2&height=2&width=3&dim=6&shape={shape}"
        f"&axis_order={axis_order}"
        for shape, axis_order in product(
            ("dhwc", "dnc", "nc"),
            ("depth_height_width", "depth_width_height", "width_height_depth"),
        )
    },
    **{
        f"dtype_{dtype}": f"depth=2&height=2&width=3&dim=6&dtype={dtype}"
        for dtype in DTYPES[1:]
    },
    **{
        f"dim_{dim}": f"depth=3&height=2&width=2&dim={dim}" for dim in (2, 4, 8, 10, 14, 16, 20)
    },
    "concat": "depth=2&height=2&width=3&dim=18&layout=concat",
    "quarter_interleaved": "depth=3&height=2&width=2&dim=16&split=quarter",
    "base_100": "depth=2&height=3&width=2&dim=12&base=100&dtype=f64",
    "long_depth": "depth=70&height=1&width=1&dim=6",
    "scales": "depth=3&height=2&width=3&dim=12&spatial_interpolation_scale=0.3"
    "&temporal_interpolation_scale=7",
    **{
        f"preset_{name}": f"preset={name}&depth=2&height=2&width=3&dim=16"
        for name in ("cogvideox", "prithvi")
    },
    "preset_tatp22": "preset=tatp22&depth=2&height=2&width=3&dim=14",
    "preset_cogvideox_f64": "preset=cogvideox&depth=2&height=2&width=3&dim=16&dtype=f64",
    "preset_cogvideox_bf16": "preset=cogvideox&depth=2&height=2&width=3&dim=16&dtype=bf16",
    **{
        f"preset_simple_vit_{dtype}": "preset=simple_vit&depth=2&height=2&width=3&dim=18"
        f"&dtype={dtype}"
        for dtype in DTYPES
    },
    "tensor2tensor_dim_8": "depth=3&height=2&width=2&dim=8&frequencies=tensor2tensor",
    "tensor2tensor_quarter": "depth=2&height=2&width=3&dim=16&split=quarter"
    "&frequencies=tensor2tensor&base=100",
}

POINTS = "coordinates=0.1,-0.7,0.25,1,-1,0.5,0,0.333,-0.9999&axes=3"

FOURIER = {
    "defaults": "sizes=2,3&bands=3",
    **{
        f"{grid}_{angle}_{spacing}": f"sizes=4,3&bands=3&grid={grid}&angle={angle}"
        f"&spacing={spacing}"
        for grid, angle, spacing in product(
            ("corners", "centers", "unit", "index"),
            ("turns", "half_turns", "radians"),
            ("geometric", "linear"),
        )
    },
    **{
        f"{layout}_{include}": f"sizes=2,2,2&bands=2&layout={layout}&include_input={include}"
        for layout, include in product(
            ("concat", "concat_by_frequency", "by_frequency"), ("none", "first", "last")
        )
    },
    **{
        f"dtype_{dtype}_{spacing}": f"sizes=3,4&bands=3&dtype={dtype}&spacing={spacing}"
        "&max_frequency=11&include_input=last"
        for dtype, spacing in product(DTYPES[1:], ("geometric", "linear"))
    },
    **{
        f"points_{dtype}": f"{POINTS}&bands=4&dtype={dtype}&include_input=first"
        for dtype in DTYPES
    },
    **{
        f"points_{layout}": f"{POINTS}&bands=3&layout={layout}&angle=half_turns"
        for layout in ("concat", "concat_by_frequency", "by_frequency")
    },
    **{
        f"one_point_{grid}": f"sizes=1&bands=2&grid={grid}&include_input=last"
        for grid in ("corners", "centers", "unit", "index")
    },
    "one_band": "sizes=5&bands=1&max_frequency=7",
    "four_axes": "sizes=2,1,3,2&bands=1&layout=by_frequency",
    "highest_for_each_axis": "sizes=3,4&bands=3&spacing=linear&max_frequency=1.5,100",
    "lowest_0.1": "sizes=5&bands=4&min_frequency=0.1&max_frequency=3.7&dtype=f64",
    "multiples_of_0.1": "sizes=7&bands=5&min_frequency=0.1&spacing=linear&dtype=f64",
    "equal_frequencies": "sizes=5&bands=3&min_frequency=3&max_frequency=3",
    # the ratio is 1/3: the middle frequency is 3, if its logarithm is exact enough
    "quarter_turns_from_powers": "sizes=9&bands=3&max_frequency=9&dtype=f64",
    "quarter_turns_of_thirds": "sizes=7&bands=4&spacing=linear&max_frequency=2&dtype=f64",
    "bands_70": "sizes=3&bands=70&max_frequency=112&angle=half_turns",
    "high_frequencies": "sizes=5&bands=21&angle=radians",
    "large_coordinates": "coordinates=2147483648,-2147483647.75,123456.789&axes=1&bands=20"
    "&include_input=first",
    "small_coordinates_f64": "coordinates=1e-300,-1e-30,0.000001&axes=1&bands=3&dtype=f64",
    "tie_of_the_input_f16": "coordinates=2049,2051,-0.1&axes=1&bands=1&dtype=f16"
    "&include_input=last",
    "preset_nerfstudio": f"preset=nerfstudio&{POINTS}&bands=8&max_frequency=256",
    "preset_nerf": f"preset=nerf&{POINTS}&bands=10",
    "preset_perceiver": "preset=perceiver&sizes=3,4&bands=5",
    "preset_perceiver_f64": "preset=perceiver&sizes=3,2&bands=4&dtype=f64",
    "preset_timm_pixel": "preset=timm_pixel&sizes=3,4&bands=5",
    "preset_timm_fourier_embed": "preset=timm_fourier_embed&sizes=2,2&bands=224",
}

CASES = {
    "integer": INTEGER,
    "normalized": NORMALIZED,
    "binary": BINARY,
    "periodic": PERIODIC,
    "sinusoidal": {**SINUSOIDAL_POSITIONS, **SINUSOIDAL_DTYPES, **SINUSOIDAL_CHOICES},
    "sinusoidal_2d": SINUSOIDAL_2D,
    "sinusoidal_3d": SINUSOIDAL_3D,
    "fourier": FOURIER,
}
