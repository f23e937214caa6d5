/* Composing rows, some bytes of several rows at a time. */
#include "waves/composed.h"

#include "kernels/store.h"

#define PIECE 2048 /* bytes of a row that are composed at a time, in the L1 cache */

void pe_composer_init(pe_composer *ret_composer, size_t row_bytes, uint64_t rows, void *dst)
{
    ret_composer->row_bytes = row_bytes; /* the stage is left alone */
    ret_composer->kernel = pe_kernel_get();
    ret_composer->nontemporal = pe_streaming_kernel(rows * row_bytes) != NULL;
    ret_composer->dst = dst;
    ret_composer->used = 0;
}

static void flush_stage(pe_composer *composer)
{
    composer->kernel->stream(composer->dst, composer->stage, composer->used);
    composer->dst += composer->used;
    composer->used = 0;
}

/* Bytes of rows: the same ones of all outer tables together, and those of the last table. */
typedef struct piece {
    const unsigned char *outer, *inner;
    size_t outer_stride, inner_stride, bytes;
} piece;

/* Take bytes [from, from + bytes) of the rows. The outer tables are combined in `combined`. */
static piece take_piece(const pe_composer *composer, const unsigned char *const *rows,
                        size_t tables, size_t from, size_t bytes, unsigned char combined[PIECE])
{
    const size_t last = tables - 1, stride = pe_composed_stride(composer->row_bytes);
    piece taken = {rows[0] + from, rows[last] + from, last == 0 ? stride : 0, stride, bytes};
    for (size_t t = 1; t < last; t++) {
        composer->kernel->overlay(taken.outer, 0, rows[t] + from, 0, 1, bytes, combined, 0);
        taken.outer = combined;
    }
    return taken;
}

/* Write a piece of `count` rows. */
static void write_piece(const pe_composer *composer, const piece *taken, uint64_t count,
                        unsigned char *dst, size_t stride)
{
    composer->kernel->overlay(taken->outer, taken->outer_stride, taken->inner,
                              taken->inner_stride, (size_t)count, taken->bytes, dst, stride);
}

/* The same through the stage, one behind the other. */
static void stage_piece(pe_composer *composer, piece taken, uint64_t count)
{
    for (uint64_t some; count > 0; count -= some) {
        if (composer->used + taken.bytes > PE_COMPOSED_STAGE)
            flush_stage(composer);
        some = (PE_COMPOSED_STAGE - composer->used) / taken.bytes;
        some = some < count ? some : count;
        write_piece(composer, &taken, some, composer->stage + composer->used, taken.bytes);
        composer->used += some * taken.bytes;
        taken.outer += some * taken.outer_stride;
        taken.inner += some * taken.inner_stride;
    }
}

void pe_composer_add(pe_composer *composer, const unsigned char *const *rows, size_t tables,
                     uint64_t count)
{
    const size_t row_bytes = composer->row_bytes;
    const bool together = !composer->nontemporal || row_bytes <= PIECE;
    const uint64_t some = together ? count : 1;
    unsigned char combined[PIECE];
    for (uint64_t r = 0; r < count; r += some)
        for (size_t from = 0, bytes; from < row_bytes; from += bytes) {
            bytes = row_bytes - from < PIECE ? row_bytes - from : PIECE;
            piece taken = take_piece(composer, rows, tables, from, bytes, combined);
            taken.outer += r * taken.outer_stride;
            taken.inner += r * taken.inner_stride;
            if (composer->nontemporal)
                stage_piece(composer, taken, some);
            else
                write_piece(composer, &taken, some, composer->dst + from, row_bytes);
        }
    if (!composer->nontemporal)
        composer->dst += count * row_bytes;
}

void pe_composer_done(pe_composer *composer)
{
    if (!composer->nontemporal)
        return;
    flush_stage(composer);
    composer->kernel->fence();
}
