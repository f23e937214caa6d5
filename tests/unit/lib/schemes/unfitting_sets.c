/* Sets that do not have what a scheme wants: every scheme refuses them. */
#include "sets.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS 1048577 /* one more than a table may have */
static const double ELEMENTS[COLUMNS];

/* A scheme's example without the parameters that a set gives, and with the set; false if
 * the scheme takes no set. */
static bool query_of(const pe_scheme_info *info, char *query, size_t size)
{
    bool takes_sets = false;
    unit_query example = unit_query_of(info->example);
    size_t used = (size_t)snprintf(query, size, "set=set");
    for (size_t p = 0; p < info->parameter_count; p++)
        takes_sets |= info->parameters[p].type == PE_STORED;
    for (size_t i = 0; i < example.count; i++) {
        const pe_argument *argument = &example.arguments[i];
        bool stored = false;
        for (size_t p = 0; p < info->parameter_count; p++)
            stored |= info->parameters[p].stored &&
                      strcmp(info->parameters[p].name, argument->name) == 0;
        if (!stored)
            used += (size_t)snprintf(query + used, size - used, "&%s=%s", argument->name,
                                     argument->text);
    }
    unit_query_free(&example);
    return takes_sets;
}

/* Store tensors of this kind under every name that the scheme takes values from. */
static void store_all(const pe_scheme_info *info, pe_dtype dtype, size_t rank, uint64_t extent)
{
    unit_tensor tensors[8];
    size_t count = 0;
    for (size_t p = 0; p < info->parameter_count; p++) {
        const char *name = info->parameters[p].stored;
        if (name && (count == 0 || strcmp(tensors[count - 1].name, name) != 0))
            tensors[count++] =
                (unit_tensor){name, dtype, rank, {extent, extent, extent, extent}, ELEMENTS};
    }
    unit_store(tensors, count);
}

/* Call `check` for every scheme and similarity that takes a set, with a query that names it. */
static void for_all_schemes(void (*check)(const char *scheme, const pe_scheme_info *info,
                                          const char *query))
{
    size_t checked = 0;
    for (size_t s = 0; s < pe_scheme_count(); s++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(s));
        char query[300], compared[320], similarity[80];
        if (!query_of(info, query, sizeof query))
            continue;
        check(info->name, info, query);
        checked++;
        snprintf(similarity, sizeof similarity, "similarity/%s", info->name);
        snprintf(compared, sizeof compared, "%s&metric=l2", query);
        if (pe_similarity_find(info->name))
            check(similarity, info, compared);
    }
    ck_assert_uint_ge(checked, 10);
}

static void check_names(const char *scheme, const pe_scheme_info *info, const char *query)
{
    (void)info;
    unit_store(&(unit_tensor){"strange", PE_F32, 2, {4, 4}, ELEMENTS}, 1);
    unit_set_refuses(scheme, query, "set", "set");
}

START_TEST(every_scheme_refuses_a_set_without_its_tensors)
{
    for_all_schemes(check_names);
}
END_TEST

static void check_ranks(const char *scheme, const pe_scheme_info *info, const char *query)
{
    for (size_t rank = 0; rank <= PE_RANK_MAX; rank++) {
        if (rank == 1 && strstr(scheme, "floater"))
            continue; /* p0 has one axis: test_floater has its sets */
        if (rank == 2)
            continue;
        store_all(info, PE_F32, rank, 4);
        unit_set_refuses(scheme, query, "set", "set");
    }
}

START_TEST(every_scheme_refuses_tensors_of_another_rank)
{
    for_all_schemes(check_ranks);
}
END_TEST

static void check_dtypes(const char *scheme, const pe_scheme_info *info, const char *query)
{
    for (size_t rank = 1; rank <= 2; rank++) {
        store_all(info, PE_I32, rank, 4);
        unit_set_refuses(scheme, query, "set", "set");
    }
}

START_TEST(every_scheme_refuses_tensors_of_integers)
{
    for_all_schemes(check_dtypes);
}
END_TEST

START_TEST(extents_from_a_set_have_the_parameters_range)
{
    /* more buckets than the scheme has room for; more columns and heads than it may have */
    unit_store(&(unit_tensor){"table", PE_F32, 2, {5000, 2}, ELEMENTS}, 1);
    unit_set_refuses("t5", "length=4&max_distance=100000&set=set", "set",
                     "2 to 1024 along axis 0");
    unit_store(&(unit_tensor){"table", PE_F32, 2, {1, COLUMNS}, ELEMENTS}, 1);
    unit_set_refuses("learned", "length=1&set=set", "set", "1 to 1048576 along axis 1");
    unit_set_refuses("levit", "length=1&set=set", "set", "axis 1");
}
END_TEST

Suite *unfitting_sets_suite(void)
{
    const TTest *const tests[] = {
        every_scheme_refuses_a_set_without_its_tensors,
        every_scheme_refuses_tensors_of_another_rank,
        every_scheme_refuses_tensors_of_integers,
        extents_from_a_set_have_the_parameters_range,
        NULL,
    };
    return unit_suite("unfitting_sets", tests);
}
