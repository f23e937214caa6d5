/* The table of recognisers. */
#include "recognise/recognisers.h"

#include "unit.h"

START_TEST(a_recogniser_belongs_to_a_registered_scheme)
{
    static const char *const NAMES[] = {
#define RECOGNISER(scheme) #scheme,
#include "recognise/recognisers.def"
#undef RECOGNISER
    };
    for (size_t i = 0; i < PE_COUNT(NAMES); i++) {
        const pe_scheme *scheme = pe_scheme_find(NAMES[i]);
        ck_assert_msg(scheme && pe_scheme_is_recognised(scheme), "%s", NAMES[i]);
    }
}
END_TEST

START_TEST(a_similarity_is_not_recognised)
{
    const pe_scheme *similarity = pe_similarity_find("sinusoidal");
    ck_assert(similarity && !pe_scheme_is_recognised(similarity));
}
END_TEST

Suite *recognisers_suite(void)
{
    const TTest *const tests[] = {
        a_recogniser_belongs_to_a_registered_scheme,
        a_similarity_is_not_recognised,
        NULL,
    };
    return unit_suite("recognisers", tests);
}
