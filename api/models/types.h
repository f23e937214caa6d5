/* The table of model types: rows, and the rules that they are made of. What rules state is in
 * facts.h, how rows are written in rules.h. */
#ifndef API_MODELS_TYPES_H
#define API_MODELS_TYPES_H

#include "models/config.h"
#include "models/facts.h"

/* What a rule does: plan parts of the config's component, as its facts and the config say. */
typedef void model_plan_rule(model_config *config, const void *facts);

/* One rule of a model type: plans a part, or says to whom the next ones apply. */
typedef struct model_rule {
    model_plan_rule *plan;
    const void *facts;
    const char *key, *is, *otherwise; /* without `plan`: the next rule holds only where the key
                                       * has this text; `otherwise` is that of an absent key */
    const char *others; /* words that the key may have and no condition asks for; or NULL */
    bool only_4_53;     /* other releases do not read the key: it holds */
} model_rule;

/* One row of the table of model types. */
struct model_type {
    const char *name;        /* `model_type` of a config, or `_class_name` of diffusers */
    const char *component;   /* what it is called unless a parent names it; NULL: it has
                              * components alone */
    const char *family;      /* what it is, in a few words */
    const model_rule *rules; /* the last one has neither `plan` nor `key` */
};

/* The table of model types. */
struct model_types {
    const model_type *rows;
    size_t count;
};

/* The table. Rules that look a type up take it from the planner, since rows are made of rules.
 */
extern const model_types model_all_types;

/* ---- type_of_config.c ---- */

/* The row of a model type; NULL if there is none. */
const model_type *model_type_find(const model_types *types, const char *name);

/* The model type that a name is a slip of: NULL, rather than one whose tables are others. */
const char *model_type_suggest(const model_types *types, const char *name);

/* The row that reads a config. NULL, with a problem, if there is none. */
const model_type *find_model_type(const model_config *config);

/* ---- components.c ---- */

/* Apply the rules of config->type to the config. */
void model_plan_type(model_config *config);

/* ---- the rules, whose facts have their names ---- */

model_plan_rule model_plan_component, model_plan_stack;    /* components.c */
model_plan_rule model_plan_layers;                         /* layers.c */
model_plan_rule model_plan_rotary;                         /* rotary.c */
model_plan_rule model_plan_learned, model_plan_sinusoidal; /* absolute.c */
model_plan_rule model_plan_patches, model_plan_spectrogram, model_plan_video, model_plan_tiles;
model_plan_rule model_plan_swin, model_plan_depths;                  /* windows.c */
model_plan_rule model_plan_beit, model_plan_decomposed;              /* cells_facts */
model_plan_rule model_plan_latents, model_plan_unet;                 /* diffusion.c */
model_plan_rule model_plan_t5, model_plan_alibi, model_plan_deberta; /* relative.c */
model_plan_rule model_plan_transformer_xl, model_plan_two_sided, model_plan_shaw;
model_plan_rule model_plan_t5_stacks; /* of an encoder and a decoder */
model_plan_rule model_plan_grid;      /* grids.c */
model_plan_rule model_plan_timm_rope; /* timm_rope.c; of grid_facts theta alone is read */
model_plan_rule model_plan_word, model_plan_temperature; /* grids.c */

#endif
