#include "replies/identity_forms.h"

#include "replies/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT 160

typedef unsigned long long number;

static const char *const KINDS[PE_TRANSFORM_KINDS] = {
    [PE_TRANSFORM_REPEATED] = "repeated",
    [PE_TRANSFORM_TILED] = "tiled",
    [PE_TRANSFORM_EACH] = "each_repeated",
    [PE_TRANSFORM_FLATTENED] = "grid",
    [PE_TRANSFORM_PAIR] = "pair",
    [PE_TRANSFORM_HALVES] = "halves",
    [PE_TRANSFORM_ALTERNATING] = "alternating",
    [PE_TRANSFORM_MATRICES] = "matrices",
    [PE_TRANSFORM_ANGLES] = "angles",
    [PE_TRANSFORM_MASKED] = "masked",
    [PE_TRANSFORM_ZERO_ROWS] = "zero_rows",
    [PE_TRANSFORM_ZERO_COLUMNS] = "zero_columns",
    [PE_TRANSFORM_FACTOR] = "factor",
};

/* ---- forms ---- */

/* Write "row 0 is zero", or of several "rows 0 to 3 are zero". */
static void write_zeros(const pe_transform *form, const char *what, char dst[TEXT])
{
    if (form->count == 1)
        snprintf(dst, TEXT, "%s %llu is zero", what, (number)form->first);
    else
        snprintf(dst, TEXT, "%ss %llu to %llu are zero", what, (number)form->first,
                 (number)(form->first + form->count - 1));
}

/* What a form is, about the table. */
static void write_form(const pe_identity *identity, const pe_transform *form, char dst[TEXT])
{
    const char *one = identity->tensor, *other = identity->second.tensor;
    const char *sign = identity->second.negative ? "-" : "";
    switch (form->kind) {
    case PE_TRANSFORM_REPEATED:
        snprintf(dst, TEXT, "axis %zu has it %llu times", form->axis, (number)form->count);
        break;
    case PE_TRANSFORM_TILED:
        snprintf(dst, TEXT, "axis %zu has its %llu indices %llu times in turn", form->axis,
                 (number)form->first, (number)form->count);
        break;
    case PE_TRANSFORM_EACH:
        snprintf(dst, TEXT, "axis %zu has each index %llu times in a row", form->axis,
                 (number)form->count);
        break;
    case PE_TRANSFORM_FLATTENED:
        snprintf(dst, TEXT, "its rows lie along %llu axes", (number)form->count);
        break;
    case PE_TRANSFORM_PAIR:
        snprintf(dst, TEXT, "axis %zu has %s, then %s%s", form->axis, one, sign, other);
        break;
    case PE_TRANSFORM_HALVES:
        snprintf(dst, TEXT, "the first half of axis %zu is %s, the second %s%s", form->axis,
                 one, sign, other);
        break;
    case PE_TRANSFORM_ALTERNATING:
        snprintf(dst, TEXT, "the even indices of axis %zu are %s, the odd ones %s%s",
                 form->axis, one, sign, other);
        break;
    case PE_TRANSFORM_MATRICES:
        snprintf(dst, TEXT, "the last two axes are rotation matrices of them%s",
                 identity->second.negative ? ", transposed" : "");
        break;
    case PE_TRANSFORM_ANGLES:
        snprintf(dst, TEXT, "the table has their angles, before cosine and sine");
        break;
    case PE_TRANSFORM_MASKED:
        snprintf(dst, TEXT, "keys after the query have %g", form->value);
        break;
    case PE_TRANSFORM_ZERO_ROWS:
        write_zeros(form, "row", dst);
        break;
    case PE_TRANSFORM_ZERO_COLUMNS:
        write_zeros(form, "column", dst);
        break;
    case PE_TRANSFORM_FACTOR:
        snprintf(dst, TEXT, "times %.9g", form->value);
        break;
    case PE_TRANSFORM_KINDS:
        break;
    }
}

void api_forms_add(const pe_identity *identity, api_text *text)
{
    char form[TEXT] = "";
    for (size_t i = 0; i < identity->transform_count; i++) {
        write_form(identity, &identity->transforms[i], form);
        api_text_add(text, "; %s", form);
    }
}

/* What is known of a form beside its text. */
static json_t *describe_form(const pe_identity *identity, const pe_transform *form)
{
    char text[TEXT] = "";
    write_form(identity, form, text);
    json_t *document = json_pack("{s:s, s:s}", "kind", KINDS[form->kind], "text", text);
    if (form->kind <= PE_TRANSFORM_EACH ||
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
