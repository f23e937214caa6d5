/* Presets of rotary tables of grids. */
#include "waves/axial_presets.h"

#include <stddef.h>

const pe_preset pe_axial_presets[PE_AXIAL_PRESET_COUNT] = {
    {"qwen2_vl_vision",
     "the vision tower of Qwen2-VL, Qwen2.5-VL, Qwen3-VL and GLM-4.xV; frames are repeats",
     {"row_order", "merge_blocks", "merge_size", "2", NULL}},
    {"pixtral", "the vision tower of Pixtral", {"ladder", "split", NULL}},
    {"llama4_vision",
     "the vision tower of Llama 4, whose class token comes last",
     {"layout", "interleaved", "axis_order", "reversed", "first_index", "1", "suffix", "1",
      NULL}},
    {"dinov3",
     "DINOv3; class and register tokens are a prefix",
     {"coordinate_type", "centres", "rope_theta", "100", NULL}},
    {"sam2",
     "the memory attention of SAM 2 and SAM 3",
     {"layout", "interleaved", "axis_order", "reversed", NULL}},
    {"vjepa2",
     "V-JEPA 2 with sizes=frames,height,width; the model pairs the columns 2i and 2i + 1 of "
     "this table, so that the two columns of a pair turn by different angles",
     {"split", "rounded_down", "layout", "half_by_axis", "table", "full", NULL}},
    {"flux",
     "FLUX.1 with sizes=1,height,width, and its text tokens as a prefix; 16, 56 and 56 of 128 "
     "columns",
     {"split", "eighth_first", "layout", "interleaved", NULL}},
    {"wan",
     "Wan with sizes=frames,height,width",
     {"split", "rest_to_first", "layout", "interleaved", NULL}},
    {"eva",
     "timm's RotaryEmbeddingCat as in EVA-02; reference_sizes are its ref_feat_shape",
     {"layout", "interleaved", NULL}},
};
