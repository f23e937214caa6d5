/* Filling a tensor of one column, some rows at a time, in a buffer that stays in the L1 cache.
 */
#include "positions/column.h"

#include "kernels/store.h"

/* Write the elements of rows [row, row + count), count <= PE_LINE_MAX. */
static void write_elements(const pe_column *column, uint64_t row, size_t count, void *dst)
{
    alignas(64) double numbers[PE_LINE_MAX];
    if (column->elements) {
        column->elements(column, row, count, dst);
        return;
    }
    column->numbers(column, row, count, numbers);
    pe_kernel_get()->lines->round(column->dtype, numbers, count, dst);
}

static void fill_blocks(const pe_column *column, uint64_t first, uint64_t rows,
                        const pe_kernel *nontemporal, unsigned char *dst)
{
    const size_t size = pe_dtype_size(column->dtype);
    alignas(64) unsigned char stage[PE_LINE_MAX * sizeof(double)];
    size_t count;
    for (uint64_t done = 0; done < rows; done += count) {
        unsigned char *place = dst + done * size;
        count = rows - done < PE_LINE_MAX ? (size_t)(rows - done) : PE_LINE_MAX;
        write_elements(column, first + done, count, nontemporal ? stage : place);
        if (nontemporal)
            nontemporal->stream(place, stage, count * size);
    }
}

/* ---- runs of equal elements ----
 *
 * In 16 bits many neighbours are equal. Where a run is long, a leap goes to some rows around
 * its expected end: if the first of these is still equal to the last element before the leap,
 * so are all rows between, since entries never fall, or never rise. Runs are about as long as
 * those before them; where they are not, the end is searched. */

#define LONG_RUN 128 /* from here on leaps cost less than elements */
#define LINE     32  /* elements of a cache line: leaps are whole lines */
#define LANDING  64  /* rows after a leap; the end of the run is expected in the first half */

typedef struct run_state {
    uint64_t leap;    /* rows that may be equal to the last element */
    uint64_t next;    /* the next leap, if these rows and those after them are */
    uint64_t bound;   /* the run ends within so many rows; UINT64_MAX: not known */
    uint64_t equal;   /* rows up to the last one that are equal to it, as far as is known */
    uint16_t element; /* of the last row */
} run_state;

static uint64_t find_minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How many of the last elements are equal. */
static size_t count_equal(const uint16_t *elements, size_t count)
{
    size_t known = 1, limit = count; /* they are at least `known`, at most `limit` */
    while (known < limit) {
        size_t middle = (known + limit + 1) / 2;
        if (elements[count - middle] == elements[count - 1])
            known = middle;
        else
            limit = middle - 1;
    }
    return known;
}

static bool is_leaping(const run_state *run)
{
    return run->leap > 0 || run->bound < UINT64_MAX;
}

/* Leap no further than the middle of the rows in which the run must end. */
static void set_leap(run_state *run, uint64_t leap)
{
    run->leap = find_minimum(leap, run->bound / 2) / LINE * LINE;
}

/* Note the elements that were written after a leap. */
static void note_elements(run_state *run, const uint16_t *elements, size_t count)
{
    const size_t equal = count_equal(elements, count);
    const uint64_t reached = run->equal + run->leap + count;
    if (equal == count && elements[0] == run->element) { /* the run goes on */
        run->equal = reached;
        if (run->bound < UINT64_MAX)
            run->bound -= find_minimum(run->bound, run->leap + count);
        set_leap(run, run->next);
        run->next *= 2;
    } else {
        const uint64_t length = reached - equal, ahead = equal + LANDING / 4;
        const uint64_t expected = length > ahead ? length - ahead : 0;
        const bool is_one = is_leaping(run);
        run->equal = equal;
        run->element = elements[count - 1];
        run->bound = UINT64_MAX;
        run->next = LANDING;
        set_leap(run, is_one ? expected : equal >= LONG_RUN ? equal : 0);
    }
}

/* Write an element `count` times. */
static void repeat_element(uint16_t element, uint64_t count, const pe_kernel *nontemporal,
                           unsigned char *dst)
{
    alignas(64) uint16_t copies[PE_LINE_MAX];
    size_t part;
    for (size_t i = 0; i < PE_LINE_MAX; i++)
        copies[i] = element;
    for (; count > 0; count -= part, dst += part * sizeof element) {
        part = (size_t)find_minimum(count, PE_LINE_MAX);
        pe_store(nontemporal, dst, copies, part * sizeof element);
    }
}

static void fill_runs(const pe_column *column, uint64_t first, uint64_t rows,
                      const pe_kernel *nontemporal, unsigned char *dst)
{
    alignas(64) uint16_t elements[PE_LINE_MAX];
    run_state run = {.next = LANDING, .bound = UINT64_MAX};
    size_t count;
    for (uint64_t done = 0; done < rows;) {
        if (run.leap >= rows - done)
            run.leap = (rows - done - 1) / LINE * LINE;
        const uint64_t most = is_leaping(&run) ? LANDING : PE_LINE_MAX;
        count = (size_t)find_minimum(rows - done - run.leap, most);
        write_elements(column, first + done + run.leap, count, elements);
        if (run.leap > 0 && elements[0] != run.element) { /* too far */
            run.bound = run.leap;
            set_leap(&run, run.leap);
            continue;
        }
        if (run.leap > 0)
            repeat_element(run.element, run.leap, nontemporal, dst + done * sizeof *elements);
        done += run.leap;
        pe_store(nontemporal, dst + done * sizeof *elements, elements,
                 count * sizeof *elements);
        done += count;
        note_elements(&run, elements, count);
    }
}

void pe_column_fill(const pe_column *column, uint64_t first, uint64_t rows, void *dst)
{
    const size_t size = pe_dtype_size(column->dtype);
    const pe_kernel *nontemporal = pe_streaming_kernel(rows * size);
    if (column->monotone && size == sizeof(uint16_t))
        fill_runs(column, first, rows, nontemporal, dst);
    else
        fill_blocks(column, first, rows, nontemporal, dst);
    pe_store_end(nontemporal);
}
