#include "recognise/proposal.h"

#include "numerics/decimal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pe_propose_request(pe_proposals *proposals, const char *tensor, const char *query, ...)
{
    if (proposals->count == PE_PROPOSALS_MAX)
        return;
    pe_proposal *proposal = &proposals->items[proposals->count];
    va_list arguments;
    va_start(arguments, query);
    int length = vsnprintf(proposal->query, sizeof proposal->query, query, arguments);
    va_end(arguments);
    snprintf(proposal->tensor, sizeof proposal->tensor, "%s", tensor);
    proposal->first_distance = proposals->first_distance;
    proposal->angle = proposals->angle;
    proposal->amplitude = proposals->amplitude;
    proposal->roundings = proposals->roundings;
    proposal->discrete = proposals->discrete;
    proposal->low_precision = proposals->low_precision;
    proposals->count += length > 0 && (size_t)length < sizeof proposal->query;
}

void pe_propose_number(char *dst, size_t size, const char *name, double number, double relative,
                       const char *default_text)
{
    char text[PE_PRINT_MAX];
    pe_print_number(text, pe_find_decimal(number, relative));
    bool is_default = strcmp(text, default_text) == 0;
    dst[0] = '\0';
    if (!is_default)
        snprintf(dst, size, "&%s=%s", name, text);
}

void pe_propose_positions(char *dst, size_t size, double offset, double step, double error)
{
    pe_propose_number(dst, size, "offset", offset, 0, "0");
    const size_t used = strlen(dst);
    pe_propose_number(dst + used, size - used, "step", step, error, "1");
}

int pe_count_digits(double number)
{
    uint64_t bits, digits;
    int count = 0;
    if (!isfinite(number))
        return 0;
    pe_print_prepare();
    number = fabs(number);
    memcpy(&bits, &number, sizeof bits);
    digits = pe_find_shortest_decimal(bits, (pe_binary_format){52, 11}).digits;
    while (digits > 0 && digits % 10 == 0)
        digits /= 10;
    for (; digits > 0; digits /= 10)
        count++;
    return count;
}
