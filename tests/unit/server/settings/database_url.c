/* Tests of URLs of databases: what libpq might split elsewhere than a reader is refused. */
#include "settings/database_url.h"

#include "unit.h"

START_TEST(takes_what_can_be_read_in_one_way)
{
    static const char *const CLEAR[] = {
        "postgresql://",
        "postgresql:///posenc",
        "postgresql://db",
        "postgresql://posenc@db1,db2/posenc",
        "postgresql://posenc:a%40b%2Fc@db1:5432,db2:5433/posenc?sslmode=verify-full",
        "postgresql://posenc:a:b#c@db:5432/posenc",
        "postgresql://posenc@[::1]:5432,[fe80::1]/posenc",
        "postgresql://posenc@%2Frun%2Fpostgresql/posenc",
        "postgresql://db:/posenc?passfile=/run/secrets/passfile",
    };
    for (size_t i = 0; i < UNIT_COUNT(CLEAR); i++)
        ck_assert_msg(database_url_is_clear(CLEAR[i]), "%s", CLEAR[i]);
}
END_TEST

START_TEST(refuses_passwords_that_libpq_would_split)
{
    static const char *const UNCLEAR[] = {
        "mysql://posenc@db/posenc",
        "postgresql:/db",
        "postgresql://posenc:first@second@db:5432/posenc",
        "postgresql://posenc:first/second@db/posenc",
        "postgresql://posenc:first?second@db/posenc",
        "postgresql://posenc:first@db/posenc@second",
        "postgresql://posenc:first/posenc",
        "postgresql://posenc@db1:5432,db2:first/posenc",
        "postgresql://posenc@[::1]:first/posenc",
        "postgresql://db/posenc?password=first@second",
    };
    for (size_t i = 0; i < UNIT_COUNT(UNCLEAR); i++)
        ck_assert_msg(!database_url_is_clear(UNCLEAR[i]), "%s", UNCLEAR[i]);
}
END_TEST

Suite *database_url_suite(void)
{
    const TTest *const tests[] = {
        takes_what_can_be_read_in_one_way,
        refuses_passwords_that_libpq_would_split,
        NULL,
    };
    return unit_suite("database_url", tests);
}
