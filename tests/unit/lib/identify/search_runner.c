/* A search asks its runner wherever it works, and ends as soon as that says no. */
#include "identify/search_runner.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A table that is looked at. */
typedef struct sought {
    const char *name;
    pe_element element;
    size_t rank;
    uint64_t shape[3];
    const char *scheme, *query; /* NULL: random numbers */
    double error;               /* relative, of every entry */
    bool transposed, moved;     /* the columns come in another order */
} sought;

static const sought TABLES[] = {
    {"long noise", PE_ELEMENT_F32, 2, {60000, 2}, NULL, NULL, 0, false, false},
    {"wide noise", PE_ELEMENT_F32, 2, {2, 60000}, NULL, NULL, 0, false, false},
    {"square noise", PE_ELEMENT_F32, 2, {400, 400}, NULL, NULL, 0, false, false},
    {"a noise of planes", PE_ELEMENT_F32, 3, {8, 100, 100}, NULL, NULL, 0, false, false},
    {"a line of noise", PE_ELEMENT_F32, 1, {200000}, NULL, NULL, 0, false, false},
    {"waves",
     PE_ELEMENT_F32,
     2,
     {3000, 64},
     "sinusoidal",
     "length=3000&dim=64",
     0,
     false,
     false},
    {"waves, transposed",
     PE_ELEMENT_F32,
     2,
     {3000, 64},
     "sinusoidal",
     "length=3000&dim=64",
     0,
     true,
     false},
    {"waves, moved",
     PE_ELEMENT_F32,
     2,
     {3000, 64},
     "sinusoidal",
     "length=3000&dim=64",
     0,
     false,
     true},
    {"waves of float32",
     PE_ELEMENT_F32,
     2,
     {3000, 64},
     "sinusoidal",
     "length=3000&dim=64",
     0x1p-23,
     false,
     false},
    {"waves with errors",
     PE_ELEMENT_F32,
     2,
     {3000, 64},
     "sinusoidal",
     "length=3000&dim=64",
     0x1p-12,
     false,
     false},
    {"a rotary table",
     PE_ELEMENT_F32,
     2,
     {3000, 64},
     "rope",
     "length=3000&dim=128",
     0x1p-24,
     false,
     false},
    {"many columns",
     PE_ELEMENT_F32,
     2,
     {64, 4096},
     "sinusoidal",
     "length=64&dim=4096",
     0x1p-20,
     false,
     true},
    {"a bias",
     PE_ELEMENT_F32,
     3,
     {8, 150, 150},
     "alibi",
     "length=150&heads=8",
     0x1p-22,
     false,
     false},
    {"random vectors",
     PE_ELEMENT_F32,
     2,
     {3000, 64},
     "learned",
     "length=3000&dim=64",
     0x1p-20,
     false,
     false},
};

typedef struct held {
    float *data;
    pe_view view;
} held;

static bool read_held(void *context, uint64_t offset, void *dst, size_t size)
{
    const held *self = context;
    memcpy(dst, (const char *)self->data + offset, size);
    return true;
}

static held hold(const sought *table)
{
    held own = {.view = {.element = table->element, .rank = table->rank}};
    uint64_t random = 7;
    memcpy(own.view.shape, table->shape, sizeof table->shape);
    const size_t count = (size_t)pe_view_elements(&own.view);
    const uint64_t columns = table->shape[1];
    own.data = malloc(count * sizeof *own.data);
    pe_view_set_row_major(&own.view);
    pe_table *exact = table->scheme ? unit_table(table->scheme, table->query) : NULL;
    const float *from = exact ? pe_table_data(exact, 0) : NULL;
    for (size_t i = 0; i < count; i++) {
        const double noise = (double)(int64_t)unit_random(&random) * 0x1p-63;
        const size_t place = table->moved ? i / columns * columns + (i * 7 + 3) % columns : i;
        own.data[i] = (float)(from ? (double)from[place] * (1 + table->error * noise) : noise);
    }
    pe_table_unref(exact);
    if (table->transposed)
        own.view = pe_view_transposed(&own.view, 0, 1);
    own.view.read = read_held;
    return own;
}

static uint64_t cpu_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* A runner that measures how long it is not asked, and says no to a question. */
typedef struct asking {
    uint64_t asked_at, longest; /* CPU time in nanoseconds */
    uint64_t questions, most;   /* from `most` on it says no */
    uint64_t before_alike;      /* questions */
} asking;

static bool go_on(void *context, const pe_scheme *scheme, double done)
{
    asking *own = context;
    const uint64_t now = cpu_now();
    (void)scheme;
    own->longest = now - own->asked_at > own->longest ? now - own->asked_at : own->longest;
    own->asked_at = now;
    own->questions += done < 1; /* else the answer is ignored */
    return own->questions < own->most;
}

/* Look for a table, and for other requests of it. */
static void search(held *own, asking *asked, pe_identity *ret_identity)
{
    static pe_equivalents alike;
    const pe_runner runner = {.context = asked, .go_on = go_on};
    pe_error error;
    own->view.context = own;
    asked->asked_at = cpu_now();
    ck_assert_int_eq(
        pe_identify_table(&own->view, NULL, NULL, &UNIT_LIMITS, &runner, ret_identity, &error),
        PE_OK);
    asked->before_alike = asked->questions;
    ck_assert_int_eq(
        pe_find_equivalents(ret_identity, PE_F32, 3, &UNIT_LIMITS, &runner, &alike, &error),
        PE_OK);
    go_on(asked, NULL, 0);
}

/* Of a search's CPU time, which is as slow as the machine and the sanitizers make it; a thread
 * that shares the core may stretch a part of it, so the best of some tries counts. */
#define LONGEST_SHARE 0.4
#define MOST_TRIES    5

/* The longest time between two questions while it looks for a table, as a share of all. */
static double measure_longest(const sought *table)
{
    held own = hold(table);
    asking asked = {.most = UINT64_MAX};
    pe_identity identity;
    const uint64_t began = cpu_now();
    search(&own, &asked, &identity);
    const uint64_t taken = cpu_now() - began;
    ck_assert(!identity.gave_up);
    free(own.data);
    return (double)asked.longest / (double)taken;
}

START_TEST(a_search_asks_wherever_it_works)
{
    for (size_t i = 0; i < UNIT_COUNT(TABLES); i++) {
        double longest = measure_longest(&TABLES[i]);
        for (int tries = 1; tries < MOST_TRIES && longest >= LONGEST_SHARE; tries++)
            longest = fmin(longest, measure_longest(&TABLES[i]));
        ck_assert_msg(longest < LONGEST_SHARE, "%s: not asked for %.2g of its time",
                      TABLES[i].name, longest);
    }
}
END_TEST

/* Four questions of each table: one that is drawn, and nine times as many each time. */
START_TEST(a_search_ends_at_any_question)
{
    uint64_t random = unit_seed();
    for (size_t i = 0; i < UNIT_COUNT(TABLES); i++) {
        held own = hold(&TABLES[i]);
        for (uint64_t most = 1 + unit_random(&random) % 8; most < 4000; most *= 9) {
            asking asked = {.most = most};
            pe_identity identity;
            search(&own, &asked, &identity);
            ck_assert_msg(identity.gave_up == (asked.before_alike >= most), "%s, question %llu",
                          TABLES[i].name, (unsigned long long)most);
            ck_assert_uint_le(asked.questions, most + 20);
        }
        free(own.data);
    }
}
END_TEST

Suite *search_runner_suite(void)
{
    const TTest *const tests[] = {a_search_asks_wherever_it_works,
                                  a_search_ends_at_any_question, NULL};
    return unit_suite("search_runner", tests);
}
