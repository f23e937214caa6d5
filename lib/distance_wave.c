#include "distance_wave.h"

#include <stdlib.h>
#include <string.h>

bool pe_distance_wave_init(pe_distance_wave *ret_wave, const pe_values *values, size_t dim,
                           pe_wave_layout layout, int64_t low, int64_t high, int sign)
{
    *ret_wave = (pe_distance_wave){
        .wave = {.positions = {.count = (uint64_t)(high - low) + 1,
                               .offset = (double)(sign * low),
                               .step = sign},
                 .count = dim / 2,
                 .layout = layout,
                 .columns = dim,
                 .row_columns = dim,
                 .amplitude = 1,
                 .dtype = pe_requested_dtype(values)},
        .low = low,
        .high = high,
    };
    ret_wave->wave.frequencies = pe_wave_geometric(dim / 2, pe_real(values, "base"), 2, dim);
    return ret_wave->wave.frequencies != NULL;
}

void pe_distance_wave_done(pe_distance_wave *wave)
{
    free(wave->wave.frequencies);
    wave->wave.frequencies = NULL;
}

void pe_distance_wave_write(const void *of, size_t head, int64_t first, uint64_t count,
                            void *dst)
{
    (void)head;
    const pe_distance_wave *self = of;
    size_t bytes = self->wave.row_columns * pe_dtype_size(self->wave.dtype);
    unsigned char *to = dst;
    while (count > 0) {
        bool below = first<self->low, above = first> self->high;
        uint64_t row = below ? 0 : (uint64_t)((above ? self->high : first) - self->low);
        uint64_t run = count; /* distances of one vector each, or all of one */
        if (below && (uint64_t)(self->low - first) < run)
            run = (uint64_t)(self->low - first);
        else if (!below && !above && (uint64_t)(self->high - first) + 1 < run)
            run = (uint64_t)(self->high - first) + 1;
        pe_wave_fill(&self->wave, row, below || above ? 1 : run, to);
        for (uint64_t t = 1; (below || above) && t < run; t++)
            memcpy(to + t * bytes, to, bytes);
        to += run * bytes;
        first += (int64_t)run;
        count -= run;
    }
}
