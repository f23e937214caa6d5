/* Presets of waves by the names of models and libraries that have them. None says the width of
 * a head, dim, nor the sizes of a grid. */
#ifndef PE_PRESETS_H
#define PE_PRESETS_H

#include "posenc.h"

#define PE_ROTARY_PRESET_COUNT 20
#define PE_MROPE_PRESET_COUNT  6
#define PE_AXIAL_PRESET_COUNT  9
#define PE_GRID_PRESET_COUNT   11

/* Of rope and mrope, as published config.json files have them; mrope's models all have dim=128.
 */
extern const pe_preset pe_rotary_presets[PE_ROTARY_PRESET_COUNT];
extern const pe_preset pe_mrope_presets[PE_MROPE_PRESET_COUNT];

/* Of axial_rope and sinusoidal_2d, as the libraries' code computes them. */
extern const pe_preset pe_axial_presets[PE_AXIAL_PRESET_COUNT];
extern const pe_preset pe_grid_presets[PE_GRID_PRESET_COUNT];

#endif
