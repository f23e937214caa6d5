#include "replies/identity_forms.h"

#include "replies/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- forms ---- */

void api_forms_add(const pe_identity *identity, api_text *text)
{
    char form[PE_FORM_TEXT] = "";
    for (size_t i = 0; i < identity->transform_count; i++) {
        pe_form_text(identity, &identity->transforms[i], form);
        api_text_add(text, "; %s", form);
    }
}

/* What is known of a form beside its text. */
static json_t *describe_form(const pe_identity *identity, const pe_transform *form)
{
    char text[PE_FORM_TEXT] = "";
    pe_form_text(identity, form, text);
    json_t *document = json_pack("{s:s, s:s}", "kind", pe_form_name(form), "text", text);
    if (form->kind <= PE_TRANSFORM_EACH || form->kind == PE_TRANSFORM_CHANNELS_FIRST ||
        form->kind == PE_TRANSFORM_PARTS ||
        (form->kind >= PE_TRANSFORM_PAIR && form->kind <= PE_TRANSFORM_ALTERNATING))
        json_object_set_new(document, "axis", json_integer((json_int_t)form->axis));
    if (form->first > 0 || form->kind == PE_TRANSFORM_ZERO_ROWS)
        json_object_set_new(document, "first", json_integer((json_int_t)form->first));
    if (form->count > 0)
        json_object_set_new(document, "count", json_integer((json_int_t)form->count));
    if (form->kind == PE_TRANSFORM_FACTOR || form->kind == PE_TRANSFORM_MASKED)
        json_object_set_new(document, "value",
                            isfinite(form->value)
                                ? json_real(form->value)
                                : json_string(form->value > 0 ? "Infinity" : "-Infinity"));
    if (form->constant != 0)
        json_object_set_new(document, "constant", json_real(form->constant));
    return document;
}

json_t *api_forms_list(const pe_identity *identity)
{
    json_t *forms = json_array();
    for (size_t i = 0; i < identity->transform_count; i++)
        json_array_append_new(forms, describe_form(identity, &identity->transforms[i]));
    return forms;
}

/* ---- why nothing was found ---- */

#define STORE " If it was drawn or trained, store what it was made of and ask with set=NAME."

static const struct {
    const char *kind, *text;
} OBSTACLES[] = {
    [PE_OBSTACLE_NONE] = {"", STORE},
    [PE_OBSTACLE_FEW_ROWS] =
        {"few_rows",
         " It has fewer than four rows, which many requests make: send more of them."},
    [PE_OBSTACLE_NOT_FINITE] = {"not_finite",
                                " It has entries that are infinite or no numbers: "
                                "send the part without them."},
    [PE_OBSTACLE_CONSTANT] = {"constant", " All its entries are the same, as before training."},
    [PE_OBSTACLE_RANDOM] = {"random",
                            " It looks random: entries differ along its diagonals, and "
                            "neighbouring rows have little in common." STORE},
    [PE_OBSTACLE_SMOOTH] =
        {"smooth", " Neighbouring rows are alike, as in a trained table: if it was cut out of "
                   "another table or interpolated, store that one and ask with set=NAME."},
    [PE_OBSTACLE_WAVES] =
        {"waves", " Most columns are waves, but no request with their frequencies and "
                  "amplitudes was found: send a window of more rows, or one scheme's name as "
                  "scheme=."},
    [PE_OBSTACLE_DIAGONAL] = {"diagonals",
                              " Its diagonals are constant, as those of a bias or an index by "
                              "distance, but no formula of one was found." STORE},
};

const char *api_obstacle_text(const pe_identity *identity)
{
    return OBSTACLES[identity->obstacle].text;
}

json_t *api_obstacle_document(const pe_identity *identity, const pe_view *view)
{
    const char *text = OBSTACLES[identity->obstacle].text;
    json_t *document = json_pack("{s:s, s:s}", "kind", OBSTACLES[identity->obstacle].kind,
                                 "text", text + strspn(text, " "));
    api_compared table = {.rank = view->rank, .elements = pe_view_elements(view)};
    memcpy(table.shape, view->shape, sizeof table.shape);
    if (identity->obstacle == PE_OBSTACLE_NOT_FINITE)
        json_object_set_new(document, "at", api_comparison_index(&table, identity->place));
    if (identity->obstacle == PE_OBSTACLE_CONSTANT)
        json_object_set_new(document, "value", json_real(identity->value));
    return document;
}
