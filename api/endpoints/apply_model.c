/* Arguments of a scheme from a model's plan. */
#include "endpoints/apply_model.h"

#include "models/config_text.h"
#include "models/known_models.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LAYERS_MAX 4095

const pe_parameter api_apply_model_options[API_APPLY_MODEL_OPTIONS] = {
    [API_APPLY_MODEL] = {.name = "model",
                         .type = PE_TEXT,
                         .help =
                             "name of a model that /v1/models lists; without it the text of "
                             "the model's config.json is `config.json` or `config` in the "
                             "__metadata__ of a safetensors file"},
    [API_APPLY_PART] = {.name = "part",
                        .type = PE_TEXT,
                        .help =
                            "part of the model's plan, or its component, as in text, vision "
                            "or text.full_attention; where the layer does not say"},
    [API_APPLY_LAYER] = {.name = "layer",
                         .type = PE_INTEGER,
                         .minimum = 0,
                         .maximum = LAYERS_MAX,
                         .help = "layer whose tensors the file has, from 0 on; where layers "
                                 "differ"},
};

/* Arguments that say which rows there are, or what the model's config does not: those of a
 * request come in place of the model's. */
static const char *const OWN[] = {
    "length",       "offset", "step", "positions", "text", "grids", "query_length",
    "query_offset", "sizes",  "seed", "table",     "set",  NULL};

/* Those that are of no use where a request lists positions. */
static const char *const OF_ROWS[] = {"offset", "grids", "merge_size", NULL};

/* Arguments of the plan itself. */
static const char *const PLANNED[] = {"seq_len", "image", "frames", "convention", NULL};

