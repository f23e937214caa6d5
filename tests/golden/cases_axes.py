"""The golden cases of axial_rope and mrope: {scheme: {case name: query string}}."""

from itertools import product

from cases import DTYPES

AXIAL_COLUMNS = {
    **{
        f"{layout}_{table}_{dtype}": f"sizes=2,3&dim=8&first_index=5&layout={layout}"
        f"&table={table}&dtype={dtype}"
        for layout, table, dtype in product(
            ("half", "interleaved"), ("half_width", "full"), DTYPES
        )
    },
    "half_by_axis": "sizes=2,3&dim=12&layout=half_by_axis&table=full",
    "half_by_axis_of_unequal_axes": "sizes=2,2,2&dim=16&widths=4,2,8&layout=half_by_axis"
    "&table=full",
    "reversed": "sizes=2,3&dim=8&axis_order=reversed",
    "alternating": "sizes=2,3&dim=12&arrangement=alternating",
    "alternating_reversed_full": "sizes=3,2&dim=8&arrangement=alternating&axis_order=reversed"
    "&table=full",
    "alternating_split_interleaved": "sizes=3,2&dim=8&arrangement=alternating&ladder=split"
    "&layout=interleaved&table=full",
    "split_ladder": "sizes=3,2&dim=12&ladder=split",
    "split_ladder_reversed": "sizes=3,2&dim=12&ladder=split&axis_order=reversed",
    "split_ladder_with_rest": "sizes=3,2&dim=12&ladder=split&widths=4,4",
    "widths": "sizes=2,3&dim=10&widths=2,6",
    "widths_full": "sizes=2,3&dim=10&widths=2,6&table=full",
    "widths_interleaved_full": "sizes=2,3&dim=10&widths=2,6&table=full&layout=interleaved",
    "an_axis_without_columns": "sizes=2,3,2&dim=8&widths=0,4,4",
    "rounded_down": "sizes=2,1,2&dim=20&split=rounded_down",
    "rest_to_first": "sizes=2,1,2&dim=20&split=rest_to_first",
    "eighth_first": "sizes=2,1,2&dim=32&split=eighth_first",
    "one_axis": "sizes=5&dim=6",
    "one_cell": "sizes=1&dim=2",
    "four_axes": "sizes=2,1,3,2&dim=16",
    "theta_100": "sizes=2,2&dim=8&rope_theta=100",
    "theta_1": "sizes=2,2&dim=8&rope_theta=1",
    "theta_12345.678": "sizes=2,2&dim=8&rope_theta=12345.678",
}

