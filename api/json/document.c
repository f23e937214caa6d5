/* Small JSON documents by jansson. */
#include "json/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether an allocation of jansson has failed in this thread since it last finished a document.
 */
static _Thread_local bool memory_ran_out;

static void *allocate_and_note_failure(size_t size)
{
    void *block = malloc(size);
    memory_ran_out = memory_ran_out || !block;
    return block;
}

void api_document_watch_memory(void)
{
    json_set_alloc_funcs(allocate_and_note_failure, free);
}

size_t api_document_mark(const char *text, size_t size)
{
    static const char MARK[] = "\xef\xbb\xbf";
    const size_t length = sizeof MARK - 1;
    return size >= length && memcmp(text, MARK, length) == 0 ? length : 0;
}

bool api_document_lacked_memory(const json_error_t *problem)
{
    enum json_error_code code = json_error_code(problem);
    return code == json_error_out_of_memory || code == json_error_unknown;
}

char *api_document_text(json_t *document, size_t flags)
{
    char *text = document ? json_dumps(document, flags | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(document);
    if (memory_ran_out) {
        free(text);
        text = NULL;
    }
    memory_ran_out = false;
    return text;
}

void api_document_drop(json_t *document)
{
    json_decref(document);
    memory_ran_out = false;
}

void api_document_begin(void)
{
    memory_ran_out = false;
}

bool api_document_failed(void)
{
    return memory_ran_out;
}

void api_document_spoil(void)
{
    memory_ran_out = true;
}

json_t *api_document_number(double number)
{
    bool integral = number == floor(number) && fabs(number) <= 0x1p53;
    return integral ? json_integer((json_int_t)number) : json_real(number);
}

json_t *api_document_shape(const uint64_t *shape, size_t rank)
{
    json_t *array = json_array();
    for (size_t i = 0; i < rank; i++)
        json_array_append_new(array, json_integer((json_int_t)shape[i]));
    return array;
}