static bool has_name(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static const pe_argument *find_argument(const api_arguments *arguments, const char *name)
{
    return api_argument_find(arguments->items, arguments->count, name);
}

/* ---- the plan ---- */

/* Move the arguments of the plan to a list of their own. */
static void move_planned_arguments(api_arguments *arguments, api_arguments *ret_planned)
{
    size_t kept = 0;
    ret_planned->count = 0;
    for (size_t i = 0; i < arguments->count; i++) {
        const pe_argument argument = arguments->items[i];
        if (has_name(PLANNED, argument.name))
            ret_planned->items[ret_planned->count++] = argument;
        else
            arguments->items[kept++] = argument;
    }
    arguments->count = kept;
}

/* Find the text of the config; NULL after a problem was added. */
static const char *find_config(const api_apply_model *model, const char *config,
                               pe_error *reterr)
{
    const char *name = pe_options_value(model->given, API_APPLY_MODEL)->text;
    const api_known_model *known = name ? api_known_model_find(name) : NULL;
    if (known)
        return known->config;
    if (!name && config)
        return config;
    pe_problem *problem = pe_error_add(
        reterr, PE_OUT_OF_RANGE, "model", name ? name : "",
        name ? "a name that GET /v1/models lists, or left out with the text of the config.json "
               "in "
               "the metadata of a safetensors file"
             : "given, or the text of a config.json in the metadata of a safetensors file");
    if (name)
        pe_problem_suggest(problem, api_known_model_suggest(name));
    return NULL;
}

static bool make_plan(api_apply_model *model, const api_call *call, const char *config,
                      api_arguments *arguments, pe_error *reterr)
{
    api_arguments planned = {.count = 0};
    move_planned_arguments(arguments, &planned);
    api_model_options_read(&planned, &model->options, reterr);
    const char *text = reterr->count == 0 ? find_config(model, config, reterr) : NULL;
    if (!text)
        return false;
    model->config = api_config_read(text, strlen(text), reterr);
    if (!model->config ||
        api_model_plan_new(model->config, &model->options, &call->service->host->limits,
                           &model->plan, reterr) != PE_OK)
        return false;
    api_model_refuse_unused((const api_model_plan *const *)&model->plan, 1, reterr);
    return reterr->count == 0;
}

/* ---- arguments ---- */

/* Whether an argument says how the pairs of a rotation lie: in other programs' weights they lie
 * otherwise than in the model's, with the same angles. */
static bool is_pairing(const pe_scheme *scheme, const pe_argument *given)
{
    size_t count;
    const pe_application *rule = pe_scheme_applications(scheme, &count);
    return strcmp(given->name, "layout") == 0 && count > 0 && rule->kind == PE_APPLY_ROTATE;
}

/* Refuse those of `count` arguments that the model does not leave open and has another text
 * for. */
static void refuse_contradicting_arguments(api_apply_model *model, const pe_scheme *scheme,
                                           const pe_argument *arguments, size_t count,
                                           pe_error *reterr)
{
    const api_model_part *part = model->chosen.part;
    for (size_t i = 0; i < count; i++) {
        const pe_argument *given = &arguments[i];
        const pe_argument *other = api_argument_find(part->arguments, part->count, given->name);
        const bool pairing = is_pairing(scheme, given);
        if (!pe_parameter_find(pe_scheme_describe(scheme), given->name) &&
            strcmp(given->name, "preset") != 0)
            continue; /* refused later, beside all that the scheme takes */
        const char *own = other ? other->text : NULL;
        if (pairing && !own)
            own = pe_parameter_find(pe_scheme_describe(scheme), given->name)->default_text;
        if (has_name(OWN, given->name) || (own && given->text && strcmp(given->text, own) == 0))
            continue;
        if (pairing) {
            model->other_layout = own;
            continue;
        }
        if (own)
            pe_error_add(reterr, PE_OUT_OF_RANGE, given->name, given->text ? given->text : "",
                         "left out, or %s, as the part %s of the model has it", own,
                         part->name);
        else
            pe_error_add(reterr, PE_OUT_OF_RANGE, given->name, given->text ? given->text : "",
                         "left out: the part %s of the model does not have it", part->name);
    }
}

static void add_argument(api_arguments *arguments, const char *name, const char *text)
{
    if (arguments->count < API_ARGUMENTS_MAX)
        arguments->items[arguments->count++] = (pe_argument){.name = name, .text = text};
}

/* Add the arguments of the part that the request does not give. Which rows there are, the
 * request says. */
static void add_part(const api_model_part *part, api_arguments *arguments)
{
    const bool placed = find_argument(arguments, "positions") ||
                        find_argument(arguments, "first_position") ||
                        find_argument(arguments, "first_index");
    for (size_t i = 0; i < part->count; i++) {
        const pe_argument *own = &part->arguments[i];
        bool rows = strcmp(own->name, "length") == 0 || strcmp(own->name, "query_length") == 0;
        bool other = placed && has_name(OF_ROWS, own->name);
        if (!rows && !other && strcmp(own->name, "dtype") != 0 &&
            !find_argument(arguments, own->name) && arguments->count < API_ARGUMENTS_MAX)
            arguments->items[arguments->count++] = *own;
    }
}

/* Add the factors of queries. */
static void add_factors(api_apply_model *model, api_arguments *arguments)
{
    const api_chosen_part *chosen = &model->chosen;
    if (!isnan(api_model_part_fact(chosen->part, "softmax_scale_factor")))
        add_argument(arguments, "softmax_factor", "true");
    if (!chosen->temperature)
        return;
    pe_print_number(model->numbers[0], api_model_part_fact(chosen->temperature, "attn_scale"));
    pe_print_number(model->numbers[1], api_model_part_fact(chosen->temperature, "floor_scale"));
    add_argument(arguments, "temperature", chosen->temperature->law);
    add_argument(arguments, "temperature_beta", model->numbers[0]);
    add_argument(arguments, "temperature_length", model->numbers[1]);
}

void api_apply_model_add(api_apply_model *model, bool query_factors, size_t own,
                         api_arguments *arguments, pe_error *reterr)
{
    const api_model_part *part = model->chosen.part;
    const pe_scheme *scheme = pe_scheme_find(part->scheme);
    for (size_t i = 0; scheme && i < arguments->count; i++)
        arguments->items[i].name = pe_scheme_current_name(scheme, arguments->items[i].name);
    refuse_contradicting_arguments(model, scheme, arguments->items, own, reterr);
    if (part->state == API_PART_TRAINED && !find_argument(arguments, "set"))
        pe_error_add(reterr, PE_OUT_OF_RANGE, "set", "",
                     "the name of a set, as the table of the part %s of the model is "
                     "trained",
                     part->name);
    add_part(part, arguments);
    if (query_factors && strcmp(part->scheme, "rope") == 0)
        add_factors(model, arguments);
}

/* ---- the whole ---- */

bool api_apply_model_read(api_apply_model *ret_model, const api_call *call, const char *config,
                          api_arguments *arguments, pe_error *reterr)
{
    api_apply_model *model = ret_model;
    model->given =
        api_options_take(api_apply_model_options, API_APPLY_MODEL_OPTIONS, arguments, reterr);
    const pe_value *layer = pe_options_value(model->given, API_APPLY_LAYER);
    const pe_argument *factors = find_argument(arguments, "query_factors");
    const api_part_wish wish = {.name = pe_options_value(model->given, API_APPLY_PART)->text,
                                .layer = layer->present ? layer->integer : -1,
                                .query_factors = factors && factors->text &&
                                                 strcmp(factors->text, "true") == 0};
    return reterr->count == 0 && make_plan(model, call, config, arguments, reterr) &&
           api_model_choose_part(model->plan, &wish, &model->chosen, reterr);
}

void api_apply_model_done(api_apply_model *model)
{
    api_model_plan_free(model->plan);
    json_decref(model->config);
    api_model_options_done(&model->options);
    pe_options_free(model->given);
}
