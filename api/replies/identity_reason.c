#include "replies/identity_reason.h"

#include "replies/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long number;

/* ---- sentences ---- */

/* An axis of the view without axes of size 1, as one of the view. */
static size_t find_axis(const pe_view *view, size_t axis)
{
    for (size_t i = 0; i < view->rank; i++)
        if (view->shape[i] > 1 && axis-- == 0)
            return i;
    return 0;
}

static json_t *find_place(const pe_claim *claim, const pe_view *view)
{
    api_compared table = {.rank = view->rank, .elements = pe_view_elements(view)};
    memcpy(table.shape, view->shape, sizeof table.shape);
    return api_comparison_index(&table, claim->place);
}

static void say_constant(const pe_claim *claim, const pe_view *view, api_text *text)
{
    char printed[PE_PRINT_MAX];
    const float narrow = (float)claim->value;
    pe_dtype dtype;
    if (isinf(claim->value))
        snprintf(printed, sizeof printed, "%sinfinity", claim->value < 0 ? "-" : "");
    else if (pe_element_is_real(view->element, &dtype) && dtype != PE_F64)
        pe_print_element(printed, PE_F32, &narrow);
    else
        pe_print_number(printed, claim->value);
    api_text_add(text, "all entries are %s", printed);
}

static void say_few_rows(const pe_claim *claim, const pe_view *view, api_text *text)
{
    (void)view;
    api_text_add(text, "it has %llu row%s, as many requests make: send at least four",
                 (number)claim->count, claim->count > 1 ? "s" : "");
}

static void say_not_finite(const pe_claim *claim, const pe_view *view, api_text *text)
{
    json_t *place = find_place(claim, view);
    char *index = json_dumps(place, JSON_COMPACT);
    api_text_add(text, "%llu of %llu entries %s not finite, the first one at %s",
                 (number)claim->count, (number)claim->total, claim->count > 1 ? "are" : "is",
                 index ? index : "");
    free(index);
    json_decref(place);
}

static void say_diagonals(const pe_claim *claim, const pe_view *view, api_text *text)
{
    api_text_add(text, "diagonals of axes %zu and %zu are constant",
                 find_axis(view, claim->axis), find_axis(view, claim->axis + 1));
}

static void say_waves(const pe_claim *claim, const pe_view *view, api_text *text)
{
    (void)view;
    api_text_add(text, "%llu of %llu columns %s", (number)claim->count, (number)claim->total,
                 claim->count > 1 ? "are waves" : "is a wave");
    if (claim->count > 1)
        api_text_add(text, " of %.3g to %.3g radians a row", claim->least, claim->most);
    else
        api_text_add(text, " of %.3g radians a row", claim->least);
}

static void say_equal_lines(const pe_claim *claim, const pe_view *view, api_text *text)
{
    const char *what = claim->kind == PE_CLAIM_EQUAL_ROWS ? "rows" : "columns";
    (void)view;
    if (claim->count == 1)
        api_text_add(text, "all %llu %s are equal", (number)claim->total, what);
    else
        api_text_add(text, "the %llu %s are copies of %llu different ones",
                     (number)claim->total, what, (number)claim->count);
}

static void say_smooth(const pe_claim *claim, const pe_view *view, api_text *text)
{
    (void)view;
    api_text_add(text, "neighbouring rows have the correlation %.2f", claim->value);
}

static void say_random(const pe_claim *claim, const pe_view *view, api_text *text)
{
    (void)view;
    api_text_add(text, "it looks random, with mean %.2g and deviation %.2g", claim->least,
                 claim->most);
}

