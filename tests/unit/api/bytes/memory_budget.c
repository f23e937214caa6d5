/* Reserving memory for calls, and handing it over to bodies. */
#include "bytes/memory_budget.h"
#include "bytes/body.h"

#include "unit.h"

#include <stdlib.h>

static api_memory *memory;

static void begin(void)
{
    memory = api_memory_new(1000);
    api_reserve_begin(memory);
}

/* The call must have ended, and nothing be left. */
static void end(void)
{
    ck_assert_uint_eq(api_memory_reserved(memory), 0);
    api_memory_free(memory);
}

static size_t read_nothing(void *state, uint64_t offset, char *dst, size_t room)
{
    (void)state, (void)offset, (void)dst, (void)room;
    return 0;
}

static api_body *new_body(void)
{
    return api_body_from_source(&(api_source){malloc(1), 0, read_nothing, free, false});
}

START_TEST(a_call_gives_back_what_it_reserved)
{
    pe_error error;
    begin();
    pe_error_init(&error);
    ck_assert(api_memory_reserve(memory, 200)); /* of another call */
    ck_assert(api_reserve(600, "a", &error) && api_reserve(200, "b", &error));
    ck_assert_uint_eq(api_memory_reserved(memory), 1000);
    ck_assert(!api_reserve(1, "c", &error));
    ck_assert_int_eq(error.status, PE_NO_MEMORY);
    api_reserve_end();
    api_memory_release(memory, 200);
    end();
}
END_TEST

START_TEST(what_never_fits_is_too_large)
{
    pe_error error;
    begin();
    pe_error_init(&error);
    ck_assert(!api_reserve(1001, "the body", &error));
    ck_assert_int_eq(error.status, PE_TOO_LARGE);
    ck_assert_str_eq(error.problems[0].given, "1001 bytes for the body");
    pe_error_init(&error);
    ck_assert(api_reserve(600, "the body", &error)); /* beside which nothing else fits ever */
    ck_assert(!api_reserve(401, "the tables", &error));
    ck_assert_int_eq(error.status, PE_TOO_LARGE);
    api_reserve_end();
    end();
}
END_TEST

START_TEST(a_body_holds_its_share_until_it_is_freed)
{
    pe_error error;
    begin();
    pe_error_init(&error);
    ck_assert(api_reserve(100, "a", &error) && api_reserve_lasting(200, "b", &error));
    api_body *body = new_body(), *other = new_body();
    ck_assert(api_reserve_lasting(300, "c", &error)); /* for a body that is never made */
    api_reserve_end();
    ck_assert_uint_eq(api_memory_reserved(memory), 200);
    api_body_unref(other);
    ck_assert_uint_eq(api_memory_reserved(memory), 200);
    api_body_ref(body);
    api_body_unref(body);
    ck_assert_uint_eq(api_memory_reserved(memory), 200);
    api_body_unref(body);
    end();
}
END_TEST

START_TEST(a_dropped_body_that_is_being_sent_counts_room_or_not)
{
    const uint64_t many = 1 << 20;
    begin();
    api_body *body = api_body_ref(new_body()), *idle = new_body();
    api_body_attach(body, memory, many);
    api_body_attach(idle, memory, many);
    api_body_drop_attached(idle);
    ck_assert_uint_eq(api_memory_reserved(memory), 0);
    api_body_drop_attached(body);
    ck_assert_uint_eq(api_memory_reserved(memory), many);
    ck_assert(!api_memory_reserve(memory, 1));
    api_body_unref(body);
    api_reserve_end();
    end();
}
END_TEST

START_TEST(outside_of_a_call_nothing_is_counted)
{
    pe_error error;
    pe_error_init(&error);
    ck_assert(api_reserve(UINT64_MAX, "a", &error) &&
              api_reserve_lasting(UINT64_MAX, "b", &error));
    api_body_unref(new_body());
}
END_TEST

Suite *memory_budget_suite(void)
{
    const TTest *const tests[] = {a_call_gives_back_what_it_reserved,
                                  what_never_fits_is_too_large,
                                  a_body_holds_its_share_until_it_is_freed,
                                  a_dropped_body_that_is_being_sent_counts_room_or_not,
                                  outside_of_a_call_nothing_is_counted,
                                  NULL};
    return unit_suite("memory_budget", tests);
}
