/* Preparations: progress as text. */
#include "work/preparations.h"

#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Check that the text ends in these series and has no others. */
static void expect(preparation_set *set, const char *series)
{
    api_text out = {0};
    preparations_write(set, &out);
    char *text = api_text_take(&out);
    char *end_of_head = strstr(text, " gauge\n");
    ck_assert_ptr_nonnull(end_of_head);
    ck_assert_str_eq(end_of_head + strlen(" gauge\n"), series);
    free(text);
}

static const char FLOATER[] = "floater"; /* a name has one address */

#define PROGRESS(scheme, done)                                                                 \
    "posenc_preparation_progress_ratio{scheme=\"" scheme "\"} " done "\n"

typedef struct other {
    preparation_set *set;
    pthread_barrier_t *barrier;
} other;

/* A preparation that is a quarter done between the first two barriers and has ended after the
 * third. */
static void *prepare_other(void *context)
{
    const other *own = context;
    preparations_note(own->set, FLOATER, 0);
    preparations_note(own->set, FLOATER, 0.25);
    pthread_barrier_wait(own->barrier);
    pthread_barrier_wait(own->barrier);
    preparations_note(own->set, FLOATER, 1);
    pthread_barrier_wait(own->barrier);
    return NULL;
}

START_TEST(progress_is_that_of_the_slowest)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    preparation_set *set = preparations_new();
    other context = {set, &barrier};
    pthread_barrier_init(&barrier, NULL, 2);
    preparations_note(set, FLOATER, 0);
    expect(set, PROGRESS("floater", "0.000000"));
    preparations_note(set, FLOATER, 0.75);
    expect(set, PROGRESS("floater", "0.750000"));
    ck_assert_int_eq(pthread_create(&thread, NULL, prepare_other, &context), 0);
    pthread_barrier_wait(&barrier);
    expect(set, PROGRESS("floater", "0.250000"));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    expect(set, PROGRESS("floater", "0.750000"));
    pthread_join(thread, NULL);
    preparations_note(set, FLOATER, 1);
    expect(set, PROGRESS("floater", "1.000000"));
    pthread_barrier_destroy(&barrier);
    preparations_free(set);
    preparations_free(NULL);
}
END_TEST

static void prepare(preparation_set *set, const pe_scheme *scheme)
{
    preparations_note(set, pe_scheme_describe(scheme)->name, 0);
    preparations_note(set, pe_scheme_describe(scheme)->name, 1);
}

START_TEST(a_scheme_appears_with_its_first_preparation)
{
    preparation_set *set = preparations_new();
    expect(set, "");
    prepare(set, pe_scheme_find("learned"));
    expect(set, PROGRESS("learned", "1.000000"));
    prepare(set, pe_similarity_find("floater"));
    prepare(set, pe_scheme_find("learned"));
    expect(set, PROGRESS("learned", "1.000000") PROGRESS("floater_similarity", "1.000000"));
    preparations_free(set);
}
END_TEST

START_TEST(there_is_room_for_every_scheme_and_similarity)
{
    preparation_set *set = preparations_new();
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        prepare(set, pe_scheme_at(i));
        prepare(set, pe_similarity_find(pe_scheme_describe(pe_scheme_at(i))->name));
    }
    api_text out = {0};
    preparations_write(set, &out);
    char *text = api_text_take(&out);
    size_t series = 0;
    for (const char *at = text; (at = strstr(at, "{scheme=")) != NULL; at++)
        series++;
    ck_assert_uint_eq(series, 2 * pe_scheme_count());
    free(text);
    preparations_free(set);
}
END_TEST

Suite *preparations_suite(void)
{
    const TTest *const tests[] = {progress_is_that_of_the_slowest,
                                  a_scheme_appears_with_its_first_preparation,
                                  there_is_room_for_every_scheme_and_similarity, NULL};
    return unit_suite("preparations", tests);
}
