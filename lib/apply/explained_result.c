/* Explaining what is wrong with the result of an application: changed requests are applied to
 * the same input, a few rows first. */
#include "apply/measured_cosines.h"
#include "apply/result_comparison.h"
#include "identify/changed_values.h"
#include "identify/compared_lines.h"
#include "identify/mistakes.h"
#include "numerics/dtype.h"
#include "recognise/observation.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_PRICE 0x1p18 /* of a line of results and of the entries beside its own */

/* A result that is explained. */
typedef struct explained {
    pe_apply *apply;       /* as it was asked for */
    pe_view input, result; /* row-major */
    bool measured;         /* its cosines were looked at */
    pe_comparison comparison;
} explained;

/* ---- changed requests ---- */

static const char *const LAYOUTS[] = {"half", "interleaved", NULL};

/* Options that may be wrong: of rotations, and of additions. */
static const pe_parameter ROTATIONS[] = {
    {.name = "inverse", .type = PE_BOOLEAN, .default_text = "false"},
    {.name = "output_layout", .type = PE_CHOICE, .choices = LAYOUTS},
    {.name = "query_factors", .type = PE_BOOLEAN, .default_text = "false"},
};
static const pe_parameter ADDITIONS[] = {{.name = "scale", .type = PE_REAL}};

static size_t find_application(const pe_apply *apply)
{
    return (size_t)(apply->application - apply->exact->values.scheme->applications);
}

static bool is_true(const char *query, const char *name)
{
    char text[PE_IDENTITY_QUERY_MAX];
    return pe_find_query_text(query, name, text) && strcmp(text, "true") == 0;
}

/* Apply a request to the input; NULL if it does not fit. */
static pe_apply *apply_changed(pe_trial *trial, const char *query, double factor)
{
    const explained *self = trial->context;
    pe_apply_options options = self->apply->options;
    char text[PE_IDENTITY_QUERY_MAX];
    pe_request *request = pe_trial_make_request(trial, query, PE_F64);
    pe_apply *apply = NULL;
    pe_error error;
    options.inverse = is_true(query, "inverse");
    options.query_factors = is_true(query, "query_factors");
    const char *output = pe_find_query_text(query, "output_layout", text);
    options.output_layout = !output                           ? PE_OUTPUT_AS_INPUT
                            : strcmp(output, LAYOUTS[0]) == 0 ? PE_OUTPUT_HALF
                                                              : PE_OUTPUT_INTERLEAVED;
    options.dtype = self->apply->rule.dtype;
    const char *scale = pe_find_query_text(query, "scale", text);
    options.scale = 1;
    if (self->apply->rule.kind == PE_APPLY_ADD && scale)
        (void)pe_parse_number(scale, strlen(scale), &options.scale);
    options.scale *= self->apply->rule.kind == PE_APPLY_ADD ? factor : 1;
    if (request && pe_trial_spend(trial, pe_apply_opening_price(&self->input, &options)))
        pe_apply_new(request, find_application(self->apply), &self->input, &options,
                     &trial->runner.own, &apply, &error);
    pe_request_unref(request);
    return apply;
}

/* Whether a tensor has the sines of a rotation. */
static bool is_second(const pe_apply *apply, const char *tensor)
{
    const char *second = apply->application->tensors[1];
    return apply->rule.kind == PE_APPLY_ROTATE && strcmp(tensor, second) == 0;
}

/* Take sines for cosines, and the other way round. */
static void exchange_tensors(pe_apply *apply)
{
    const pe_entries cosines = apply->entries[0];
    const size_t tensor = apply->tensors[0];
    apply->entries[0] = apply->entries[1];
    apply->entries[1] = cosines;
    apply->tensors[0] = apply->tensors[1];
    apply->tensors[1] = tensor;
}

/* The price of all results of an application. */
static double price_all(const pe_apply *apply)
{
    return pe_apply_price(apply->exact, find_application(apply), &apply->given,
                          &apply->options);
}

double pe_explain_result_price(const pe_apply *apply)
{
    const double entries = pe_cosines_are_measurable(apply)
                               ? 2 * pe_explain_price(apply->exact, apply->tensors[0])
                               : 0;
    return 8 * price_all(apply) + 0x1p29 + entries;
}

uint64_t pe_explain_result_footprint(const pe_apply *apply)
{
    const uint64_t bytes = pe_cosines_footprint(apply);
    return bytes > 0 ? bytes + pe_explain_footprint(apply->exact, apply->tensors[0]) : 0;
}

/* ---- lines ---- */

/* Results of the last axis in which requests are looked at first: the last one first, where
 * positions are large. */
