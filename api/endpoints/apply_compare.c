/* Comparing results of an application, as JSON. */
#include "endpoints/apply_compare.h"

#include "bytes/memory_budget.h"
#include "replies/explanation.h"
#include "replies/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was found by head, by position …: an object of the axes by name. */
static json_t *describe_axes(const pe_apply *result, const pe_comparison *comparison)
{
    json_t *by = json_object();
    for (size_t axis = 0; axis < pe_apply_compared_shape(result)->rank; axis++) {
        char name[32];
        snprintf(name, sizeof name, "axis_%zu", axis);
        const char *known = pe_apply_axis(result, axis);
        json_object_set_new(by, *known ? known : name, api_comparison_axis(comparison, axis));
    }
    return by;
}

/* Whether a result needs an explanation that may be computed. */
static bool needs_explanation(const pe_apply *apply, const api_apply_comparison *asked,
                              const pe_comparison *comparison)
{
    const uint64_t limit = asked->call->service->host->compute_cost;
    const uint64_t wrong =
        asked->judgement.judged ? comparison->outside : comparison->differing;
    return asked->query[0] && wrong > API_EXPLAINED_FEW &&
           (limit == 0 || pe_explain_result_price(apply) <= (double)limit);
}

/* What is wrong with a result; NULL if that is not found. */
static json_t *explain_result(const api_applied_tensor *result,
                              const api_apply_comparison *asked)
{
    const api_host *host = asked->call->service->host;
    pe_explanation *explanation = malloc(sizeof *explanation);
    json_t *document = NULL;
    pe_error error;
    pe_error_init(&error);
    if (explanation &&
        api_reserve(2 * asked->bytes + pe_explain_result_footprint(result->apply),
                    "the explanation", &error) &&
        pe_explain_result(result->apply, asked->query, &result->compared,
                          &asked->judgement.tolerance, &host->limits, host->runner, explanation,
                          &error) == PE_OK &&
        explanation->found) {
        const size_t used = strlen(explanation->query);
        if (used > 0)
            snprintf(explanation->query + used, sizeof explanation->query - used, "%s",
                     asked->more);
        document = api_explanation_document(explanation, asked->scheme, NULL);
    }
    free(explanation);
    return document;
}

/* Compare a result, and describe what was found. NULL after a problem was added, and if
 * explaining it is for later. */
static json_t *compare_tensor(const api_applied_tensor *result,
                              const api_apply_comparison *asked, pe_comparison *comparison,
                              pe_error *error)
{
    const pe_view *view = pe_apply_compared_shape(result->apply);
    api_compared compared = {
        .dtype = PE_F32, .rank = view->rank, .elements = pe_view_elements(view)};
    const api_compared_names names = {.scheme = pe_scheme_describe(asked->scheme)->name,
                                      .tensor = result->name,
                                      .url = asked->url,
                                      .format = asked->format,
                                      .file_tensor = result->against,
                                      .element = result->compared.element};
    (void)pe_element_is_real(view->element, &compared.dtype);
    memcpy(compared.shape, view->shape, sizeof compared.shape);
    if (pe_apply_compare(result->apply, &result->compared, asked->judgement.tolerance,
                         asked->call->service->host->runner, comparison, error) != PE_OK)
        return NULL;
    const bool needed = needs_explanation(result->apply, asked, comparison);
    if (needed && !api_may_begin(asked->call, pe_explain_result_price(result->apply)))
        return NULL;
    json_t *document =
        api_comparison_describe(&names, comparison, &compared, asked->judgement.judged, "by",
                                describe_axes(result->apply, comparison));
    json_t *explanation = needed ? explain_result(result, asked) : NULL;
    if (explanation)
        json_object_set_new(document, "explanation", explanation);
    return document;
}

/* The answer to several comparisons: all of them, and whether all results are good. */
static json_t *join_comparisons(json_t *found)
{
    bool equal = true, judged = false, within = true;
    size_t index;
    json_t *one;
    json_array_foreach(found, index, one)
    {
        const json_t *verdict = json_object_get(one, "within_tolerance");
        equal &= json_is_true(json_object_get(one, "equal"));
        judged |= verdict != NULL;
        within &= json_is_true(verdict);
    }
    json_t *all = json_pack("{s:b, s:o}", "equal", equal, "results", found);
    if (judged)
        json_object_set_new(all, "within_tolerance", json_boolean(within));
    return all;
}

api_reply *api_apply_compare(const api_applied *applied, const api_apply_comparison *asked)
{
    pe_comparison *comparison = malloc(sizeof *comparison);
    json_t *found = json_array();
    pe_error error;
    pe_error_init(&error);
    bool there = comparison != NULL;
    for (size_t i = 0; there && i < api_applied_count(applied); i++)
        there = json_array_append_new(found, compare_tensor(api_applied_get(applied, i), asked,
                                                            comparison, &error)) == 0;
    free(comparison);
    if (!there) {
        json_decref(found);
        return error.count > 0 ? api_problem_from_error(&error) : NULL;
    }
    if (json_array_size(found) > 1)
        return api_comparison_answer(join_comparisons(found));
    json_t *only = json_incref(json_array_get(found, 0));
    json_decref(found);
    return api_comparison_answer(only);
}
