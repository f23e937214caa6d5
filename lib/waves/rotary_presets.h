/* The rotary settings of models by name, as their published config.json has them. */
#ifndef PE_ROTARY_PRESETS_H
#define PE_ROTARY_PRESETS_H

#include "posenc.h"

#define PE_ROTARY_PRESET_COUNT 20

/* For the parameters of rope. dim, the width of a head, is not among them. */
extern const pe_preset pe_rotary_presets[PE_ROTARY_PRESET_COUNT];

#endif
