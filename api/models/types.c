/* The table of model types. Facts are those of Hugging Face's transformers 5 and of diffusers;
 * a row that differs says so. */
#include "models/types.h"

#include "models/rules.h"

#define TYPE(its_name, its_component, its_family, ...)                                         \
    {.name = (its_name),                                                                       \
     .component = (its_component),                                                             \
     .family = (its_family),                                                                   \
     .rules = (const model_rule[]){__VA_ARGS__, {.plan = NULL}}},

/* a row with the rules of another one */
#define LIKE(its_name, its_component, its_family, its_other)                                   \
    {.name = (its_name),                                                                       \
     .component = (its_component),                                                             \
     .family = (its_family),                                                                   \
     .like = (its_other)},

static const model_type TYPES[] = {
#include "models/types_absolute.def"
#include "models/types_audio.def"
#include "models/types_dialects.def"
#include "models/types_diffusion.def"
#include "models/types_experts.def"
#include "models/types_hybrid.def"
#include "models/types_none.def"
#include "models/types_pictures.def"
#include "models/types_relative.def"
#include "models/types_remote.def"
#include "models/types_several.def"
#include "models/types_text.def"
#include "models/types_timm.def"
#include "models/types_towers.def"
#include "models/types_vision.def"
};

const model_types model_all_types = {TYPES, sizeof TYPES / sizeof *TYPES};