static pe_result_part find_line(const explained *self, uint64_t index, double factor)
{
    const pe_view *view = &self->result;
    const uint64_t width = pe_view_columns(view), last = pe_view_lines(view) - 1;
    return (pe_result_part){(last - index * last / (PE_TRIAL_LINES - 1)) * width, width,
                            factor};
}

/* Compare a part of the result. False: it could not be. */
static bool compare_part(pe_trial *trial, pe_apply *apply, pe_result_part part)
{
    explained *self = trial->context;
    pe_tolerance tolerance = trial->tolerance;
    pe_error error;
    if (part.factor != 1) /* of results that were rounded */
        tolerance.ulps = fmax(tolerance.ulps, 2);
    const double price = 2 * apply->blocks.result_price * (double)part.count;
    return pe_trial_spend(trial, LINE_PRICE + price) &&
           pe_apply_compare_part(apply, &self->result, part, tolerance, &trial->runner.own,
                                 &self->comparison, &error) == PE_OK;
}

/* Whether some lines fit. Notes how far all of them are off, if that is asked for. */
static bool lines_fit(pe_trial *trial, pe_apply *apply, double factor)
{
    const explained *self = trial->context;
    const uint64_t rows = apply->blocks.block_rows;
    double far = 0;
    bool good = true, fit = true;
    apply->blocks.block_rows = 1;
    for (uint64_t i = 0; good && (fit || trial->measures) && i < PE_TRIAL_LINES;
         i += trial->measures ? 2 : 1) {
        good = compare_part(trial, apply, find_line(self, i, factor));
        fit = fit && good && self->comparison.outside == 0;
        far += self->comparison.squares;
    }
    apply->blocks.block_rows = rows;
    trial->far = good ? far : INFINITY;
    return good && fit;
}

static bool result_fits(pe_trial *trial, const char *query, const char *tensor,
                        const pe_view *view, double factor)
{
    const explained *self = trial->context;
    const bool adds = self->apply->rule.kind == PE_APPLY_ADD;
    const pe_result_part all = {.factor = adds ? 1 : factor};
    (void)view;
    trial->far = INFINITY;
    trial->found->tried++;
    const bool exchanged = is_second(self->apply, tensor);
    pe_apply *apply = exchanged || strcmp(tensor, trial->tensor) == 0
                          ? apply_changed(trial, query, factor)
                          : NULL;
    if (apply && exchanged)
        exchange_tensors(apply);
    const bool fits = apply && lines_fit(trial, apply, all.factor) &&
                      pe_trial_spend(trial, 2 * price_all(apply)) &&
                      compare_part(trial, apply, all) && self->comparison.outside == 0;
    if (fits) {
        trial->vague = pe_comparison_is_vague(&self->comparison);
        trial->found->entries = self->comparison.entries;
        trial->found->differing = self->comparison.differing;
        trial->found->max_abs = self->comparison.absolute.error;
    }
    pe_apply_free(apply);
    return fits;
}

/* Add the products of a line of the result, and of what is exact, with that: of an addition
 * without the input. */
static bool add_products(const explained *self, pe_result_part line, double *numbers,
                         double *products, double *squares)
{
    const pe_dtype dtype = self->apply->rule.dtype;
    const size_t count = (size_t)line.count, size = pe_dtype_size(dtype);
    double *found = numbers, *exact = numbers + count, *input = exact + count;
    const pe_view part = pe_source_flat(&self->result, line.first, count);
    const bool adds = self->apply->rule.kind == PE_APPLY_ADD;
    unsigned char *elements = (unsigned char *)input;
    for (size_t done = 0, some = 1; done < count * size && some > 0; done += some)
        some = pe_apply_read(self->apply, line.first * size + done, elements + done,
                             count * size - done);
    pe_read_row(exact, dtype, elements, count);
    const pe_view before =
        pe_source_flat(&self->apply->input.view, adds ? line.first : 0, adds ? count : 1);
    if (!pe_view_read(&part, 0, count, found) ||
        !pe_view_read(&before, 0, adds ? count : 1, input))
        return false;
    for (size_t i = 0; i < count; i++) {
        const double kept = adds ? input[i] : 0, entry = exact[i] - kept;
        if (!isfinite(entry) || !isfinite(found[i]))
            continue;
        *products += (found[i] - kept) * entry;
        *squares += entry * entry;
    }
    return true;
}

static bool measure_result_factor(pe_trial *trial, double *ret_factor)
{
    const explained *self = trial->context;
    const pe_result_part line = find_line(self, 0, 1);
    double products = 0, squares = 0;
    double *numbers = malloc(3 * (size_t)line.count * sizeof *numbers);
    bool good = numbers != NULL;
    for (uint64_t i = 0; good && i < PE_TRIAL_LINES; i += PE_TRIAL_LINES / 2)
        good = add_products(self, find_line(self, i, 1), numbers, &products, &squares);
    free(numbers);
    *ret_factor = products / squares;
    return good && squares > 0 && products != 0 && isfinite(*ret_factor);
}