AXIAL_ROWS = {
    "offset_1": "sizes=2,3&dim=8&first_index=1",
    "offset_by_axis": "sizes=2,3&dim=8&first_index=-1,5.5&dtype=f64",
    "offset_0.1_f64": "sizes=2,3&dim=8&first_index=0.1&dtype=f64",
    "offset_-16777216": "sizes=2,2&dim=8&first_index=-16777216&dtype=f64",
    **{
        f"reference_{dtype}": f"sizes=3,5&dim=8&reference_sizes=16,16&dtype={dtype}"
        for dtype in DTYPES
    },
    "reference_smaller": "sizes=6,7&dim=8&reference_sizes=2,7",
    "reference_offset_0.5": "sizes=3,1&dim=8&first_index=0.5&reference_sizes=65536,999"
    "&dtype=f64",
    **{
        f"centres_{dtype}": f"sizes=3,4&dim=8&coordinate_type=centres&dtype={dtype}"
        for dtype in DTYPES
    },
    "centres_of_12": "sizes=12,1&dim=4&coordinate_type=centres&rope_theta=16&dtype=f64",
    "centres_of_7": "sizes=7,6&dim=8&coordinate_type=centres&rope_theta=16&dtype=f64",
    "centres_theta_1": "sizes=3,2&dim=8&coordinate_type=centres&rope_theta=1",
    "centres_max": "sizes=3,5&dim=8&coordinate_type=centres&normalize=max",
    "centres_min": "sizes=3,5&dim=8&coordinate_type=centres&normalize=min&dtype=f64",
    "centres_min_1": "sizes=1,4&dim=8&coordinate_type=centres&normalize=min&dtype=f64",
    "listed": "sizes=2,3&dim=8&coordinate_type=listed&coordinates=0.5,-3,0,0.1,1048575.75",
    "listed_f64": "sizes=2,3&dim=8&coordinate_type=listed&coordinates=9007199254740991,1e-30,7,"
    "0,-2.5&dtype=f64",
    "zipped": "sizes=3,3&dim=8&row_order=zipped",
    "zipped_listed": "sizes=2,2,2&dim=12&row_order=zipped&coordinate_type=listed"
    "&coordinates=0,0,5,6,-1,2",
    "merge_2": "sizes=4,6&dim=8&row_order=merge_blocks",
    "merge_3_of_frames": "sizes=2,3,6&dim=12&row_order=merge_blocks&merge_size=3",
    "merge_1": "sizes=2,3&dim=8&row_order=merge_blocks&merge_size=1",
    "repeats": "sizes=2,2&dim=4&repeats=3",
    "prefix_and_suffix": "sizes=2,2&dim=4&prefix=2&suffix=1&repeats=2",
    "prefix_centres": "sizes=2,2&dim=4&prefix=1&suffix=2&coordinate_type=centres",
    "far_cells": "sizes=2,2&dim=8&coordinate_type=listed&coordinates=1000000000,999999999,"
    "1099511627776,131071",
}

AXIAL_MODELS = {
    "preset_qwen2_vl_vision": "preset=qwen2_vl_vision&sizes=4,2&dim=8&repeats=2",
    "preset_pixtral": "preset=pixtral&sizes=3,2&dim=8&table=full",
    "preset_llama4_vision": "preset=llama4_vision&sizes=2,3&dim=8",
    "preset_dinov3": "preset=dinov3&sizes=3,2&dim=8&prefix=5",
    "preset_sam2": "preset=sam2&sizes=2,3&dim=8&table=full",
    "preset_vjepa2": "preset=vjepa2&sizes=2,1,2&dim=16",
    "preset_flux": "preset=flux&sizes=1,2,2&dim=32&prefix=1",
    "preset_wan": "preset=wan&sizes=2,2,1&dim=16&table=full",
    "preset_eva": "preset=eva&sizes=2,3&dim=8&reference_sizes=16,16",
}

SMALL = "dim=8&mrope_section=1,2,1"  # 4 pairs
LONGROPE = "short_factor=1,1.05,1.25,2.5&long_factor=1.5,3.75,12.1,40"

MROPE_COLUMNS = {
    **{
        f"{layout}_{table}_{dtype}": f"text=2,1&grids=1,4,4&{SMALL}&layout={layout}"
        f"&table={table}&dtype={dtype}"
        for layout, table, dtype in product(
            ("half", "interleaved"), ("half_width", "full"), DTYPES
        )
    },
    "interleaved_sections": "text=1,1&grids=1,4,4&dim=20&mrope_section=4,3,3"
    "&section_order=interleaved",
    "interleaved_sections_11_11_10": "text=0,0&grids=1,2,4&dim=64&mrope_section=11,11,10"
    "&section_order=interleaved",
    "interleaved_sections_time_in_the_gaps": "text=0,0&grids=1,2,4&dim=18&mrope_section=5,1,3"
    "&section_order=interleaved",
    "alternating_sections": "text=1,1&grids=1,4,4&dim=16&mrope_section=3,3,2"
    "&section_order=alternating",
    "a_section_of_0": "text=1,1&grids=1,4,4&dim=8&mrope_section=0,2,2",
    "partial": "text=1,1&grids=1,2,4&dim=16&mrope_section=2,1,1&partial_rotary_factor=0.5"
    "&table=full",
    **{
        f"{name}": f"text=2,1&grids=1,4,2&first_position=99&{SMALL}&rope_type={more}"
        for name, more in (
            ("linear", "linear&factor=2.5"),
            ("ntk", "ntk&factor=4"),
            ("dynamic", "dynamic&factor=2&original_max_position_embeddings=2048&seq_len=5000"),
            ("yarn", "yarn&factor=4&original_max_position_embeddings=4096"),
            ("llama3", "llama3&rope_theta=500000"),
            ("proportional", "proportional&partial_rotary_factor=0.5"),
            (
                "longrope",
                "longrope&factor=32&original_max_position_embeddings=4096&seq_len=131072"
                f"&{LONGROPE}",
            ),
        )
    },
    "yarn_f64": f"text=2,1&grids=1,4,2&first_position=99&{SMALL}&rope_type=yarn&factor=4"
    "&original_max_position_embeddings=4096&dtype=f64",
    "proportional_full_f16": f"text=1,1&grids=1,4,2&{SMALL}&rope_type=proportional"
    "&partial_rotary_factor=0.5&table=full&dtype=f16",
}

