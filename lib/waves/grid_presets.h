/* The sinusoidal encodings of grids in vision models by name, as the libraries' code computes
 * them. */
#ifndef PE_GRID_PRESETS_H
#define PE_GRID_PRESETS_H

#include "posenc.h"

#define PE_GRID_PRESET_COUNT 11

/* For the parameters of sinusoidal_2d. Neither sizes nor dim is among them. */
extern const pe_preset pe_grid_presets[PE_GRID_PRESET_COUNT];

#endif