/* ---- entries that are read off a rotation ---- */

/* Try the changes of an explanation, also with the other sense of the rotation, of which
 * cosines say nothing. */
static bool try_explained(pe_trial *trial, const pe_explanation *inner)
{
    const char *changes[2 * PE_CHANGES_MAX + 3] = {"", ""};
    for (size_t i = 0; i < inner->change_count; i++) {
        changes[2 * i + 2] = inner->changes[i].name;
        changes[2 * i + 3] = inner->changes[i].value;
    }
    if (pe_try_changes(trial, changes))
        return true;
    changes[0] = ROTATIONS[0].name;
    changes[1] = is_true(trial->query, changes[0]) ? "false" : "true";
    return inner->change_count < PE_CHANGES_MAX && pe_try_changes(trial, changes);
}

/* Explain the cosines as those of a table. */
static void explain_cosines(pe_trial *trial, const pe_view *cosines,
                            pe_explanation *ret_explained)
{
    const explained *self = trial->context;
    char query[PE_IDENTITY_QUERY_MAX], before[PE_IDENTITY_QUERY_MAX];
    const pe_tolerance tolerance = {
        .absolute = 8 * pe_dtypes[trial->dtype].unit, .bounded = true, .arithmetic = PE_F32};
    pe_request *request;
    pe_error error;
    snprintf(query, sizeof query, "%s", trial->query);
    for (size_t i = 0; i < PE_COUNT(ROTATIONS); i++) {
        memcpy(before, query, sizeof before);
        pe_change_query(before, ROTATIONS[i].name, NULL, query);
    }
    *ret_explained = (pe_explanation){.kind = ""};
    if (pe_request_with_dtype(self->apply->exact, trial->dtype, &request, &error) != PE_OK)
        return;
    pe_explain_mismatch(request, query, self->apply->tensors[0], cosines, &tolerance,
                        trial->limits, &trial->runner.own, ret_explained, &error);
    pe_request_unref(request);
}

/* Say of the result what was found of its cosines: changes that make it, or how its angles were
 * rounded. */
static bool say_explained(pe_trial *trial, const pe_explanation *inner)
{
    if (!inner->found || inner->factor != 1)
        return false;
    if (strcmp(inner->kind, "angles") != 0)
        return inner->change_count > 0 && try_explained(trial, inner);
    trial->found->entries = inner->entries;
    trial->found->differing = inner->differing;
    trial->found->max_abs = inner->max_abs;
    return pe_trial_say(trial, "angles", "%s", inner->sentence);
}

static bool find_in_cosines(pe_trial *trial)
{
    explained *self = trial->context;
    pe_apply *apply = self->apply;
    const double reading = 4 * (double)pe_view_elements(&self->input);
    if (self->measured || !pe_cosines_are_measurable(apply) ||
        !pe_trial_spend(trial, reading + pe_explain_price(apply->exact, apply->tensors[0])))
        return false;
    pe_measured_cosines cosines;
    pe_explanation *inner = malloc(sizeof *inner);
    self->measured = true;
    bool found = pe_cosines_measure(apply, &self->result, &cosines) && inner;
    if (found) {
        explain_cosines(trial, &cosines.view, inner);
        found = say_explained(trial, inner);
    }
    pe_measured_cosines_done(&cosines);
    free(inner);
    return found;
}

/* ---- the whole ---- */

/* Say that what is added has another factor. */
static void say_scale(pe_trial *trial)
{
    const explained *self = trial->context;
    pe_explanation *found = trial->found;
    pe_change *change = &found->changes[0];
    char before[PE_IDENTITY_QUERY_MAX];
    *change = (pe_change){.name = "scale"};
    found->change_count = 1;
    pe_print_number(change->value,
                    pe_find_decimal(self->apply->options.scale * found->factor, 1e-7));
    memcpy(before, found->query, sizeof before);
    pe_change_query(before, "scale", change->value, found->query);
    found->factor = 1;
    pe_trial_say(trial, "factor", "What is added has another factor: scale=%s.", change->value);
}

/* Say that the arithmetic is bfloat16, or float16 if that suffices, which has fewer digits than
 * the one that is asked for. */
