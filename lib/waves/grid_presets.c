/* Presets of sinusoidal encodings of grids. */
#include "waves/grid_presets.h"

#include <stddef.h>

const pe_preset pe_grid_presets[PE_GRID_PRESET_COUNT] = {
    {"mae", "MAE's get_2d_sincos_pos_embed", {"layout", "concat", "shape", "nc", NULL}},
    {"timm",
     "timm's build_sincos2d_pos_embed",
     {"layout", "concat", "axis_order", "height_first", "grouping", "function", "shape", "nc",
      NULL}},
    {"timm_interleaved",
     "timm's build_sincos2d_pos_embed with interleave_sin_cos",
     {"layout", "concat", "axis_order", "height_first", "shape", "nc", NULL}},
    {"detr",
     "DETR's position_embedding sine; also Conditional DETR, MaskFormer, Mask2Former",
     {"axis_order", "height_first", "first_position", "1", "normalize", "cells", NULL}},
    {"deformable_detr",
     "Deformable DETR and Grounding DINO: from the middles of the cells",
     {"axis_order", "height_first", "first_position", "0.5", "normalize", "cells", NULL}},
    {"dab_detr",
     "DAB-DETR, with the base 20",
     {"axis_order", "height_first", "first_position", "1", "normalize", "cells", "base", "20",
      NULL}},
    {"rt_detr",
     "RT-DETR's build_2d_sincos_position_embedding",
     {"layout", "concat", "axis_order", "height_first", "shape", "nc", NULL}},
    {"simple_vit",
     "posemb_sincos_2d of vit-pytorch's simple_vit",
     {"layout", "concat", "frequencies", "tensor2tensor", "shape", "nc", NULL}},
    {"big_vision",
     "posemb_sincos_2d of big_vision's ViT; also SigLIP in openpi",
     {"layout", "concat", "frequencies", "tensor2tensor", "shape", "nc", NULL}},
    {"pixart",
     "PixArt at 1024 x 1024, as diffusers computes it; 512 x 512 has base_size=32 and "
     "interpolation_scale=1",
     {"layout", "concat", "shape", "nc", "base_size", "64", "interpolation_scale", "2", NULL}},
    {"sd3",
     "the centre of Stable Diffusion 3's table; models differ in table_size",
     {"layout", "concat", "shape", "nc", "base_size", "64", "table_size", "192", NULL}},
};
