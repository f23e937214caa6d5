/* Rotary parts of a component: one table, one for each of two types of layers, or one for short
 * and one for long sequences. */
#include "models/planning.h"
#include "models/rotary_planning.h"

#include <math.h>
#include <string.h>

/* The suffix of a rule's table for sequences of one kind of length. */
static const char *name_length(const model_config *config, const char *suffix, const char *name)
{
    return suffix ? model_keep(config->planner, json_sprintf("%s.%s", suffix, name)) : name;
}

/* Two tables of longrope: sequences up to the original length have other divisors than longer
 * ones. With seq_len the request has chosen one. */
static void plan_both_lengths(model_config *config, rotary_keys *keys)
{
    const rotary_facts *facts = keys->facts;
    if (isnan(keys->original.value))
        keys->original = keys->longest;
    api_origin from;
    bool are_equal = json_equal(model_find(&keys->dictionary, "short_factor", &from),
                                model_find(&keys->dictionary, "long_factor", &from));
    if (config->planner->plan->options->seq_len > 0 || are_equal) {
        model_use_rotary(config, facts, model_plan_table(config, keys, facts->suffix));
        return;
    }
    keys->seq_len = keys->original.value;
    api_model_part *brief =
        model_plan_table(config, keys, name_length(config, facts->suffix, "short_context"));
    model_note(brief->notes,
               "For sequences of up to %.0f positions; a module starts with these.",
               keys->original.value);
    model_use_rotary(config, facts, brief);
    if (keys->longest.value > keys->original.value) {
        keys->seq_len = keys->longest.value;
        api_model_part *extended =
            model_plan_table(config, keys, name_length(config, facts->suffix, "long_context"));
        model_note(extended->notes, "For longer sequences: every layer takes these instead of "
                                    "short_context.");
    }
}

void model_plan_both_kinds(model_config *config, const rotary_facts *facts,
                           const char *const names[2], const char *const types[2])
{
    for (size_t i = 0; i < 2; i++) {
        if (!model_has_layers(config, types[i]))
            continue;
        rotary_keys keys = model_rotary_keys(config, facts, names[i], i == 1);
        model_use(config, model_plan_table(config, &keys, names[i]), types[i]);
    }
}

void model_plan_rotary(model_config *config, const void *rotary_rule)
{
    static const char *const KINDS[2] = {"full_attention", "sliding_attention"};
    const rotary_facts *facts = rotary_rule;
    if (facts->local_theta > 0) {
        model_plan_both_kinds(config, facts, KINDS, KINDS);
        return;
    }
    rotary_keys keys = model_rotary_keys(config, facts, NULL, false);
    if (strcmp(keys.type, "longrope") == 0)
        plan_both_lengths(config, &keys);
    else
        model_use_rotary(config, facts, model_plan_table(config, &keys, facts->suffix));
}
