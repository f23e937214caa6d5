/* What the harnesses share. */
#include "fuzz.h"

#include "api.h"
#include "http/arguments.h"

#include <regex.h>
#include <string.h>

char *fuzz_exact(const void *data, size_t size)
{
    char *copy = malloc(size ? size : 1);
    fuzz_check(copy, "memory");
    if (size)
        memcpy(copy, data, size);
    return copy;
}

char *fuzz_copy(const void *data, size_t size)
{
    char *copy = malloc(size + 1);
    fuzz_check(copy, "memory");
    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

char *fuzz_line(char **text)
{
    char *line = *text, *end = line + strcspn(line, "\n");
    *text = *end ? end + 1 : end;
    *end = '\0';
    return line;
}

bool fuzz_fits(const char *pattern, const char *text, size_t size)
{
    static struct {
        const char *pattern;
        regex_t compiled;
    } kept[40];
    size_t i = 0;
    while (i < FUZZ_COUNT(kept) && kept[i].pattern && kept[i].pattern != pattern)
        i++;
    fuzz_check(i < FUZZ_COUNT(kept), "too many patterns");
    if (!kept[i].pattern) {
        fuzz_check(regcomp(&kept[i].compiled, pattern, REG_EXTENDED) == 0, "%s", pattern);
        kept[i].pattern = pattern;
    }
    regmatch_t match = {0, (regoff_t)size};
    return regexec(&kept[i].compiled, text, 1, &match, REG_STARTEND) == 0 && match.rm_so == 0 &&
           match.rm_eo == (regoff_t)size;
}

static void check_text(const char *text, size_t room)
{
    size_t length = strnlen(text, room);
    fuzz_check(length < room && api_is_utf8(text, length), "an error's text: %.99s", text);
}

void fuzz_check_error(const pe_error *error)
{
    fuzz_check(error->status != PE_OK, "a refusal without a status");
    fuzz_check(error->count > 0 && error->count <= PE_PROBLEM_LIMIT, "%zu problems",
               error->count);
    for (size_t i = 0; i < error->count; i++) {
        const pe_problem *problem = &error->problems[i];
        check_text(problem->parameter, sizeof problem->parameter);
        check_text(problem->given, sizeof problem->given);
        check_text(problem->allowed, sizeof problem->allowed);
        check_text(problem->did_you_mean, sizeof problem->did_you_mean);
        fuzz_check(problem->allowed[0], "no rule for %s", problem->parameter);
    }
}

/* ---- requests ---- */

char *fuzz_safetensors(const char *header, size_t header_size, const void *data,
                       size_t data_size, size_t *ret_size)
{
    *ret_size = 8 + header_size + data_size;
    char *file = malloc(*ret_size);
    fuzz_check(file, "memory");
    for (unsigned i = 0; i < 8; i++)
        file[i] = (char)((uint64_t)header_size >> (8 * i));
    memcpy(file + 8, header, header_size);
    if (data_size)
        memcpy(file + 8 + header_size, data, data_size);
    return file;
}

/* A set for the scheme `learned`: a table of 4 rows and 2 columns. */
static pe_set *stored_set(void)
{
    static const char header[] =
        "{\"table\":{\"dtype\":\"F32\",\"shape\":[4,2],\"data_offsets\":[0,32]}}";
    static const float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    static api_set *set;
    if (!set) {
        size_t size;
        pe_error error;
        char *file = fuzz_safetensors(header, sizeof header - 1, data, sizeof data, &size);
        set = api_set_read(file, size, &error);
        fuzz_check(set, "%s", error.problems[0].allowed);
    }
    return api_set_tensors(set);
}

static pe_status find_set(void *context, const char *name, pe_set **ret_set)
{
    (void)context;
    if (strcmp(name, "set") == 0)
        *ret_set = pe_set_ref(stored_set());
    return PE_OK;
}

static const pe_sets SETS = {NULL, find_set};
const pe_limits FUZZ_LIMITS = {
    .elements = 4096, .table_bytes = 1 << 15, .list_length = 64, .sets = &SETS};

const pe_scheme *fuzz_scheme(const char *name)
{
    static const char similarity[] = "similarity/";
    size_t length = sizeof similarity - 1;
    return strncmp(name, similarity, length) == 0 ? pe_similarity_find(name + length)
                                                  : pe_scheme_find(name);
}

char *fuzz_key(const pe_scheme *scheme, const pe_argument *arguments, size_t count,
               pe_error *reterr)
{
    pe_request *request;
    size_t length;
    if (pe_request_new(scheme, arguments, count, &FUZZ_LIMITS, &request, reterr) != PE_OK)
        return NULL;
    const char *key = pe_request_key(request, &length);
    fuzz_check(strlen(key) == length, "the length of %s", key);
    char *copy = fuzz_copy(key, length);
    pe_request_unref(request);
    return copy;
}

/* Write a text with every byte percent-encoded to dst. Returns the end. */
static char *encode(char *dst, const char *text)
{
    for (; *text; text++)
        dst += sprintf(dst, "%%%02X", (unsigned char)*text);
    return dst;
}

char *fuzz_encode_query(const pe_argument *arguments, size_t count)
{
    size_t room = 1;
    for (size_t i = 0; i < count; i++)
        room += 3 * (strlen(arguments[i].name) + strlen(arguments[i].text)) + 2;
    char *query = malloc(room), *end = query;
    fuzz_check(query, "memory");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            *end++ = '&';
        end = encode(end, arguments[i].name);
        *end++ = '=';
        end = encode(end, arguments[i].text);
    }
    *end = '\0';
    return query;
}
