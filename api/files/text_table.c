#include "files/text_table.h"

#include "bytes/memory_budget.h"
#include "files/table_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *api_text_load(const api_file *file, pe_error *reterr)
{
    const size_t size = (size_t)file->size;
    char *text = api_reserve(file->size + 1, "the body", reterr) ? malloc(size + 1) : NULL;
    if (text && file->read(file->context, 0, text, size)) {
        text[size] = '\0';
        return text;
    }
    if (text)
        api_table_refuse(reterr, PE_MALFORMED, "body", "", "a file that can be read");
    else if (reterr->count == 0)
        api_table_refuse(reterr, PE_NO_MEMORY, "", "", "memory for the body");
    free(text);
    return NULL;
}

bool api_numbers_begin(api_numbers *numbers, uint64_t room, uint64_t most, pe_error *reterr)
{
    char given[48];
    if (room > most) {
        snprintf(given, sizeof given, "%llu numbers", (unsigned long long)room);
        pe_error_add(reterr, PE_TOO_LARGE, "body", given,
                     "a text of at most %llu numbers, the limit json-max-elements; a longer "
                     "table is sent as an npy or a safetensors file",
                     (unsigned long long)most);
        return false;
    }
    const size_t bytes = (size_t)room * pe_dtype_size(numbers->dtype);
    if (!api_reserve(bytes, "the table", reterr))
        return false;
    numbers->room = room;
    numbers->elements = malloc(bytes > 0 ? bytes : 1);
    return numbers->elements ||
           api_table_refuse(reterr, PE_NO_MEMORY, "", "", "memory for the table");
}

bool api_numbers_add(api_numbers *numbers, double number)
{
    const size_t size = pe_dtype_size(numbers->dtype);
    char *element = numbers->elements + numbers->count * size;
    const bool is_integer = number == rint(number) && fabs(number) < 0x1p31;
    if (numbers->count == numbers->room || (numbers->dtype == PE_I32 && !is_integer))
        return false;
    numbers->count++;
    pe_write_row(element, numbers->dtype, &number, 1);
    return true;
}

bool api_numbers_read(api_numbers *numbers, const char *text, size_t length)
{
    double number;
    char *end;
    if (pe_parse_number(text, length, &number))
        return api_numbers_add(numbers, number);
    const bool is_signed = length > 0 && (*text == '-' || *text == '+');
    if (length == 0 || !strchr("iInN", text[is_signed]))
        return false;
    number = strtod(text, &end); /* which reads words alike in every locale */
    return !isfinite(number) && end == text + length && api_numbers_add(numbers, number);
}

bool api_numbers_view(api_numbers *numbers, const pe_view *shape, api_segment *ret_elements,
                      pe_view *ret_view, pe_error *reterr)
{
    *ret_elements = (api_segment){numbers->elements,
                                  (size_t)numbers->count * pe_dtype_size(numbers->dtype)};
    numbers->elements = NULL;
    const api_file file = api_segment_file(ret_elements);
    return api_raw_view(&file, pe_get_element(numbers->dtype), shape->rank, shape->shape,
                        ret_view, reterr);
}
