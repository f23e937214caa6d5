/* Making the parts of a plan. */
#include "models/planning.h"

#include "bytes/text.h"
#include "json/document.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

api_model_part *model_part_new(const model_config *config, const char *suffix, const char *kind)
{
    api_model_plan *plan = config->planner->plan;
    api_model_part *part = &plan->parts[plan->part_count];
    if (plan->part_count < API_MODEL_PARTS)
        plan->part_count++;
    else
        config->planner->is_full = true;
    model_part_done(part);
    const char *component = plan->components[config->component].name;
    *part = (api_model_part){.kind = kind,
                             .component = config->component,
                             .state = API_PART_UNSERVED,
                             .config = config,
                             .facts = json_object(),
                             .notes = json_array(),
                             .asked = json_object()};
    part->name = suffix ? model_keep(config->planner, json_sprintf("%s.%s", component, suffix))
                        : component;
    return part;
}

void model_part_done(api_model_part *part)
{
    pe_request_unref(part->request);
    json_decref(part->facts);
    json_decref(part->notes);
    json_decref(part->second);
    json_decref(part->asked);
}

void model_use_option(api_model_part *part, const char *name)
{
    json_object_set_new(part->asked, name, json_true());
}

/* Let the key or the option that a value of a part came from count as used. */
static void use_origin(api_model_part *part, const char *name, api_origin from)
{
    model_use_key(part->config->planner->used, from);
    if (from.kind == API_ORIGIN_QUERY)
        model_use_option(part, from.path ? from.path : name);
}

/* ---- arguments ---- */

/* Add an argument, whose text is copied; NULL: nothing. */
static void add_argument(api_model_part *part, const char *name, const char *text, pe_kind kind,
                         api_origin from)
{
    if (!text)
        return;
    use_origin(part, name, from);
    assert(part->count < API_PART_ARGUMENTS);
    part->arguments[part->count] =
        (pe_argument){.name = name,
                      .text = model_keep(part->config->planner, json_string(text)),
                      .kind = kind};
    part->from[part->count++] = from;
}

void model_argument(api_model_part *part, const char *name, const char *text, api_origin from)
{
    add_argument(part, name, text, PE_KIND_STRING, from);
}

void model_argument_number(api_model_part *part, const char *name, double value,
                           api_origin from)
{
    char text[PE_PRINT_MAX];
    if (isnan(value)) /* a problem says why */
        return;
    text[pe_print_number(text, value)] = '\0';
    add_argument(part, name, text, PE_KIND_NUMBER, from);
}

void model_argument_flag(api_model_part *part, const char *name, bool flag, api_origin from)
{
    add_argument(part, name, flag ? "true" : "false", PE_KIND_BOOLEAN, from);
}

bool model_argument_list(api_model_part *part, const char *name, const json_t *list,
                         api_origin from)
{
    api_text text = {0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_number(item)) {
            model_refuse(part->config, from, item, "a list of numbers");
            api_text_done(&text);
            return false;
        }
        api_text_add(&text, "%s", i > 0 ? "," : "");
        api_text_add_number(&text, json_number_value(item));
    }
    char *joined = api_text_take(&text);
    add_argument(part, name, joined ? joined : "", PE_KIND_LIST, from);
    if (!joined)
        api_document_spoil();
    free(joined);
    return true;
}

static json_t *list_numbers(const double numbers[], size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, api_document_number(numbers[i]));
    return list;
}

void model_argument_numbers(api_model_part *part, const char *name, const double numbers[],
                            size_t count, api_origin from)
{
    json_t *list = list_numbers(numbers, count);
    model_argument_list(part, name, list, from);
    json_decref(list);
}

double model_read_argument(const api_model_part *part, const char *name, double absent)
{
    const pe_argument *given = api_argument_find(part->arguments, part->count, name);
    return given ? strtod(given->text, NULL) : absent;
}

void model_argument_length(api_model_part *part, model_number rows, double most)
{
    const api_model_options *options = part->config->planner->plan->options;
    if (!isnan(rows.value))
        model_fact_number(part, "positions", rows.value, rows.from);
    if (options->length > 0) {
        model_argument_number(part, "length", (double)options->length, MODEL_QUERY);
        return;
    }
    api_origin from = rows.from;
    if (isnan(rows.value))
        from = model_add_remark(part->config, (api_origin){0},
                                "%g rows, since the config has no length", most);
    else if (rows.value > most)
        from = model_add_remark(part->config, rows.from, ", cut to %g rows", most);
    model_argument_number(part, "length", rows.value <= most ? rows.value : most, from);
}

void model_argument_limited_length(api_model_part *part, model_number rows, double most)
{
    const api_model_options *options = part->config->planner->plan->options;
    double left = floor(rows.value - (options->offset ? strtod(options->offset, NULL) : 0));
    double asked = options->length > 0 ? (double)options->length : most;
    api_origin from = options->length > 0 ? MODEL_QUERY : rows.from;
    model_fact_number(part, "positions", rows.value, rows.from);
    if (left < 1) /* the scheme refuses what lies beyond the table */
        left = options->length > 0 ? asked : 1;
    if (asked > left && options->length > 0) {
        from = model_add_remark(part->config, from, ", cut to the rows of the table");
        model_note(part->config->planner->plan->notes,
                   "%s: length is %.0f, not %.0f: the table ends with position %.0f.",
                   part->name, left, asked, rows.value - 1);
    } else if (asked < left && options->length == 0) {
        from = model_add_remark(part->config, from, ", cut to %g rows", asked);
    }
    model_argument_number(part, "length", fmin(asked, left), from);
}

