/* The part of one rotary table: its facts, its arguments, and what pictures add. */
#include "models/rotary_planning.h"

#include "json/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char PROMPT[] = "mrope"; /* the kind of a part for a prompt with a picture */

/* The sum of numbers of pairs; NAN: one of them is none. */
static double add_numbers(const json_t *numbers)
{
    double sum = 0;
    for (size_t i = 0; i < json_array_size(numbers); i++) {
        const json_t *item = json_array_get(numbers, i);
        const double pairs = json_is_number(item) ? json_number_value(item) : NAN;
        sum += pairs >= 0 && pairs == floor(pairs) ? pairs : NAN;
    }
    return sum;
}

/* The sections of M-RoPE, those of the config or of the class, which the caller drops. NULL:
 * all pairs turn by one position. */
static json_t *read_sections(const model_config *config, const rotary_keys *keys,
                             api_origin *ret_from)
{
    const rotary_facts *facts = keys->facts;
    *ret_from = keys->sections_from;
    if (keys->sections)
        return json_incref(keys->sections);
    if (facts->sections[0] == 0)
        return NULL;
    json_t *sections = json_array();
    for (size_t i = 0; i < 3; i++)
        json_array_append_new(sections, api_document_number(facts->sections[i]));
    *ret_from = model_default(config);
    if (add_numbers(sections) == floor(model_rotary_width(keys) / 2))
        return sections;
    json_decref(sections); /* the class's own are for heads of another width */
    return NULL;
}

/* Whether the part is for a prompt with a picture. */
static bool is_prompt(const model_config *config, const rotary_keys *keys)
{
    api_origin from;
    json_t *sections = read_sections(config, keys, &from);
    bool has_sections = sections != NULL;
    json_decref(sections);
    return has_sections && model_has_picture(config, keys->facts->picture);
}

/* What M-RoPE adds: which of three positions each frequency takes. */
static void add_sections(const model_config *config, const rotary_keys *keys,
                         api_model_part *part)
{
    const rotary_facts *facts = keys->facts;
    const char *order = facts->section_order ? facts->section_order : "chunked";
    api_origin from;
    json_t *sections = read_sections(config, keys, &from);
    if (!sections)
        return;
    const double wanted = floor(model_rotary_width(keys) / 2);
    const bool fits = !facts->picture || json_array_size(sections) == 3;
    if (!isnan(wanted) && (!fits || add_numbers(sections) != wanted))
        model_refuse(config, from, NULL, "%s whose sum is that of the pairs of columns, %g",
                     facts->picture ? "3 integers from 0 on" : "integers from 0 on", wanted);
    json_t *whole = json_array();
    for (size_t i = 0; i < json_array_size(sections); i++)
        json_array_append_new(
            whole, api_document_number(json_number_value(json_array_get(sections, i))));
    model_fact(part, "mrope_section", whole, from);
    model_fact(part, "mrope_interleaved", json_boolean(strcmp(order, "interleaved") == 0),
               model_default(config));
    const char *axes = strcmp(order, "alternating") == 0 ? "hwt" : "thw";
    model_fact(part, "axes", json_pack("[s#,s#,s#]", axes, 1, axes + 1, 1, axes + 2, 1),
               model_default(config));
    if (strcmp(part->kind, PROMPT) == 0) {
        model_argument_list(part, "mrope_section", sections, from);
        model_argument(part, "section_order", order, model_default(config));
    } else {
        model_note(part->notes,
                   "M-RoPE: a token of a picture has three positions, and mrope_section says "
                   "which frequencies take which. These tables are those of text, whose "
                   "positions are equal. %s, with section_order=%s.",
                   facts->picture
                       ? "image= and frames= give those of a prompt with a picture or a video"
                       : "For a prompt with pictures give these arguments to the scheme mrope",
                   order);
    }
    json_decref(sections);
}

static void add_facts(const rotary_keys *keys, api_model_part *part)
{
    double width = model_rotary_width(keys);
    model_fact_number(part, "head_dim", keys->head.value, keys->head.from);
    if (width != keys->head.value)
        model_fact_number(part, "rotary_dim", width,
                          isnan(keys->width.value) ? keys->partial.from : keys->width.from);
    else
        model_fact_number(part, "rotary_dim", width,
                          keys->partial.given ? keys->partial.from
                                              : MODEL_REMARK("the whole head"));
    model_fact_number(part, "rope_theta", keys->theta.value, keys->theta.from);
    model_fact_text(part, "layout", part->pairing, keys->interleaved_from);
}

