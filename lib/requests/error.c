/* Errors: a bounded list of problems. */
#include "numerics/dtype.h"
#include "requests/parameters.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pe_error_init(pe_error *error)
{
    error->status = PE_OK;
    error->scheme = NULL;
    error->names = NULL;
    error->count = error->dropped = 0;
}

/* Copy a text, cut at a character's boundary with an ellipsis where it does not fit. */
static void copy_text(char *dst, size_t size, const char *text)
{
    static const char ELLIPSIS[] = "\xe2\x80\xa6";
    size_t length = strlen(text);
    if (length < size) {
        memcpy(dst, text, length + 1);
        return;
    }
    size_t cut = size - sizeof ELLIPSIS;
    while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut--;
    memcpy(dst, text, cut);
    memcpy(dst + cut, ELLIPSIS, sizeof ELLIPSIS);
}

/* Drop characters of which a precision, such as that of %.60s, has left a part. */
static void drop_cut_characters(char *text)
{
    char *end = text;
    for (size_t size; *text; text += size) {
        const unsigned char lead = (unsigned char)*text;
        const size_t whole = lead < 0x80   ? 1
                             : lead < 0xc0 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                                           : 4;
        for (size = 1; size < whole && ((unsigned char)text[size] & 0xc0) == 0x80;)
            size++;
        for (size_t i = 0; size == whole && i < size; i++)
            *end++ = text[i];
    }
    *end = '\0';
}

static int rank_severity(pe_status status)
{
    switch (status) {
    case PE_OK:
        return 0;
    case PE_TOO_LARGE:
        return 1;
    case PE_OUT_OF_RANGE:
        return 2;
    case PE_MALFORMED:
        return 3;
    case PE_CANCELLED:
        return 4;
    case PE_NO_MEMORY:
        return 5;
    }
    return 0;
}

static pe_reason find_reason(pe_status status)
{
    switch (status) {
    case PE_TOO_LARGE:
        return PE_REASON_TOO_LARGE;
    case PE_CANCELLED:
        return PE_REASON_CANCELLED;
    case PE_NO_MEMORY:
        return PE_REASON_NO_MEMORY;
    case PE_OK:
    case PE_MALFORMED:
    case PE_OUT_OF_RANGE:
        break;
    }
    return PE_REASON_RULE;
}

static void raise_status(pe_error *error, pe_status status)
{
    if (rank_severity(status) > rank_severity(error->status))
        error->status = status;
}

/* Room for one more problem. Where there is none left, the last problem is overwritten and
 * counts as dropped. */
static pe_problem *next_problem(pe_error *error)
{
    if (error->count < PE_PROBLEM_LIMIT)
        return &error->problems[error->count++];
    error->dropped++;
    return &error->problems[PE_PROBLEM_LIMIT - 1];
}

pe_problem *pe_error_add(pe_error *error, pe_status status, const char *parameter,
                         const char *given, const char *allowed, ...)
{
    raise_status(error, status);
    pe_problem *problem = next_problem(error);
    char text[4 * sizeof problem->allowed]; /* so that copy_text sees that it is too long */
    va_list list;
    va_start(list, allowed);
    vsnprintf(text, sizeof text, allowed, list);
    va_end(list);
    drop_cut_characters(text);
    problem->reason = find_reason(status);
    problem->row = NULL;
    problem->kind = PE_KIND_ANY;
    problem->alone = false;
    copy_text(problem->parameter, sizeof problem->parameter, parameter);
    copy_text(problem->given, sizeof problem->given, given);
    copy_text(problem->allowed, sizeof problem->allowed, text);
    problem->did_you_mean[0] = '\0';
    return problem;
}

void pe_error_append(pe_error *error, const pe_error *other)
{
    raise_status(error, other->status);
    for (size_t i = 0; i < other->count; i++)
        *next_problem(error) = other->problems[i];
    error->dropped += other->dropped;
}

void pe_problem_suggest(pe_problem *problem, const char *name)
{
    if (name)
        copy_text(problem->did_you_mean, sizeof problem->did_you_mean, name);
}

void pe_describe_choices(const char *const *choices, size_t count, char *dst, size_t size)
{
    size_t used = (size_t)snprintf(dst, size, "%s", count > 1 ? "one of " : "");
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(dst + used, size - used, "%s%s", i ? ", " : "", choices[i]);
}

pe_problem *pe_error_add_choice(pe_error *error, const char *parameter, const char *given,
                                const char *const *choices, size_t count)
{
    char allowed[2 * sizeof error->problems[0].allowed] = ""; /* pe_error_add cuts it */
    pe_describe_choices(choices, count, allowed, sizeof allowed);
    pe_problem *problem = pe_error_add(error, PE_MALFORMED, parameter, given, "%s", allowed);
    problem->reason = PE_REASON_CHOICE;
    const char *dtype = pe_dtype_from_word(given);
    for (size_t i = 0; i < count && dtype; i++)
        if (strcmp(choices[i], dtype) == 0) {
            pe_problem_suggest(problem, dtype);
            return problem;
        }
    pe_problem_suggest(problem, pe_find_nearest_name(given, choices, count));
    return problem;
}

void pe_error_add_repetition(pe_error *error, const pe_argument *argument)
{
    pe_problem *problem =
        pe_error_add(error, PE_MALFORMED, argument->name, argument->text, "given once");
    problem->reason = PE_REASON_REPEATED;
    problem->kind = argument->kind;
}
