/* Wording problems. The library says why a parameter is wrong and states rules of schemes; what
 * depends on how the request was written, or points to a path, is worded here. */
#include "replies/wording.h"

#include "http/arguments.h"

#include <string.h>

static bool is_list(const pe_parameter *row)
{
    return row && (row->type == PE_REAL_LIST || row->type == PE_INTEGER_LIST);
}

/* The scheme's name in paths: a similarity has that of the scheme whose rows it compares. */
static const char *scheme_name(const pe_scheme_info *info)
{
    return info->similarity_of ? info->similarity_of : info->name;
}

/* What separates item `index` of a list of `count` names in a sentence. */
static const char *list_separator(size_t index, size_t count, const char *last)
{
    if (index == 0)
        return "";
    return index + 1 == count ? last : ", ";
}

/* All names that a scheme's request may give to an endpoint. */
static void add_names(const pe_error *error, const char *last, api_text *text)
{
    const pe_scheme_info *info = pe_scheme_describe(error->scheme);
    const char *names[2 * API_NAMES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < pe_all_parameter_count(info) && count < API_NAMES_MAX; i++)
        names[count++] = pe_parameter_at(info, i)->name;
    if (info->preset_count > 0)
        names[count++] = "preset";
    for (const char *const *name = error->names; name && *name; name++)
        if (!pe_parameter_find(info, *name)) /* mask of a scheme is that of a comparison, too */
            names[count++] = *name;
    for (size_t i = 0; i < count; i++)
        api_text_add(text, "%s%s", list_separator(i, count, last), names[i]);
}

/* ---- what is allowed ---- */

/* How JSON must write a value of a row's type, or a text where there is no row. */
static const char *json_form(const pe_parameter *row)
{
    if (!row)
        return "written as a JSON string";
    switch (row->type) {
    case PE_INTEGER:
    case PE_REAL:
        return "written as a JSON number";
    case PE_BOOLEAN:
        return "written without quotes";
    case PE_CHOICE:
    case PE_STORED:
    case PE_TEXT:
    case PE_TEXT_LIST:
        return "written as a JSON string";
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        return "written as a JSON array";
    }
    return "";
}

/* Add how a number or list must be written, where its text was no value of its type. */
static void add_form(const pe_problem *problem, api_text *text)
{
    if (problem->kind == PE_KIND_LIST && !problem->given[0])
        api_text_add(text, ", with at least one item");
    if (problem->kind != PE_KIND_ANY)
        return;
    if (is_list(problem->row))
        api_text_add(text, ", separated by commas%s",
                     problem->given[0] ? "" : ", with no empty item");
    if (strchr(problem->given, ' '))
        api_text_add(text,
                     "%s without blanks; + in a query string means a blank, so write 1e4 "
                     "instead of 1e+4",
                     is_list(problem->row) ? " and" : ",");
}

void api_word_allowed(const pe_error *error, const pe_problem *problem, api_text *text)
{
    if (problem->reason == PE_REASON_UNKNOWN && error->scheme) {
        api_text_add(text, "one of ");
        add_names(error, ", ", text);
        return;
    }
    api_text_add(text, "%s", problem->allowed);
    if (problem->reason == PE_REASON_KIND &&
        (problem->row || problem->kind != PE_KIND_STRING)) /* else `allowed` says the kind */
        api_text_add(text, ", %s", json_form(problem->row));
    else if (problem->reason == PE_REASON_NO_SET)
        api_text_add(text, "; GET /v1/sets lists them");
    else if (problem->reason == PE_REASON_VALUE)
        add_form(problem, text);
}

/* ---- messages ---- */

/* What a sentence calls the subject of a problem. Some problems are not about a parameter: no
 * parameter has such a name. */
static const char *name_subject(const pe_problem *problem)
{
    static const struct {
        const char *parameter, *subject;
    } SUBJECTS[] = {
        {"query", "the query string"},
        {"body", "the body"},
        {"file header", "the header of the file"},
    };
    for (size_t i = 0; !problem->row && i < sizeof SUBJECTS / sizeof *SUBJECTS; i++)
        if (strcmp(SUBJECTS[i].parameter, problem->parameter) == 0)
            return SUBJECTS[i].subject;
    return problem->parameter;
}

/* Whether what was given is a text of the client's, to be shown in quotes. */
static bool is_quoted(const pe_problem *problem)
{
    switch (problem->reason) {
    case PE_REASON_KIND:
    case PE_REASON_RULE:
        return problem->kind == PE_KIND_STRING;
    case PE_REASON_VALUE:
        return problem->kind == PE_KIND_ANY;
    case PE_REASON_CHOICE:
    case PE_REASON_NO_SET:
        return true;
    default:
        return false;
    }
}

static void add_given_value(const pe_problem *problem, api_text *text)
{
    const char *left = "", *right = "";
    if (!problem->given[0])
        return;
    if (is_quoted(problem))
        left = right = "\"";
    if (problem->reason == PE_REASON_KIND && problem->kind == PE_KIND_STRING)
        right = "\", a string";
    else if (problem->reason == PE_REASON_KIND && problem->kind == PE_KIND_LIST)
        left = "[", right = "]";
    api_text_add(text, " (given: %s%s%s)", left, problem->given, right);
}

