/* Text that grows. */
#include "bytes/text.h"

#include "posenc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Move the data of a text to memory of at least `capacity` bytes, which is updated to what was
 * allocated. Without memory returns NULL and leaves the text as it is. */
static char *grow_buffer(const api_text *text, size_t *capacity)
{
    if (!text->block)
        return realloc(text->data, *capacity);
    char *data = pe_buffer_allocate(text->pool, *capacity, capacity);
    if (data) {
        memcpy(data, text->data, text->size);
        pe_buffer_release(text->pool, text->data, text->capacity);
    }
    return data;
}

void api_text_begin(api_text *text, pe_pool *pool, size_t expected)
{
    *text = (api_text){.block = expected >= PE_BUFFER_RECYCLED, .pool = pool};
    text->capacity = expected;
    text->data =
        text->block ? pe_buffer_allocate(pool, expected, &text->capacity) : malloc(expected);
    text->failed = !text->data;
}

char *api_text_room(api_text *text, size_t more)
{
    if (text->failed)
        return NULL;
    if (text->capacity - text->size < more) {
        size_t capacity = text->capacity + text->capacity / 2 + more;
        char *data = grow_buffer(text, &capacity);
        if (!data) {
            text->failed = true;
            return NULL;
        }
        text->data = data;
        text->capacity = capacity;
    }
    return text->data + text->size;
}

void api_text_add(api_text *text, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    assert(length >= 0);
    char *end = api_text_room(text, (size_t)length + 1);
    if (end) {
        vsnprintf(end, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
}

void api_text_put(api_text *text, const char *string, size_t length)
{
    char *end = api_text_room(text, length);
    if (end) {
        memcpy(end, string, length);
        text->size += length;
    }
}

void api_text_add_number(api_text *text, double number)
{
    char *end = api_text_room(text, PE_PRINT_MAX);
    if (end)
        text->size += pe_print_number(end, number);
}

char *api_text_take(api_text *text)
{
    assert(!text->block);
    char *end = api_text_room(text, 1), *data = text->data;
    if (!end) {
        api_text_done(text);
        return NULL;
    }
    *end = '\0';
    *text = (api_text){0};
    return data;
}

void api_text_done(api_text *text)
{
    if (text->block)
        pe_buffer_release(text->pool, text->data, text->capacity);
    else
        free(text->data);
    *text = (api_text){0};
}