void model_argument_offset(api_model_part *part, double first, api_origin from)
{
    const char *offset = part->config->planner->plan->options->offset;
    if (offset && first != 0)
        from = model_add_remark(part->config, MODEL_QUERY, " + %s",
                                model_word_origin(part->config, from));
    else if (offset)
        from = MODEL_QUERY;
    if (offset || first != 0)
        model_argument_number(part, "offset", (offset ? strtod(offset, NULL) : 0) + first,
                              from);
}

bool model_note_past(const api_model_part *part, model_number longest)
{
    const double last =
        model_read_argument(part, "offset", 0) + model_read_argument(part, "length", 0) - 1;
    if (last >= longest.value)
        model_note(part->config->planner->plan->notes,
                   "%s: the last row is position %.0f, past the %.0f positions of %s.",
                   part->name, last, longest.value,
                   model_word_origin(part->config, longest.from));
    return last >= longest.value;
}

/* ---- facts and notes ---- */

void model_fact(api_model_part *part, const char *name, json_t *value, api_origin from)
{
    use_origin(part, name, from);
    json_object_set_new(
        part->facts, name,
        json_pack("{s:o, s:o}", "value", value, "from", api_origin_describe(from)));
}

void model_fact_number(api_model_part *part, const char *name, double value, api_origin from)
{
    if (!isnan(value))
        model_fact(part, name, api_document_number(value), from);
}

void model_fact_text(api_model_part *part, const char *name, const char *text, api_origin from)
{
    model_fact(part, name, json_string(text), from);
}

void model_fact_numbers(api_model_part *part, const char *name, const double numbers[],
                        size_t count, api_origin from)
{
    model_fact(part, name, list_numbers(numbers, count), from);
}

void model_state_number(api_model_part *part, const char *name, model_number number)
{
    model_fact_number(part, name, number.value, number.from);
    model_argument_number(part, name, number.value, number.from);
}

void model_state_text(api_model_part *part, const char *name, const char *text, api_origin from)
{
    model_fact_text(part, name, text, from);
    model_argument(part, name, text, from);
}

void model_note(json_t *notes, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    json_t *note = json_vsprintf(format, list);
    va_end(list);
    for (size_t i = 0; i < json_array_size(notes); i++)
        if (json_equal(json_array_get(notes, i), note)) {
            json_decref(note);
            return;
        }
    json_array_append_new(notes, note);
}

void model_part_say(api_model_part *part, const char *note)
{
    if (note)
        model_note(part->notes, "%s", note);
}

/* ---- the scheme ---- */

/* Add a problem that a scheme has with an argument of a part, under the path where that came
 * from. Of what was computed from a value, that value is not what was given. */
static void report_problem(const api_model_part *part, const pe_problem *problem,
                           pe_status status)
{
    model_planner *planner = part->config->planner;
    const char *path = NULL, *allowed = problem->allowed, *given = problem->given;
    for (size_t i = 0; i < part->count && !path; i++) {
        api_origin from = part->from[i];
        if (strcmp(part->arguments[i].name, problem->parameter) != 0)
            continue;
        bool is_named = from.kind == API_ORIGIN_CONFIG || from.kind == API_ORIGIN_QUERY;
        path = is_named && from.path ? from.path : problem->parameter;
        if (path == from.path && from.remark && from.remark[0] == ' ') {
            allowed = model_keep(planner, json_sprintf("such that %s is %s, not %s",
                                                       model_word_origin(part->config, from),
                                                       allowed, given));
            given = "";
        }
    }
    if (planner->plan->options->offset && problem->reason == PE_REASON_RULE &&
        strcmp(problem->parameter, "length") == 0) /* the positions lie too far */
        path = "offset";
    if (!path)
        path = model_keep(planner, json_sprintf("%s: %s", part->name, problem->parameter));
    path = model_shown_path(planner, path);
    if (!model_known_problem(planner, path, allowed))
        pe_error_add(planner->error, status, path, given, "%s", allowed);
}

/* Add the problems that a scheme has with a part. */
static void report_problems(const api_model_part *part, const pe_error *error)
{
    for (size_t i = 0; i < error->count; i++)
        report_problem(part, &error->problems[i],
                       error->status == PE_NO_MEMORY || error->status == PE_TOO_LARGE
                           ? error->status
                           : PE_OUT_OF_RANGE);
}

void model_part_finish(api_model_part *part, const char *scheme, const char *tensors)
{
    model_planner *planner = part->config->planner;
    const pe_scheme *found = pe_scheme_find(scheme);
    pe_error error;
    if (!found) {
        part->count = 0;
        return;
    }
    model_argument(part, "dtype", planner->plan->options->dtype, MODEL_QUERY);
    if (part->state == API_PART_TRAINED)
        model_use_option(part, "set");
    part->scheme = scheme;
    part->tensors = tensors;
    if (part->state == API_PART_UNSERVED)
        part->state = API_PART_COMPUTED;
    if (planner->error->count > 0) /* what follows from a problem is none of its own */
        return;
    if (pe_request_new(found, part->arguments, part->count, planner->limits, &part->request,
                       &error) != PE_OK)
        report_problems(part, &error);
    json_object_del(part->asked, "dtype"); /* real tensors alone depend on it */
    for (size_t i = 0; part->request && i < pe_request_tensor_count(part->request); i++) {
        const pe_tensor *tensor = pe_request_tensor(part->request, i);
        if (tensor->dtype != PE_I32 && model_lists(tensors, tensor->name))
            model_use_option(part, "dtype");
    }
}
