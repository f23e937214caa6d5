/* Preparations: deadlines, the end of the process, progress as text. */
#include "work/preparations.h"

#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ULL

START_TEST(a_preparation_may_take_its_seconds_and_no_more)
{
    preparation_set *set = preparations_new(3);
    for (uint64_t begun = 5; begun < 50 * SECOND; begun += 20 * SECOND) {
        ck_assert(preparations_go_on(set, "floater", 0, begun));
        ck_assert(preparations_go_on(set, "floater", 0.5, begun + 3 * SECOND - 1));
        ck_assert(!preparations_go_on(set, "floater", 0.6, begun + 3 * SECOND));
        preparations_go_on(set, "floater", 1, begun + 3 * SECOND);
    }
    preparations_free(set);
    preparations_free(NULL);
}
END_TEST

START_TEST(none_goes_on_past_the_end_of_all)
{
    preparation_set *set = preparations_new(60);
    ck_assert(preparations_go_on(set, "floater", 0, 10));
    preparations_end_at(set, 30);
    ck_assert(preparations_go_on(set, "floater", 0.1, 29));
    ck_assert(!preparations_go_on(set, "floater", 0.2, 30));
    preparations_go_on(set, "floater", 1, 31);
    ck_assert(!preparations_go_on(set, "floater", 0, 40));
    preparations_go_on(set, "floater", 1, 41);
    preparations_free(set);
}
END_TEST

/* Check that the text has the progress of a scheme with this value. */
static void expect(preparation_set *set, const char *series)
{
    api_text out = {0};
    preparations_write(set, &out);
    char *text = api_text_take(&out);
    ck_assert_msg(strstr(text, series) != NULL, "%s in %s", series, text);
    free(text);
}

typedef struct other {
    preparation_set *set;
    pthread_barrier_t *barrier;
} other;

/* A preparation that is a quarter done between the first two barriers and has ended after the
 * third. */
static void *prepare_other(void *context)
{
    const other *own = context;
    preparations_go_on(own->set, "floater", 0, 1);
    preparations_go_on(own->set, "floater", 0.25, 2);
    pthread_barrier_wait(own->barrier);
    pthread_barrier_wait(own->barrier);
    preparations_go_on(own->set, "floater", 1, 3);
    pthread_barrier_wait(own->barrier);
    return NULL;
}

START_TEST(progress_is_that_of_the_slowest)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    preparation_set *set = preparations_new(60);
    other context = {set, &barrier};
    pthread_barrier_init(&barrier, NULL, 2);
    expect(set, "posenc_preparation_progress_ratio{scheme=\"floater\"} 1.000000\n");
    preparations_go_on(set, "floater", 0, 1);
    expect(set, "{scheme=\"floater\"} 0.000000\n");
    preparations_go_on(set, "floater", 0.75, 1);
    expect(set, "{scheme=\"floater\"} 0.750000\n");
    expect(set, "{scheme=\"learned\"} 1.000000\n");
    ck_assert_int_eq(pthread_create(&thread, NULL, prepare_other, &context), 0);
    pthread_barrier_wait(&barrier);
    expect(set, "{scheme=\"floater\"} 0.250000\n");
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    expect(set, "{scheme=\"floater\"} 0.750000\n");
    pthread_join(thread, NULL);
    preparations_go_on(set, "floater", 1, 4);
    expect(set, "{scheme=\"floater\"} 1.000000\n");
    pthread_barrier_destroy(&barrier);
    preparations_free(set);
}
END_TEST

Suite *preparations_suite(void)
{
    const TTest *const tests[] = {a_preparation_may_take_its_seconds_and_no_more,
                                  none_goes_on_past_the_end_of_all,
                                  progress_is_that_of_the_slowest, NULL};
    return unit_suite("preparations", tests);
}
