/* The multimodal rotary settings of models by name, as their published config.json has them. */
#ifndef PE_MROPE_PRESETS_H
#define PE_MROPE_PRESETS_H

#include "posenc.h"

#define PE_MROPE_PRESET_COUNT 6

/* For the parameters of mrope. dim, the width of a head, is not among them; all have 128. */
extern const pe_preset pe_mrope_presets[PE_MROPE_PRESET_COUNT];

#endif
