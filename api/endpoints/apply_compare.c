/* Comparing results of an application, as JSON. */
#include "endpoints/apply_compare.h"

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

/* Compare a result, and describe what was found. NULL after a problem was added. */
static json_t *compare_tensor(const api_applied_tensor *result,
                              const api_apply_comparison *asked, pe_comparison *comparison,
                              pe_error *error)
{
    const pe_view *view = pe_apply_compared_shape(result->apply);
    api_compared compared = {
        .dtype = PE_F32, .rank = view->rank, .elements = pe_view_elements(view)};
    const api_compared_names names = {.scheme = asked->scheme,
                                      .tensor = result->name,
                                      .url = asked->url,
                                      .format = asked->format,
                                      .file_tensor = result->against,
                                      .element = result->compared.element};
    (void)pe_element_is_real(view->element, &compared.dtype);
    memcpy(compared.shape, view->shape, sizeof compared.shape);
    if (pe_apply_compare(result->apply, &result->compared, asked->judgement.tolerance,
                         asked->runner, comparison, error) != PE_OK)
        return NULL;
    return api_comparison_describe(&names, comparison, &compared, asked->judgement.judged, "by",
                                   describe_axes(result->apply, comparison));
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
    for (size_t i = 0; comparison && error.count == 0 && i < api_applied_count(applied); i++)
        json_array_append_new(
            found, compare_tensor(api_applied_get(applied, i), asked, comparison, &error));
    bool there = comparison != NULL;
    free(comparison);
    if (!there || error.count > 0) {
        json_decref(found);
        return there ? api_problem_from_error(&error) : NULL;
    }
    if (json_array_size(found) > 1)
        return api_comparison_answer(join_comparisons(found));
    json_t *only = json_incref(json_array_get(found, 0));
    json_decref(found);
    return api_comparison_answer(only);
}
