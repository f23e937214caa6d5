/* Relative schemes: their parameters and plans, and filling matrices from distances. */
#include "relative/relative.h"

#include "kernels/copier.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The vectors at all distances are kept if they take at most this many bytes. Otherwise each
 * row is computed by itself, so that the memory of a stream is bounded. */
#define TABLE_BYTES_MAX ((uint64_t)16 << 20)

#define COPY_PRICE     1.5 /* of an element */
#define DISTANCE_PRICE 2

const char *const pe_forms[] = {"expanded", "compact", NULL};

pe_relative pe_relative_read(const pe_values *values, pe_error *reterr)
{
    pe_relative relative = {
        .queries = (uint64_t)pe_get_integer(values, "query_length"),
        .keys = (uint64_t)pe_get_integer(values, "length"),
        .offset = pe_get_integer(values, "query_offset"),
        .compact = pe_get_choice(values, "form") == 1,
    };
    int64_t first = pe_relative_first(&relative);
    int64_t last = first + (int64_t)pe_relative_distances(&relative) - 1;
    if (first < INT32_MIN || last > INT32_MAX)
        pe_refuse_value(values, "query_offset", reterr,
                        "such that all distances, key minus query, are from -2^31 to 2^31-1");
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
    pe_error_add(reterr, PE_OUT_OF_RANGE, "query_offset", given,
                 "such that all queries are at positions from 0 to %llu%s",
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

uint64_t pe_relative_farthest(const pe_relative *relative, bool causal)
{
    int64_t first = pe_relative_first(relative);
    int64_t last = first + (int64_t)pe_relative_distances(relative) - 1;
    uint64_t behind = first < 0 ? (uint64_t)-first : 0;
    uint64_t ahead = last > 0 && !causal ? (uint64_t)last : 0;
    return behind > ahead ? behind : ahead;
}

uint64_t pe_count_distances(int64_t first, uint64_t count, int64_t limit)
{
    uint64_t below = first < limit ? (uint64_t)(limit - first) : 0;
    return below < count ? below : count;
}

/* ---- plans ---- */

/* Whether the vectors at all distances are kept. */
static bool is_kept(const pe_relative *relative, uint64_t vector_bytes, size_t heads)
{
    return !relative->compact && relative->queries > 1 &&
           pe_relative_distances(relative) <= TABLE_BYTES_MAX / vector_bytes / heads;
}

pe_toeplitz pe_relative_add(pe_plan *plan, const pe_relative *relative, const char *name,
                            pe_dtype dtype, uint64_t heads, uint64_t width,
                            double element_price)
{
    uint64_t shape[PE_RANK_MAX], elements = width ? width : 1, bytes;
    size_t rank = 0, count = heads ? (size_t)heads : 1;
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
    bytes = elements * pe_dtype_size(dtype);
    bool kept = is_kept(relative, bytes, count);
    pe_plan_price(plan, kept ? COPY_PRICE : element_price);
    if (kept) {
        uint64_t vectors = pe_relative_distances(relative) * count;
        plan->state += vectors * bytes;
        plan->price += (double)vectors * (double)elements * element_price;
    }
    return (pe_toeplitz){.relative = *relative,
                         .heads = count,
                         .vector_bytes = (size_t)bytes,
                         .vector_price = (double)elements * element_price,
                         .kept = kept};
}

void pe_relative_add_distance(pe_plan *plan, const pe_relative *relative)
{
    if (relative->compact)
        pe_relative_add(plan, relative, "distance", PE_I32, 0, 0, DISTANCE_PRICE);
}

/* ---- tensors ---- */

/* Write the vectors of a head at all distances, some at a time. False: the runner cancelled it.
 */
static bool write_head(const pe_toeplitz *toeplitz, size_t head, pe_pace *pace)
{
    size_t size = toeplitz->vector_bytes;
    int64_t first = pe_relative_first(&toeplitz->relative);
    uint64_t distances = pe_relative_distances(&toeplitz->relative), count;
    uint64_t most = pe_rows_of_price(toeplitz->vector_price, PE_QUESTION_PRICE);
    unsigned char *to = toeplitz->table + head * distances * size;
    for (uint64_t done = 0; done < distances; done += count) {
        count = distances - done < most ? distances - done : most;
        if (!pe_pace_may_continue(pace, (double)count * toeplitz->vector_price))
            return false;
        toeplitz->write(toeplitz->source, head, first + (int64_t)done, count, to + done * size);
    }
    return true;
}

bool pe_toeplitz_init(pe_toeplitz *toeplitz, pe_write_distances write, const void *source,
                      pe_pace *pace)
{
    uint64_t distances = pe_relative_distances(&toeplitz->relative);
    toeplitz->write = write;
    toeplitz->source = source;
    if (!toeplitz->kept)
        return true;
    toeplitz->table =
        pe_keep(pace, (size_t)distances * toeplitz->heads, toeplitz->vector_bytes);
    bool good = toeplitz->table != NULL;
    for (size_t head = 0; good && head < toeplitz->heads; head++)
        good = write_head(toeplitz, head, pace);
    return good;
}

/* The runs of a window, which has `left` more vectors from `column` of `line` of `head` on. */
typedef struct toeplitz_runs {
    uint64_t lines, columns; /* of a head */
    size_t head;
    uint64_t line, column, left;
    bool by_key;
} toeplitz_runs;

/* A run: vectors of a head at `count` consecutive distances. `index`: of the first one, 0 being
 * the least distance. */
typedef struct toeplitz_run {
    size_t head;
    uint64_t index, count;
} toeplitz_run;

static toeplitz_runs find_runs(const pe_relative *relative, pe_window window)
{
    bool compact = relative->compact;
    uint64_t columns = compact ? pe_relative_distances(relative) : relative->keys;
    uint64_t lines = compact ? 1 : relative->queries, line = window.first / columns;
    return (toeplitz_runs){.lines = lines,
                           .columns = columns,
                           .head = (size_t)(line / lines),
                           .line = line % lines,
                           .column = window.first % columns,
                           .left = window.rows,
                           .by_key = relative->by_key};
}

/* Go on to the next run. False: there is none. */
static bool next_run(toeplitz_runs *runs, toeplitz_run *ret_run)
{
    if (runs->left == 0)
        return false;
    uint64_t rest = runs->columns - runs->column;
    *ret_run = (toeplitz_run){
        .head = runs->head,
        .index = runs->column + (runs->by_key ? 0 : runs->lines - 1 - runs->line),
        .count = rest < runs->left ? rest : runs->left,
    };
    runs->left -= ret_run->count;
    runs->column = 0;
    if (++runs->line == runs->lines) {
        runs->line = 0;
        runs->head++;
    }
    return true;
}

/* Copy a window from the vectors that are kept. */
static void copy_window(const pe_toeplitz *toeplitz, pe_window window, void *dst)
{
    size_t size = toeplitz->vector_bytes;
    uint64_t distances = pe_relative_distances(&toeplitz->relative);
    toeplitz_runs runs = find_runs(&toeplitz->relative, window);
    toeplitz_run run;
    pe_copier copier;
    pe_copier_init(&copier, dst, window.rows * size);
    while (next_run(&runs, &run))
        pe_copier_add(&copier, toeplitz->table + (run.head * distances + run.index) * size,
                      run.count * size);
    pe_copier_done(&copier);
}

void pe_toeplitz_fill(const pe_toeplitz *toeplitz, pe_window window, void *dst)
{
    int64_t first = pe_relative_first(&toeplitz->relative);
    toeplitz_runs runs = find_runs(&toeplitz->relative, window);
    toeplitz_run run;
    unsigned char *at = dst;
    if (toeplitz->table) {
        copy_window(toeplitz, window, dst);
        return;
    }
    for (; next_run(&runs, &run); at += run.count * toeplitz->vector_bytes)
        toeplitz->write(toeplitz->source, run.head, first + (int64_t)run.index, run.count, at);
}

void pe_relative_fill_distance(const pe_relative *relative, pe_window window, void *dst)
{
    int32_t *to = dst;
    for (uint64_t t = 0; t < window.rows; t++)
        to[t] = (int32_t)(pe_relative_first(relative) + (int64_t)(window.first + t));
}

void pe_relative_fill(const void *state, pe_window window, void *dst)
{
    const pe_toeplitz *first = state;
    if (window.tensor == 0)
        pe_toeplitz_fill(first, window, dst);
    else
        pe_relative_fill_distance(&first->relative, window, dst);
}

/* Write one row of a table `count` times; returns the end. */
static unsigned char *write_repeated(pe_write_rows write, const void *source, uint64_t row,
                                     uint64_t count, size_t vector_bytes, unsigned char *dst)
{
    if (count > 0)
        write(source, row, 1, dst);
    for (uint64_t t = 1; t < count; t++)
        memcpy(dst + t * vector_bytes, dst, vector_bytes);
    return dst + count * vector_bytes;
}

void pe_write_clipped(pe_write_rows write, const void *source, int64_t low, int64_t high,
                      size_t vector_bytes, int64_t first, uint64_t count, void *dst)
{
    assert(low <= high);
    uint64_t below = pe_count_distances(first, count, low);
    uint64_t inside = pe_count_distances(first, count, high + 1) - below;
    uint64_t above = count - below - inside;
    unsigned char *at = write_repeated(write, source, 0, below, vector_bytes, dst);
    if (inside > 0)
        write(source, (uint64_t)(first + (int64_t)below - low), inside, at);
    at += inside * vector_bytes;
    write_repeated(write, source, (uint64_t)(high - low), above, vector_bytes, at);
}
