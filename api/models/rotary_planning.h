/* Rotary parts: from the many spellings of their keys to the arguments of the scheme rope. */
#ifndef API_MODELS_ROTARY_PLANNING_H
#define API_MODELS_ROTARY_PLANNING_H

#include "models/planning.h"

/* ---- rotary_keys.c: what the keys of a config say of one rotary table ---- */

typedef struct rotary_keys {
    const rotary_facts *facts;
    const char *layer_type;  /* NULL: one table for all */
    bool is_local;           /* the layer type is that of sliding layers */
    bool is_flat;            /* the dictionary is not by types of layers */
    model_config dictionary; /* rope_scaling or rope_parameters, that of the layer type */
    const char *type;
    api_origin type_from;
    double seq_len; /* that chooses between frequencies; 0: what the request or config says */
    model_number theta, head, partial, width, longest, original;
    bool interleaved;
    api_origin interleaved_from;
    bool is_level;    /* yarn's attention_factor is 1 unless given */
    json_t *sections; /* mrope_section; NULL: not M-RoPE */
    api_origin sections_from;
} rotary_keys;

rotary_keys model_rotary_keys(model_config *config, const rotary_facts *facts,
                              const char *layer_type, bool is_local);

/* The columns that turn. */
static inline double model_rotary_width(const rotary_keys *keys)
{
    return isnan(keys->width.value) ? floor(keys->head.value * keys->partial.value)
                                    : keys->width.value;
}

/* ---- rotary_table.c ---- */

/* Plan the part of one table. `suffix` is that of its name. */
api_model_part *model_plan_table(const model_config *config, const rotary_keys *keys,
                                 const char *suffix);

/* ---- rotary_types.c ---- */

/* Add the arguments of the rope_type, and the facts about them. */
void model_rotary_type(const rotary_keys *keys, api_model_part *part);

/* The rope_scaling of Llama 3.1's law with a factor, and its other published numbers. */
json_t *model_pack_llama3(double factor);

/* What that law divides the frequency of a wavelength by, with this factor and length. */
double model_llama3_divisor(double wavelength, double factor, double original);

/* The rope_scaling of divisors of the frequencies, a list, which is consumed. */
json_t *model_pack_divisors(json_t *divisors, double longest);

/* ---- rotary_own.c: what single classes do, which their rows name ---- */

typedef void model_rotary_own(const model_config *config, rotary_keys *keys);
model_rotary_own model_own_deepseek_v4, model_own_dbrx, model_own_gptj, model_own_nomic;
model_rotary_own model_own_phi3, model_own_zamba2;

/* Two tables under names of their own; a table for each theta of layer_rope_theta; none where
 * rope_theta is null; dense layers that turn before mixtures of experts. */
model_plan_rule model_plan_deepseek_v4, model_plan_zaya, model_plan_layer_thetas;
model_plan_rule model_plan_olmo_hybrid, model_plan_cohere2_moe;

/* Two tables, for layers of full attention and for sliding ones, whose dictionaries have these
 * names; types[i] are the types of layers that use the one of names[i], by blanks. */
void model_plan_both_kinds(model_config *config, const rotary_facts *facts,
                           const char *const names[2], const char *const types[2]);

#endif
