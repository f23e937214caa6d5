/* Preparations: progress as text. */
#include "work/preparations.h"

#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
    preparations_note(own->set, "floater", 0);
    preparations_note(own->set, "floater", 0.25);
    pthread_barrier_wait(own->barrier);
    pthread_barrier_wait(own->barrier);
    preparations_note(own->set, "floater", 1);
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
    expect(set, "posenc_preparation_progress_ratio{scheme=\"floater\"} 1.000000\n");
    preparations_note(set, "floater", 0);
    expect(set, "{scheme=\"floater\"} 0.000000\n");
    preparations_note(set, "floater", 0.75);
    expect(set, "{scheme=\"floater\"} 0.750000\n");
    expect(set, "{scheme=\"learned\"} 1.000000\n");
    ck_assert_int_eq(pthread_create(&thread, NULL, prepare_other, &context), 0);
    pthread_barrier_wait(&barrier);
    expect(set, "{scheme=\"floater\"} 0.250000\n");
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    expect(set, "{scheme=\"floater\"} 0.750000\n");
    pthread_join(thread, NULL);
    preparations_note(set, "floater", 1);
    expect(set, "{scheme=\"floater\"} 1.000000\n");
    pthread_barrier_destroy(&barrier);
    preparations_free(set);
    preparations_free(NULL);
}
END_TEST

Suite *preparations_suite(void)
{
    const TTest *const tests[] = {progress_is_that_of_the_slowest, NULL};
    return unit_suite("preparations", tests);
}
