/* Positions that begin again with each sequence, where these lie one after the other: from
 * cu_seqlens, where each begins and the last one ends, and the first positions of each. */
#include "files/applied_parts.h"

#include "bytes/memory_budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct api_sequences {
    uint64_t count, at; /* sequences; that of the token which was read last */
    double numbers[];   /* [count + 1]: the bounds, [count + 1]: the first positions */
};

/* A pe_view's `read`, of tokens in their order. */
static bool read_positions(void *context, uint64_t offset, void *dst, size_t size)
{
    api_sequences *self = context;
    const double *bounds = self->numbers, *first = bounds + self->count + 1;
    uint64_t token = offset / sizeof(int64_t);
    if ((double)token < bounds[self->at])
        self->at = 0;
    for (size_t done = 0; done < size; done += sizeof(int64_t), token++) {
        while ((double)token >= bounds[self->at + 1])
            self->at++;
        int64_t position = (int64_t)((double)token - bounds[self->at] + first[self->at]);
        memcpy((char *)dst + done, &position, sizeof position);
    }
    return true;
}

static bool read_integers(const pe_view *view, uint64_t count, double *dst)
{
    pe_dtype dtype;
    return !pe_element_is_real(view->element, &dtype) && view->rank == 1 &&
           view->shape[0] == count && pe_view_read(view, 0, count, dst);
}

/* Whether sequences begin at token 0 and end one after the other, as a file has room for. */
static bool are_good(const api_sequences *self, uint64_t most)
{
    const double *bounds = self->numbers, *first = bounds + self->count + 1;
    double tokens = bounds[self->count];
    bool good = bounds[0] == 0 && tokens > 0 && tokens <= (double)most;
    for (uint64_t i = 0; good && i < self->count; i++)
        good = bounds[i] <= bounds[i + 1] && fabs(first[i]) <= 0x1p53;
    return good;
}

bool api_sequences_read(api_applied *applied, const pe_view *bounds, const pe_view *first,
                        pe_error *reterr)
{
    const uint64_t ends = bounds->rank == 1 ? bounds->shape[0] : 0;
    const uint64_t bytes = sizeof(api_sequences) + 2 * ends * sizeof(double);
    if (!api_reserve_lasting(bytes, "sequences", reterr))
        return false;
    api_sequences *self = applied->sequences = calloc(1, (size_t)bytes);
    if (!self) {
        pe_error_add(reterr, PE_NO_MEMORY, API_APPLY_BOUNDS, "", "memory for sequences");
        return false;
    }
    self->count = ends > 1 ? ends - 1 : 0;
    if (ends < 2 || !read_integers(bounds, ends, self->numbers) ||
        (first && !read_integers(first, ends - 1, self->numbers + ends)) ||
        !are_good(self, applied->file.size)) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, API_APPLY_BOUNDS, "",
                     "integers [sequences + 1] from 0 to the number of tokens, none less than "
                     "the one before, and " API_APPLY_OFFSETS " integers [sequences]");
        return false;
    }
    applied->positions = (pe_view){.read = read_positions,
                                   .context = self,
                                   .element = PE_ELEMENT_I64,
                                   .rank = 1,
                                   .shape = {(uint64_t)self->numbers[self->count]},
                                   .strides = {1}};
    return true;
}
