/* Growing text. */
#include "text.h"

#include "posenc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

char *api_text_room(api_text *text, size_t more)
{
    if (text->failed)
        return NULL;
    if (text->capacity - text->size < more) {
        size_t capacity = text->capacity + text->capacity / 2 + more;
        char *data = realloc(text->data, capacity);
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
    char *at = api_text_room(text, (size_t)length + 1);
    if (at) {
        vsnprintf(at, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
}

void api_text_add_number(api_text *text, double number)
{
    char *at = api_text_room(text, PE_PRINT_MAX);
    if (at)
        text->size += pe_print_number(at, number);
}

void api_text_done(api_text *text)
{
    free(text->data);
    *text = (api_text){0};
}