/* How much transformers multiplies the scores by, outside of the tables. */
static void add_softmax_scale(const rotary_keys *keys, api_model_part *part)
{
    if (!keys->facts->softmax_scale)
        return;
    model_number mscale = model_real(&keys->dictionary, "mscale_all_dim", NAN);
    model_number factor = model_real(&keys->dictionary, "factor", NAN);
    if (isnan(mscale.value) || mscale.value == 0 || isnan(factor.value))
        return;
    double scale = factor.value <= 1 ? 1 : 0.1 * mscale.value * log(factor.value) + 1;
    model_fact_number(part, "softmax_scale_factor", scale * scale, mscale.from);
    model_note(part->notes, "DeepSeek's code multiplies the scores by softmax_scale_factor, "
                            "(0.1 mscale_all_dim ln factor + 1)^2; the tables do not hold it.");
}

/* The position of row 0: that of the request, or of the component's first token. */
static void add_first_position(const model_config *config, api_model_part *part)
{
    bool asked = config->planner->plan->options->offset != NULL;
    model_argument_offset(part, asked ? 0 : config->first, model_default(config));
    if (config->first == 0)
        return;
    model_fact_number(part, "first_position", config->first, model_default(config));
    model_note(part->notes, "The model's first token has position %g, not 0%s.", config->first,
               asked ? "; offset of the request says which one row 0 has" : "");
}

/* An odd width w has (w + 1) / 2 frequencies theta^(-2i/w): those of w + 1 columns with
 * another theta. */
static void add_odd_columns(const model_config *config, const rotary_keys *keys, double width,
                            api_model_part *part)
{
    double theta = pe_power_double(keys->theta.value, (width + 1) / width);
    model_argument_number(part, "dim", width + 1,
                          model_add_remark(config, keys->partial.from, ", one column more"));
    model_argument_number(
        part, "rope_theta", theta,
        model_add_remark(config, keys->theta.from, "^(%g/%g)", width + 1, width));
    model_note(part->notes,
               "The width is odd: the class has %g frequencies theta^(-2i/%g) and turns %g "
               "columns.",
               (width + 1) / 2, width, width + 1);
}

/* The columns that turn, and theta. */
static void add_columns(const model_config *config, const rotary_keys *keys,
                        api_model_part *part)
{
    double width = model_rotary_width(keys);
    bool whole = isnan(keys->width.value);
    if (keys->facts->floored && fmod(width, 2) == 1 && width < keys->head.value &&
        strcmp(keys->type, "default") == 0) {
        add_odd_columns(config, keys, width, part);
        return;
    }
    if (whole)
        model_argument_number(part, "dim", keys->head.value, keys->head.from);
    else
        model_argument_number(part, "dim", keys->width.value, keys->width.from);
    model_argument_number(part, "rope_theta", keys->theta.value, keys->theta.from);
    if (whole && keys->partial.value != 1)
        model_argument_number(part, "partial_rotary_factor", keys->partial.value,
                              keys->partial.from);
}

/* Say what is past the lengths of the config: rows, and how far a scaling reaches. */
static void note_lengths(const model_config *config, const rotary_keys *keys,
                         const api_model_part *part)
{
    json_t *notes = config->planner->plan->notes;
    const double last =
        model_read_argument(part, "offset", 0) + model_read_argument(part, "length", 0) - 1;
    const double factor = model_read_argument(part, "factor", NAN);
    const double longest = keys->longest.value;
    const double original = model_read_argument(part, "original_max_position_embeddings", NAN);
    if (!model_note_past(part, keys->longest) && last >= original)
        model_note(notes,
                   "%s: the last row is position %.0f, past the original length of rope_type "
                   "%s, %.0f.",
                   part->name, last, keys->type, original);
    if (original * factor > longest)
        model_note(notes,
                   "%s: rope_type %s reaches %.0f positions, %g times %.0f, past the %.0f "
                   "positions of %s.",
                   part->name, keys->type, original * factor, factor, original, longest,
                   model_word_origin(config, keys->longest.from));
}

api_model_part *model_plan_table(const model_config *config, const rotary_keys *keys,
                                 const char *suffix)
{
    const rotary_facts *facts = keys->facts;
    bool prompt = is_prompt(config, keys);
    api_model_part *part = model_part_new(config, suffix, prompt ? PROMPT : "rope");
    part->pairing = keys->interleaved ? "interleaved" : "half";
    add_facts(keys, part);
    if (prompt) {
        model_add_prompt(config, facts->picture, keys->longest, part);
    } else {
        model_argument_length(part, keys->longest, API_MODEL_ROWS);
        add_first_position(config, part);
    }
    add_columns(config, keys, part);
    model_argument(part, "layout", part->pairing, keys->interleaved_from);
    model_argument(part, "table", config->planner->plan->options->table, MODEL_QUERY);
    model_rotary_type(keys, part);
    add_sections(config, keys, part);
    add_softmax_scale(keys, part);
    model_part_say(part, facts->note);
    if (!prompt)
        note_lengths(config, keys, part);
    if (prompt)
        model_part_finish(part, "mrope", "cos sin inv_freq position_ids axis rope_delta");
    else
        model_part_finish(part, "rope", "cos sin inv_freq");
    return part;
}
