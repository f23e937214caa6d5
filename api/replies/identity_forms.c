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

/* Which kinds have an axis, and which have a value. */
static const bool HAS_AXIS[PE_TRANSFORM_KINDS] = {
    [PE_TRANSFORM_REPEATED] = true,     [PE_TRANSFORM_TILED] = true,
    [PE_TRANSFORM_EACH] = true,         [PE_TRANSFORM_CHANNELS_FIRST] = true,
    [PE_TRANSFORM_HEADS_LAST] = true,   [PE_TRANSFORM_PAIR] = true,
    [PE_TRANSFORM_HALVES] = true,       [PE_TRANSFORM_ALTERNATING] = true,
    [PE_TRANSFORM_OPPOSITE] = true,     [PE_TRANSFORM_PARTS] = true,
    [PE_TRANSFORM_MASKED_KEYS] = true,  [PE_TRANSFORM_ZERO_ROWS] = true,
    [PE_TRANSFORM_ZERO_COLUMNS] = true, [PE_TRANSFORM_OTHER_ROWS] = true,
};
static const bool HAS_VALUE[PE_TRANSFORM_KINDS] = {
    [PE_TRANSFORM_MASKED] = true,   [PE_TRANSFORM_MASKED_KEYS] = true,
    [PE_TRANSFORM_DECIMALS] = true, [PE_TRANSFORM_NOISE] = true,
    [PE_TRANSFORM_FACTOR] = true,
};

/* What is known of a form beside its text; a value that is no number is none. */
static json_t *describe_form(const pe_identity *identity, const pe_transform *form)
{
    char text[PE_FORM_TEXT] = "";
    pe_form_text(identity, form, text);
    json_t *document = json_pack("{s:s, s:s}", "kind", pe_form_name(form), "text", text);
    if (HAS_AXIS[form->kind])
        json_object_set_new(document, "axis", json_integer((json_int_t)form->axis));
    if (form->first > 0 || form->kind == PE_TRANSFORM_ZERO_ROWS)
        json_object_set_new(document, "first", json_integer((json_int_t)form->first));
    if (form->count > 0)
        json_object_set_new(document, "count", json_integer((json_int_t)form->count));
    if (HAS_VALUE[form->kind] && !isnan(form->value))
        json_object_set_new(document, "value",
                            isfinite(form->value)
                                ? json_real(form->value)
                                : json_string(form->value > 0 ? "Infinity" : "-Infinity"));
    if (form->kind == PE_TRANSFORM_MASKED)
        json_object_set_new(document, "added", json_boolean(form->constant != 0));
    else if (form->constant != 0)
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