/* How claims are said, and what their numbers are called; NULL: they have no such number. */
static const struct {
    const char *kind;
    void (*say)(const pe_claim *claim, const pe_view *view, api_text *text);
    const char *value, *least, *most;
} CLAIMS[PE_CLAIM_KINDS] = {
    [PE_CLAIM_CONSTANT] = {.kind = "constant", .say = say_constant, .value = "value"},
    [PE_CLAIM_FEW_ROWS] = {.kind = "few_rows", .say = say_few_rows},
    [PE_CLAIM_NOT_FINITE] = {.kind = "not_finite", .say = say_not_finite},
    [PE_CLAIM_DIAGONALS] = {.kind = "diagonals", .say = say_diagonals},
    [PE_CLAIM_WAVES] = {.kind = "waves",
                        .say = say_waves,
                        .least = "lowest",
                        .most = "highest"},
    [PE_CLAIM_EQUAL_ROWS] = {.kind = "equal_rows", .say = say_equal_lines},
    [PE_CLAIM_EQUAL_COLUMNS] = {.kind = "equal_columns", .say = say_equal_lines},
    [PE_CLAIM_SMOOTH] = {.kind = "smooth", .say = say_smooth, .value = "correlation"},
    [PE_CLAIM_RANDOM] = {.kind = "random",
                         .say = say_random,
                         .least = "mean",
                         .most = "deviation"},
};

/* Add a claim as a sentence. */
static void say_claim(const pe_claim *claim, const pe_view *view, api_text *text)
{
    const size_t first = text->size;
    if (claim->rows > 0)
        api_text_add(text, "In the first %llu rows ", (number)claim->rows);
    const size_t begin = claim->rows > 0 ? text->size : first;
    CLAIMS[claim->kind].say(claim, view, text);
    if (!text->failed && begin == first && text->data[first] >= 'a' && text->data[first] <= 'z')
        text->data[first] = (char)(text->data[first] - 'a' + 'A');
    api_text_add(text, ".");
}

void api_reason_add(const pe_identity *identity, const pe_view *view, api_text *text)
{
    for (size_t i = 0; i < identity->claim_count; i++) {
        api_text_add(text, " ");
        say_claim(&identity->claims[i], view, text);
    }
    if (identity->may_be_trained)
        api_text_add(text, " If it was drawn or trained, store what it was made of and ask "
                           "with set=NAME.");
}

/* ---- the document ---- */

/* Add a number if it has a name. */
static void add_number(json_t *document, const char *name, double value)
{
    if (name && isfinite(value))
        json_object_set_new(document, name, json_real(value));
}

static json_t *describe_claim(const pe_claim *claim, const pe_view *view)
{
    json_t *document = json_pack("{s:s}", "kind", CLAIMS[claim->kind].kind);
    if (claim->rows > 0)
        json_object_set_new(document, "first_rows", json_integer((json_int_t)claim->rows));
    if (claim->total > 0) {
        json_object_set_new(document, "count", json_integer((json_int_t)claim->count));
        json_object_set_new(document, "of", json_integer((json_int_t)claim->total));
    }
    if (claim->kind == PE_CLAIM_NOT_FINITE)
        json_object_set_new(document, "at", find_place(claim, view));
    add_number(document, CLAIMS[claim->kind].value, claim->value);
    add_number(document, CLAIMS[claim->kind].least, claim->least);
    add_number(document, CLAIMS[claim->kind].most, claim->most);
    return document;
}

/* Set the text of a document, and free it. */
static void set_text(json_t *document, api_text *text, size_t from)
{
    if (!text->failed && text->size > from)
        json_object_set_new(document, "text",
                            json_stringn(text->data + from, text->size - from));
    api_text_done(text);
}

json_t *api_reason_document(const pe_identity *identity, const pe_view *view)
{
    json_t *claims = json_array();
    for (size_t i = 0; i < identity->claim_count; i++) {
        api_text text = {.data = NULL};
        json_t *claim = describe_claim(&identity->claims[i], view);
        say_claim(&identity->claims[i], view, &text);
        set_text(claim, &text, 0);
        json_array_append_new(claims, claim);
    }
    api_text whole = {.data = NULL};
    json_t *document = json_pack("{s:s}", "kind", CLAIMS[identity->claims[0].kind].kind);
    api_reason_add(identity, view, &whole);
    set_text(document, &whole, 1); /* behind the blank */
    json_object_set_new(document, "claims", claims);
    return document;
}
