#include "relative.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Distances of all heads are kept up to this many bytes; beyond, rows are computed one by one,
 * so that a stream's memory is bounded. */
#define TABLE_BYTES_MAX ((uint64_t)16 << 20)

const char *const PE_FORMS[] = {"expanded", "compact", NULL};

pe_relative pe_relative_read(const pe_values *values, pe_error *reterr)
{
    pe_relative relative = {
        .queries = (uint64_t)pe_integer(values, "query_length"),
        .keys = (uint64_t)pe_integer(values, "length"),
        .offset = pe_integer(values, "query_offset"),
        .compact = pe_choice(values, "form") == 1,
    };
    int64_t first = pe_relative_first(&relative);
    int64_t last = first + (int64_t)pe_relative_distances(&relative) - 1;
    if (first < INT32_MIN || last > INT32_MAX) {
        char given[32];
        snprintf(given, sizeof given, "%lld", (long long)relative.offset);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "query_offset", given,
                     "such that all distances, key minus query, are within -2^31 … 2^31-1");
    }
    return relative;
}

void pe_relative_check_queries(const pe_relative *relative, const char *reason,
                               pe_error *reterr)
{
    char given[48];
    if (relative->offset >= 0 &&
        (uint64_t)relative->offset + relative->queries <= relative->keys)
        return;
    snprintf(given, sizeof given, "queries %lld to %lld", (long long)relative->offset,
             (long long)relative->offset + (long long)relative->queries - 1);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "query_offset", given, "queries from 0 to %llu%s",
                 (unsigned long long)(relative->keys - 1), reason);
}

uint64_t pe_relative_distances(const pe_relative *relative)
{
    return relative->by_key ? relative->keys : relative->queries + relative->keys - 1;
}

int64_t pe_relative_first(const pe_relative *relative)
{
    return relative->by_key ? 0 : -(relative->offset + (int64_t)relative->queries - 1);
}

/* ---- plans ---- */

void pe_relative_add(pe_plan *plan, const pe_relative *relative, const char *name,
                     pe_dtype dtype, uint64_t heads, uint64_t width)
{
    uint64_t shape[PE_RANK_MAX];
    size_t rank = 0;
    if (heads)
        shape[rank++] = heads;
    if (relative->compact) {
        shape[rank++] = pe_relative_distances(relative);
    } else {
        shape[rank++] = relative->queries;
        shape[rank++] = relative->keys;
    }
    size_t axes = rank;
    if (width)
        shape[rank++] = width;
    pe_plan_add(plan, name, dtype, rank, shape);
    pe_plan_rows(plan, axes);
}

void pe_relative_add_distance(pe_plan *plan, const pe_relative *relative)
{
    if (relative->compact)
        pe_relative_add(plan, relative, "distance", PE_I32, 0, 0);
}

/* ---- tensors ---- */

bool pe_toeplitz_init(pe_toeplitz *ret_toeplitz, const pe_relative *relative,
                      const pe_tensor *tensor, size_t heads, pe_write_distances write,
                      const void *of)
{
    uint64_t distances = pe_relative_distances(relative);
    size_t vector_bytes = (size_t)(tensor->bytes / tensor->rows);
    *ret_toeplitz = (pe_toeplitz){.relative = *relative,
                                  .heads = heads,
                                  .vector_bytes = vector_bytes,
                                  .write = write,
                                  .of = of};
    bool repeated = !relative->compact && relative->queries > 1;
    if (!repeated || distances > TABLE_BYTES_MAX / vector_bytes / heads)
        return true;
    ret_toeplitz->table = malloc((size_t)distances * vector_bytes * heads);
    if (!ret_toeplitz->table)
        return false;
    for (size_t head = 0; head < heads; head++)
        write(of, head, pe_relative_first(relative), distances,
              ret_toeplitz->table + head * (size_t)distances * vector_bytes);
    return true;
}

void pe_toeplitz_done(pe_toeplitz *toeplitz)
{
    free(toeplitz->table);
    toeplitz->table = NULL;
}

/* Write `count` vectors from distance number `number` on. */
static void write_run(const pe_toeplitz *toeplitz, size_t head, uint64_t number, uint64_t count,
                      unsigned char *dst)
{
    size_t size = toeplitz->vector_bytes;
    uint64_t distances = pe_relative_distances(&toeplitz->relative);
    if (toeplitz->table)
        memcpy(dst, toeplitz->table + (head * distances + number) * size, count * size);
    else
        toeplitz->write(toeplitz->of, head,
                        pe_relative_first(&toeplitz->relative) + (int64_t)number, count, dst);
}

void pe_toeplitz_fill(const pe_toeplitz *toeplitz, pe_window window, void *dst)
{
    const pe_relative *relative = &toeplitz->relative;
    bool compact = relative->compact;
    uint64_t columns = compact ? pe_relative_distances(relative) : relative->keys;
    uint64_t lines = compact ? 1 : relative->queries; /* runs of columns in a head */
    unsigned char *at = dst;
    for (uint64_t done = 0, count; done < window.rows; done += count) {
        uint64_t line = (window.first + done) / columns,
                 column = (window.first + done) % columns;
        uint64_t number = relative->by_key ? column : lines - 1 - line % lines + column;
        count = columns - column < window.rows - done ? columns - column : window.rows - done;
        write_run(toeplitz, (size_t)(line / lines), number, count, at);
        at += count * toeplitz->vector_bytes;
    }
}

void pe_relative_fill_distance(const pe_relative *relative, pe_window window, void *dst)
{
    int32_t *to = dst;
    for (uint64_t t = 0; t < window.rows; t++)
        to[t] = (int32_t)(pe_relative_first(relative) + (int64_t)(window.first + t));
}

void pe_write_clipped(pe_write_rows write, const void *of, int64_t low, int64_t high,
                      size_t vector_bytes, int64_t first, uint64_t count, void *dst)
{
    unsigned char *to = dst;
    while (count > 0) {
        bool below = first<low, above = first> high;
        uint64_t row = below ? 0 : (uint64_t)((above ? high : first) - low);
        uint64_t run = count; /* distances of a vector each, or all of the same */
        if (below && (uint64_t)(low - first) < run)
            run = (uint64_t)(low - first);
        else if (!below && !above && (uint64_t)(high - first) + 1 < run)
            run = (uint64_t)(high - first) + 1;
        write(of, row, below || above ? 1 : run, to);
        for (uint64_t t = 1; (below || above) && t < run; t++)
            memcpy(to + t * vector_bytes, to, vector_bytes);
        to += run * vector_bytes;
        first += (int64_t)run;
        count -= run;
    }
}
