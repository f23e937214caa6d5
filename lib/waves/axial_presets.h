/* The rotary tables of vision and video models by name, as the libraries' code computes them.
 */
#ifndef PE_AXIAL_PRESETS_H
#define PE_AXIAL_PRESETS_H

#include "posenc.h"

#define PE_AXIAL_PRESET_COUNT 9

/* For the parameters of axial_rope. Neither sizes nor dim, the width of a head, is among them.
 */
extern const pe_preset pe_axial_presets[PE_AXIAL_PRESET_COUNT];

#endif
