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
    const char *like;        /* the row that has its rules; NULL: it has its own */
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

/* The rules of a row. */
const model_rule *model_type_rules(const model_types *types, const model_type *type);

/* The model type that a name is a slip of: NULL, rather than one whose tables are others. */
const char *model_type_suggest(const model_types *types, const char *name);

/* The row that reads a config. NULL, with a problem, if there is none. */
const model_type *find_model_type(const model_config *config);

/* ---- components.c ---- */

/* Plan a config by the rules of its row, or by components that it holds beside. */
void model_plan_components(model_config *config);

/* ---- the rules; those that are called after a model are of its row alone ---- */

/* components.c, layers.c: with component_facts, stack_facts, a position, or layer_facts */
model_plan_rule model_plan_component, model_plan_depth_pro, model_plan_stack;
model_plan_rule model_plan_first_position, model_plan_layers;
/* rotary.c, grids.c; timm_rope.c reads theta of grid_facts alone */
model_plan_rule model_plan_rotary, model_plan_grid, model_plan_timm_rope, model_plan_word;
model_plan_rule model_plan_temperature, model_plan_llama4_temperature;
/* absolute.c, with table_facts, patches_facts, or nothing */
model_plan_rule model_plan_learned, model_plan_resized, model_plan_sinusoidal, model_plan_fsmt;
model_plan_rule model_plan_patches, model_plan_vivit, model_plan_mae;
model_plan_rule model_plan_spectrogram, model_plan_videomae, model_plan_mllama_tiles;
/* windows.c; diffusion.c, with latents_facts, or the first of block_out_channels */
model_plan_rule model_plan_swin, model_plan_beit, model_plan_decomposed, model_plan_cvt;
model_plan_rule model_plan_latents, model_plan_unet;
/* relative.c; t5_stacks: of an encoder and a decoder */
model_plan_rule model_plan_t5, model_plan_t5_stacks, model_plan_alibi, model_plan_deberta;
model_plan_rule model_plan_transformer_xl, model_plan_two_sided, model_plan_shaw;

#endif