static void say_arithmetic(pe_trial *trial, pe_dtype asked)
{
    pe_explanation *found = trial->found, before = *found;
    trial->tolerance.arithmetic = PE_F16;
    const bool suffices = asked != PE_F16 && result_fits(trial, found->query, found->tensor,
                                                         &trial->view, found->factor);
    const char *name = suffices ? "float16" : "bfloat16";
    const size_t used = strlen(found->sentence);
    if (!suffices)
        *found = before;
    if (strcmp(found->kind, "arithmetic") == 0)
        pe_trial_say(trial, "arithmetic",
                     "Rounded to %s on the way: every entry is within what that arithmetic may "
                     "lose.",
                     name);
    else
        snprintf(found->sentence + used, sizeof found->sentence - used,
                 " The arithmetic is that of %s.", name);
}

/* Find the mistake, in the arithmetic that is asked for or, if none explains it, in bfloat16.
 */
static bool find_mistake(pe_trial *trial)
{
    const explained *self = trial->context;
    const double price = pe_explain_result_price(self->apply) / 2;
    pe_tolerance *tolerance = &trial->tolerance;
    tolerance->bounded = pe_scheme_is_bounded(trial->scheme);
    if (tolerance->arithmetic == PE_F64)
        tolerance->arithmetic = PE_F32;
    const pe_dtype asked = tolerance->arithmetic;
    trial->left = price;
    bool found = pe_find_mistake(trial);
    const bool again = !found && asked != PE_BF16 && tolerance->bounded;
    if (again) {
        tolerance->arithmetic = PE_BF16;
        trial->left = price;
        found = pe_find_mistake(trial);
    }
    if (found && is_second(self->apply, trial->found->tensor))
        pe_trial_say(trial, "tensor", "Sines and cosines are exchanged.");
    if (found && trial->found->factor != 1 && self->apply->rule.kind == PE_APPLY_ADD)
        say_scale(trial);
    if (found && again)
        say_arithmetic(trial, asked);
    else if (found && asked != PE_F32 && strcmp(trial->found->kind, "arithmetic") == 0)
        pe_trial_say(trial, "arithmetic",
                     "%s: every entry is within what %s arithmetic may lose.",
                     tolerance->decides ? "Right for its arithmetic, and outside this tolerance"
                                        : "No mistake",
                     asked == PE_BF16 ? "bfloat16" : "float16");
    return found;
}

pe_status pe_explain_result(pe_apply *apply, const char *query, const pe_view *result,
                            const pe_tolerance *tolerance, const pe_limits *limits,
                            const pe_runner *runner, pe_explanation *ret_explanation,
                            pe_error *reterr)
{
    const bool rotates = apply->rule.kind == PE_APPLY_ROTATE;
    const size_t additions = apply->rule.kind == PE_APPLY_ADD;
    const pe_trial_subject subject = {.name = "result",
                                      .fits = result_fits,
                                      .measure_factor = measure_result_factor,
                                      .find_in_entries = rotates ? find_in_cosines : NULL,
                                      .options = rotates ? ROTATIONS : ADDITIONS,
                                      .option_count =
                                          rotates ? PE_COUNT(ROTATIONS) : additions};
    explained *self = malloc(sizeof *self);
    pe_trial trial = {.subject = &subject,
                      .context = self,
                      .scheme = apply->exact->values.scheme,
                      .dtype = apply->rule.dtype,
                      .format = apply->rule.dtype,
                      .query = query,
                      .tolerance = *tolerance,
                      .limits = limits,
                      .found = ret_explanation,
                      .reterr = reterr};
    pe_source source;
    *ret_explanation = (pe_explanation){.kind = "", .factor = 1};
    pe_error_init(reterr);
    if (!self) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the explanation");
        return reterr->status;
    }
    pe_search_runner_init(&trial.runner, runner);
    snprintf(trial.tensor, sizeof trial.tensor, "%s", apply->application->tensors[0]);
    if (!tolerance->bounded)
        trial.tolerance.arithmetic = apply->rule.dtype;
    *self = (explained){.apply = apply, .input = apply->given};
    self->input.read = apply->input.view.read; /* of what is row-major already */
    self->input.context = apply->input.view.context;
    self->input.offset = apply->input.view.offset;
    self->input.swapped = apply->input.view.swapped;
    pe_view_set_row_major(&self->input);
    if (pe_compared_open(apply, result, &trial.runner.own, &source, reterr) == PE_OK) {
        self->result = source.view;
        ret_explanation->found = find_mistake(&trial);
        if (is_second(apply, ret_explanation->tensor) || apply->offsets)
            ret_explanation->query[0] = '\0'; /* none says that, nor the input's positions */
        snprintf(ret_explanation->tensor, sizeof ret_explanation->tensor, "%s",
                 apply->application->result);
    }
    pe_source_done(&source);
    free(self);
    return reterr->status;
}
