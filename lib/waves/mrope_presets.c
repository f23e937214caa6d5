/* Presets of multimodal rotary embeddings. */
#include "waves/mrope_presets.h"

#include <stddef.h>

const pe_preset pe_mrope_presets[PE_MROPE_PRESET_COUNT] = {
    {"qwen2_vl", "Qwen2-VL", {"rope_theta", "1000000", "mrope_section", "16,24,24", NULL}},
    {"qwen2_5_vl",
     "Qwen2.5-VL, whose seconds Hugging Face cuts to integers; vLLM has "
     "frame_positions=seconds",
     {"rope_theta", "1000000", "mrope_section", "16,24,24", "frame_positions", "whole_seconds",
      "tokens_per_second", "2", NULL}},
    {"qwen3_vl",
     "Qwen3-VL, with a time stamp before each frame",
     {"rope_theta", "5000000", "mrope_section", "24,20,20", "section_order", "interleaved",
      "frame_positions", "apart", NULL}},
    {"ernie4_5_vl",
     "ERNIE 4.5 VL",
     {"rope_theta", "500000", "layout", "interleaved", "mrope_section", "22,22,20",
      "section_order", "alternating", "temporal_merge_size", "2", NULL}},
    {"glm4v",
     "GLM-4.1V, with a time stamp before each frame",
     {"layout", "interleaved", "partial_rotary_factor", "0.5", "mrope_section", "8,12,12",
      "frame_positions", "apart", NULL}},
    {"glm4v_moe",
     "GLM-4.5V, with a time stamp before each frame",
     {"partial_rotary_factor", "0.5", "mrope_section", "8,12,12", "frame_positions", "apart",
      NULL}},
};