static void word_unknown(const pe_error *error, const pe_problem *problem, api_text *text)
{
    const pe_scheme_info *info = error->scheme ? pe_scheme_describe(error->scheme) : NULL;
    const pe_parameter *meant = info ? pe_parameter_find(info, problem->did_you_mean) : NULL;
    api_text_add(text, "unknown parameter \"%s\"", problem->parameter);
    if (problem->did_you_mean[0])
        api_text_add(text, "; did you mean \"%s\"%s%s%s?", problem->did_you_mean,
                     meant ? " (" : "", meant ? meant->help : "", meant ? ")" : "");
    if (!info) {
        api_text_add(text, "%s it must be %s", problem->did_you_mean[0] ? "" : ";",
                     problem->allowed);
        return;
    }
    api_text_add(text, "%s %s%s takes ", problem->did_you_mean[0] ? "" : ";",
                 info->similarity_of ? "the similarity of " : "", scheme_name(info));
    add_names(error, " and ", text);
    api_text_add(text, "; GET /v1/schemes/%s describes its own", scheme_name(info));
}

static void word_missing(const pe_error *error, const pe_problem *problem, api_text *text)
{
    api_text_add(text, "missing parameter \"%s\": ", problem->parameter);
    if (error->scheme) {
        const pe_scheme_info *info = pe_scheme_describe(error->scheme);
        api_text_add(text, "%s%s needs ", info->similarity_of ? "the similarity of " : "",
                     scheme_name(info));
    } else {
        api_text_add(text, "it must be ");
    }
    api_word_allowed(error, problem, text);
    if (problem->row)
        api_text_add(text, " (%s)", problem->row->help);
    if (problem->alone)
        api_text_add(text, "; in a shell, quote the URL, since & ends a command");
}

/* "NAME must be ALLOWED (given: GIVEN)". */
static void word_rule(const pe_error *error, const pe_problem *problem, api_text *text)
{
    api_text_add(text, "%s must be ", name_subject(problem));
    api_word_allowed(error, problem, text);
    add_given_value(problem, text);
    if (problem->did_you_mean[0])
        api_text_add(text, "; did you mean \"%s\"?", problem->did_you_mean);
}

void api_word_message(const pe_error *error, const pe_problem *problem, api_text *text)
{
    switch (problem->reason) {
    case PE_REASON_UNKNOWN:
        word_unknown(error, problem, text);
        return;
    case PE_REASON_MISSING:
        word_missing(error, problem, text);
        return;
    case PE_REASON_REPEATED:
        api_text_add(text, "%s is given more than once; give it once", problem->parameter);
        return;
    case PE_REASON_NO_MEMORY:
        api_text_add(text, "the server is out of %s; try again later", problem->allowed);
        return;
    case PE_REASON_CANCELLED:
        api_text_add(text,
                     "the computation takes longer than the server's compute-seconds; ask "
                     "for less, since another try would take as long");
        return;
    case PE_REASON_RULE:
    case PE_REASON_CONFLICT:
    case PE_REASON_KIND:
    case PE_REASON_VALUE:
    case PE_REASON_CHOICE:
    case PE_REASON_RANGE:
    case PE_REASON_NO_SET:
    case PE_REASON_TOO_LARGE:
        word_rule(error, problem, text);
        return;
    }
}

/* What a problem says of its subject, in a word; "" if an earlier one has the same subject. */
static const char *give_verdict(const pe_error *error, size_t index)
{
    const pe_problem *problem = &error->problems[index];
    for (size_t i = 0; i < index; i++)
        if (strcmp(error->problems[i].parameter, problem->parameter) == 0)
            return "";
    if (problem->reason == PE_REASON_UNKNOWN || problem->reason == PE_REASON_NO_SET)
        return "unknown";
    return problem->reason == PE_REASON_MISSING ? "missing" : "wrong";
}

/* Add "a, b and c are VERDICT", after a separator; false if nothing is. */
static bool add_verdict(const pe_error *error, const char *verdict, const char *separator,
                        api_text *text)
{
    size_t count = 0, named = 0;
    for (size_t i = 0; i < error->count; i++)
        count += strcmp(give_verdict(error, i), verdict) == 0;
    if (count == 0)
        return false;
    api_text_add(text, "%s", separator);
    for (size_t i = 0; i < error->count; i++)
        if (strcmp(give_verdict(error, i), verdict) == 0)
            api_text_add(text, "%s%s", list_separator(named++, count, " and "),
                         name_subject(&error->problems[i]));
    api_text_add(text, " %s %s", count > 1 ? "are" : "is", verdict);
    return true;
}

void api_word_detail(const pe_error *error, api_text *text)
{
    size_t subjects = 0;
    for (size_t i = 0; i < error->count; i++)
        subjects += give_verdict(error, i)[0] != '\0';
    if (subjects == 1 && error->dropped == 0) {
        api_word_message(error, &error->problems[0], text);
        return;
    }
    const bool unknown = add_verdict(error, "unknown", "", text);
    const bool missing = add_verdict(error, "missing", unknown ? ", " : "", text);
    add_verdict(error, "wrong", unknown || missing ? ", " : "", text);
    if (error->dropped)
        api_text_add(text, ", and %zu more", error->dropped);
    api_text_add(text, "; errors has a message for each");
}
