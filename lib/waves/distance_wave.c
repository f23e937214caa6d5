/* Sinusoids of clipped distances. */
#include "waves/distance_wave.h"

#include "waves/fill.h"

bool pe_distance_wave_init(pe_distance_wave *ret_wave, pe_dtype dtype, size_t dim, double base,
                           pe_wave_layout layout, int64_t low, int64_t high, int sign,
                           pe_pace *pace)
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
                 .dtype = dtype},
        .low = low,
        .high = high,
    };
    ret_wave->wave.frequencies = pe_wave_geometric(pace, dim / 2, base, 2, dim);
    return ret_wave->wave.frequencies != NULL;
}

/* A pe_write_rows whose source is a pe_wave. */
static void write_rows(const void *source, uint64_t row, uint64_t count, void *dst)
{
    pe_wave_fill(source, row, count, dst);
}

void pe_distance_wave_write(const void *source, size_t head, int64_t first, uint64_t count,
                            void *dst)
{
    (void)head;
    const pe_distance_wave *distances = source;
    pe_write_clipped(write_rows, &distances->wave, distances->low, distances->high,
                     pe_wave_row_bytes(&distances->wave), first, count, dst);
}
