/* The arguments of each rope_type, as the scheme rope takes them. */
#include "models/rotary_planning.h"

#include <math.h>
#include <string.h>

/* A number of the dictionary, which Python's `or` replaces where it is 0 or null. */
static void add_optional(const rotary_keys *keys, api_model_part *part, const char *key,
                         bool zero_is_none)
{
    model_number number = model_real(&keys->dictionary, key, NAN);
    if (!isnan(number.value) && !(zero_is_none && number.value == 0)) {
        model_state_number(part, key, number);
    }
}

/* A number that must be in the dictionary, as transformers insists. */
static void add_required(const rotary_keys *keys, api_model_part *part, const char *key)
{
    model_number number = model_real(&keys->dictionary, key, NAN);
    if (isnan(number.value)) {
        model_refuse(part->config, model_origin(&keys->dictionary, key), NULL,
                     "given with rope_type %s", keys->type);
        return;
    }
    model_state_number(part, key, number);
}

static void add_original(const rotary_keys *keys, api_model_part *part)
{
    static const char key[] = "original_max_position_embeddings";
    model_number original = isnan(keys->original.value) ? keys->longest : keys->original;
    if (isnan(original.value)) {
        model_refuse(part->config, model_origin(&keys->dictionary, key), NULL,
                     "given with rope_type %s, unless max_position_embeddings is", keys->type);
        return;
    }
    model_state_number(part, key, original);
}

/* The quotient of the two lengths, with where it came from. */
static model_number divide_lengths(const model_config *config, const rotary_keys *keys)
{
    model_number result = {.value = keys->longest.value / keys->original.value};
    if (!isnan(result.value))
        result.from = model_divide_origins(config, keys->longest, keys->original);
    return result;
}

/* ---- one function for each type ---- */

typedef void type_adder(const rotary_keys *keys, api_model_part *part);

/* The length of the sequence: of the request, else the longest one. */
static void add_sequence(const rotary_keys *keys, api_model_part *part)
{
    int64_t asked = part->config->planner->plan->options->seq_len;
    if (asked > 0)
        model_argument_number(part, "seq_len", (double)asked + part->config->first,
                              MODEL_QUERY); /* the library counts from position 0 */
    else if (keys->seq_len > 0)
        model_argument_number(part, "seq_len", keys->seq_len,
                              MODEL_REMARK("the length that is named"));
    else
        model_argument_number(part, "seq_len", keys->longest.value, keys->longest.from);
}

static void add_dynamic(const rotary_keys *keys, api_model_part *part)
{
    model_number alpha = keys->facts->alpha ? model_real(&keys->dictionary, "alpha", NAN)
                                            : (model_number){.value = NAN};
    if (!isnan(alpha.value) && alpha.value != 0) {
        model_state_number(part, "alpha", alpha);
        model_note(part->notes, "theta grows by alpha^(d/(d-2)) for every sequence.");
        return;
    }
    add_required(keys, part, "factor");
    if (isnan(keys->longest.value))
        model_refuse(part->config, model_origin(part->config, "max_position_embeddings"), NULL,
                     "given with rope_type dynamic");
    model_argument_number(part, "max_position_embeddings", keys->longest.value,
                          keys->longest.from);
    add_sequence(keys, part);
    model_note(part->notes,
               "Up to %.0f positions these are the plain frequencies; give "
               "seq_len for those of a longer sequence.",
               keys->longest.value);
}

static void add_yarn(const rotary_keys *keys, api_model_part *part)
{
    bool older = part->config->planner->plan->options->convention == API_CONVENTION_4_53;
    model_number factor = model_real(&keys->dictionary, "factor", NAN);
    model_number lengths = divide_lengths(part->config, keys);
    bool has_key = json_object_get(keys->dictionary.object, "factor") != NULL;
    api_origin from;
    if (has_key && !isnan(lengths.value) && factor.given && factor.value != lengths.value)
        model_note(part->notes,
                   "factor is %g by %s; releases up to 4.53 take %g, which is %s "
                   "(convention=transformers-4.53).",
                   factor.value, model_word_origin(part->config, factor.from), lengths.value,
                   model_word_origin(part->config, lengths.from));
    if (!isnan(lengths.value) && (older || (has_key && isnan(factor.value))))
        factor = lengths;
    if (isnan(factor.value))
        model_refuse(part->config, model_origin(&keys->dictionary, "factor"), NULL,
                     "given with rope_type yarn");
    model_state_number(part, "factor", factor);
    add_original(keys, part);
    if (model_has(&keys->dictionary, "attention_factor")) {
        add_optional(keys, part, "attention_factor", false);
    } else if (keys->is_level) {
        model_argument_number(part, "attention_factor", 1, model_default(part->config));
    } else {
        add_optional(keys, part, "mscale", true);
        add_optional(keys, part, "mscale_all_dim", true);
    }
    add_optional(keys, part, "beta_fast", true);
    add_optional(keys, part, "beta_slow", true);
    /* release 5 looks for it on top of dictionaries by types of layers, not in them */
    bool truncate =
        (keys->layer_type && !older) || model_flag(&keys->dictionary, "truncate", true, &from);
    if (!truncate) {
        model_argument_flag(part, "truncate", false, from);
        model_fact(part, "truncate", json_false(), from);
    }
}