MROPE_ROWS = {
    "text_alone": f"text=5&{SMALL}",
    "a_grid_alone": f"text=0,0&grids=2,4,2&{SMALL}",
    "two_grids_together": f"text=1,0,2&grids=1,4,2,1,2,6&{SMALL}",
    "frames": f"text=1,1&grids=3,2,4&{SMALL}",
    "more_frames_than_cells": f"text=0,2&grids=5,2,2&{SMALL}",
    "no_merging": f"text=1,1&grids=1,2,3&spatial_merge_size=1&{SMALL}",
    "frames_merged": f"text=1,0,1&grids=4,2,2,1,2,2&temporal_merge_size=2&{SMALL}",
    "seconds": f"text=1,1&grids=4,2,2&frame_positions=seconds&seconds_per_grid=0.75&{SMALL}",
    # 10 * 0.1 is above 1, since the double nearest to 0.1 is; 0.7 is below 7/10.
    "seconds_0.1": f"text=0,0&grids=11,2,2&frame_positions=seconds&seconds_per_grid=0.1"
    f"&tokens_per_second=1&{SMALL}",
    "seconds_0.7": f"text=0,0&grids=11,2,2&frame_positions=seconds&seconds_per_grid=0.7"
    f"&tokens_per_second=1&{SMALL}",
    "whole_seconds": f"text=1,1,1&grids=3,2,2,2,2,2&frame_positions=whole_seconds"
    f"&seconds_per_grid=1.9,0.5&tokens_per_second=25&{SMALL}",
    "seconds_of_1": f"text=1,1&grids=3,2,2&frame_positions=seconds&tokens_per_second=4&{SMALL}",
    "first_position": f"text=2,1&grids=1,4,4&first_position=2147483000&{SMALL}",
    "given": f"position_ids=0,7,1000000,3,7,2147483647,5,7,0&{SMALL}",
    "given_f64": f"position_ids=131071,7,1048575,3,7,2147483647,5,7,0&{SMALL}&dtype=f64",
}

MROPE_MODELS = {
    "preset_qwen2_vl": "preset=qwen2_vl&text=1,0&grids=1,2,4&dim=128",
    "preset_qwen2_5_vl": "preset=qwen2_5_vl&text=0,1&grids=2,2,2&seconds_per_grid=2&dim=128",
    "preset_qwen3_vl": "preset=qwen3_vl&text=1,1,0&grids=1,2,2,1,2,2&dim=128",
    "preset_ernie4_5_vl": "preset=ernie4_5_vl&text=0,1&grids=4,2,2&dim=128",
    "preset_glm4v": "preset=glm4v&text=1,0&grids=1,2,4&dim=128",
    "preset_glm4v_moe": "preset=glm4v_moe&text=1,0&grids=1,2,4&dim=128",
}

AXES_CASES = {
    "axial_rope": {**AXIAL_COLUMNS, **AXIAL_ROWS, **AXIAL_MODELS},
    "mrope": {**MROPE_COLUMNS, **MROPE_ROWS, **MROPE_MODELS},
}
