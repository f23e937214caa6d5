/* The two pairings of rotary columns. */
#include "posenc.h"

/* Where one half of a pair stands among `width` columns. */
static uint64_t find_column(pe_pairing pairing, uint64_t width, uint64_t pair, uint64_t second)
{
    return pairing == PE_PAIRING_HALF ? pair + second * (width / 2) : 2 * pair + second;
}

uint64_t pe_pairing_source(pe_pairing from, pe_pairing to, uint64_t width, uint64_t column)
{
    uint64_t half = width / 2;
    uint64_t pair = to == PE_PAIRING_HALF ? column % half : column / 2;
    uint64_t second = to == PE_PAIRING_HALF ? column / half : column % 2;
    return find_column(from, width, pair, second);
}