static void add_list(const rotary_keys *keys, const char *key, api_model_part *part)
{
    api_origin from;
    json_t *list = model_list(&keys->dictionary, key, &from);
    double wanted = floor(model_rotary_width(keys) / 2);
    if (!list)
        model_refuse(part->config, from, NULL, "given with rope_type longrope");
    else if (!isnan(wanted) && (double)json_array_size(list) != wanted)
        model_refuse(part->config, from, NULL,
                     "a list of %g numbers, one for each pair of columns; it has %zu", wanted,
                     json_array_size(list));
    else
        model_argument_list(part, key, list, from);
}

static void add_longrope(const rotary_keys *keys, api_model_part *part)
{
    bool older = part->config->planner->plan->options->convention == API_CONVENTION_4_53;
    int64_t asked = part->config->planner->plan->options->seq_len;
    bool beyond = (asked > 0 ? (double)asked : keys->seq_len) > keys->original.value;
    bool on_top = model_has(part->config, "original_max_position_embeddings");
    const char *mscale = beyond ? "long_mscale" : "short_mscale";
    add_list(keys, "short_factor", part);
    add_list(keys, "long_factor", part);
    add_original(keys, part);
    model_number factor = model_real(&keys->dictionary, "factor", NAN);
    if (factor.given && !(older && on_top))
        model_argument_number(part, "factor", factor.value, factor.from);
    else
        model_argument_number(part, "max_position_embeddings", keys->longest.value,
                              keys->longest.from);
    if (!factor.given)
        factor = divide_lengths(part->config, keys);
    model_fact_number(part, "factor", factor.value, factor.from);
    if (model_has(&keys->dictionary, mscale)) {
        model_number attention = model_real(&keys->dictionary, mscale, NAN);
        model_argument_number(part, "attention_factor", attention.value, attention.from);
    } else {
        add_optional(keys, part, "attention_factor", true);
    }
    add_sequence(keys, part);
}

static void add_llama3(const rotary_keys *keys, api_model_part *part)
{
    add_required(keys, part, "factor");
    add_required(keys, part, "low_freq_factor");
    add_required(keys, part, "high_freq_factor");
    add_original(keys, part);
}

json_t *model_pack_llama3(double factor)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:f}", "rope_type", "llama3", "factor", factor,
                     "low_freq_factor", 1.0, "high_freq_factor", 4.0,
                     "original_max_position_embeddings", 8192.0);
}

double model_llama3_divisor(double wavelength, double factor, double original)
{
    double smooth = (original / wavelength - 1) / (4 - 1);
    if (wavelength < original / 4)
        return 1;
    if (wavelength > original)
        return factor;
    return 1 / ((1 - smooth) / factor + smooth);
}

json_t *model_pack_divisors(json_t *divisors, double longest)
{
    return json_pack("{s:s, s:O, s:o, s:f, s:f, s:f}", "rope_type", "longrope", "short_factor",
                     divisors, "long_factor", divisors, "attention_factor", 1.0, "factor", 1.0,
                     "original_max_position_embeddings", longest);
}

/* Of laws that have a factor alone, which whole heads may lack. */
static void add_factor(const rotary_keys *keys, api_model_part *part)
{
    if (strcmp(keys->type, "proportional") == 0)
        add_optional(keys, part, "factor", true);
    else
        add_required(keys, part, "factor");
}

/* Types that have more than a factor. */
static const struct {
    const char *type;
    type_adder *add;
} TYPES[] = {
    {"dynamic", add_dynamic},
    {"yarn", add_yarn},
    {"longrope", add_longrope},
    {"llama3", add_llama3},
};

void model_rotary_type(const rotary_keys *keys, api_model_part *part)
{
    type_adder *add = add_factor;
    model_fact_text(part, "rope_type", keys->type, keys->type_from);
    if (strcmp(keys->type, "default") == 0)
        return;
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (strcmp(TYPES[i].type, keys->type) == 0)
            add = TYPES[i].add;
    model_argument(part, "rope_type", keys->type, keys->type_from);
    add(keys, part);
}
