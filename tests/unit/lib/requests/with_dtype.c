/* Tests of requests in double-doubles: rounding their entries gives the tables of all dtypes.
 */
#include "unit.h"

#include "numerics/dd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Queries, without a dtype, whose entries are no short numbers; and those whose are. */
static const struct row {
    const char *scheme, *query;
    bool is_short; /* low parts may be 0 */
} ROWS[] = {
    {"sinusoidal", "length=70&dim=130&offset=1000003", false},
    {"sinusoidal", "length=33&dim=24&layout=concat&step=0.1", false},
    {"sinusoidal", "positions=0,1,2.5,1e-30,1e9,-7&dim=300&base=1e18", false},
    {"sinusoidal_2d", "height=5&width=7&dim=16", false},
    {"sinusoidal_2d", "height=5&width=7&dim=16&shape=hwc", false},
    {"sinusoidal_2d", "height=4&width=3&dim=16&preset=mae", false},
    {"sinusoidal_3d", "depth=3&height=4&width=5&dim=24", false},
    {"periodic", "length=40&dim=20", false},
    {"binary", "length=40&width=9&order=lsb", true},
    {"binary", "length=40&width=9", true},
    {"floater", "length=5&dim=4", true},
    {"learned", "length=20&dim=9", true},
    {"hierarchical", "length=30&base_length=6&dim=10", false},
    {"resized", "height=4&source_height=3&dim=5", false},
    {"rope", "length=50&dim=128&offset=131000", false},
    {"rope", "length=20&dim=64&table=full&layout=interleaved", false},
    {"rope", "length=20&dim=64&table=full&layout=half", false},
    {"rope", "length=20&dim=128&preset=llama3.1", false},
    {"axial_rope", "sizes=4,5&dim=16", false},
    {"mrope", "text=2,1&grids=1,2,4&dim=128&preset=qwen2_vl", false},
    {"xpos", "length=20&dim=16", false},
    {"alibi", "length=20&heads=12&mask=causal", false},
    {"alibi", "length=20&heads=5&head_dim=60", false},
    {"t5", "length=20&heads=3", true},
    {"levit", "length=9&heads=8", true},
    {"swin", "height=3&heads=2", true},
    {"swin_v2", "height=3&width=3&heads=2&hidden=8", false},
    {"kerple", "length=20&heads=3", false},
    {"kerple", "length=20&heads=3&kernel=power&mask=causal", false},
    {"fire", "length=20&heads=3", false},
    {"sandwich", "length=20&heads=3", false},
    {"retnet", "length=20&heads=3&dim=8", true},
    {"urpe", "length=20&heads=3", true},
    {"complex_order", "length=20&dim=9&vocab=10", false},
    {"rotation_matrix", "length=9&dim=10", false},
    {"rotation_matrix", "length=9&dim=10&convention=shift", false},
    {"shaw", "length=9&dim=4", true},
    {"relative_sinusoidal", "length=9&dim=8", false},
    {"transformer_xl", "length=9&dim=8&heads=2", false},
    {"deberta", "length=9&dim=8&max_relative_positions=16", true},
    {"decomposed", "height=3&dim=8", true},
};

static const pe_dtype DTYPES[] = {PE_F32, PE_F64, PE_F16, PE_BF16};

/* The legal request of a row, in double-doubles; *ret_plain is it in a dtype. */
static pe_request *exact_of(const struct row *row, pe_dtype dtype, pe_request **ret_plain)
{
    char query[256];
    pe_request *exact = NULL;
    pe_error error;
    snprintf(query, sizeof query, "%s&dtype=%s", row->query, pe_dtype_name(dtype));
    *ret_plain = unit_legal_request(row->scheme, query);
    ck_assert_int_eq(pe_request_with_dtype(*ret_plain, PE_DD, &exact, &error), PE_OK);
    return exact;
}

/* All bytes of a tensor, which the caller frees. */
static unsigned char *read_all(pe_request *request, size_t tensor)
{
    pe_stream *stream = NULL;
    pe_error error;
    ck_assert_int_eq(pe_stream_new(request, tensor, 1 << 14, NULL, &stream, &error), PE_OK);
    size_t size = (size_t)pe_stream_size(stream), done = 0;
    unsigned char *bytes = malloc(size);
    for (size_t part; done < size; done += part) {
        part = pe_stream_read(stream, done, bytes + done, size - done);
        unit_assert(part > 0);
    }
    pe_stream_free(stream);
    return bytes;
}

/* The pair rounded to odd: then it rounds as the sum does. */
static double odd_of(dd pair)
{
    uint64_t bits;
    memcpy(&bits, &pair.hi, sizeof bits);
    if (pair.lo != 0) {
        bits -= (pair.hi > 0) != (pair.lo > 0);
        bits |= 1;
    }
    memcpy(&pair.hi, &bits, sizeof bits);
    return pair.hi;
}

START_TEST(rounded_pairs_are_the_table)
{
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++)
        for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
            pe_request *plain, *exact = exact_of(&ROWS[i], DTYPES[d], &plain);
            for (size_t t = 0; t < pe_request_tensor_count(plain); t++) {
                const pe_tensor *tensor = pe_request_tensor(plain, t);
                unsigned char *pairs = read_all(exact, t), *entries = read_all(plain, t);
                const size_t size = pe_dtype_size(tensor->dtype);
                bool same = tensor->dtype == PE_I32 &&
                            memcmp(pairs, entries, (size_t)tensor->bytes) == 0;
                uint64_t wrong = 0;
                for (uint64_t e = 0; tensor->dtype != PE_I32 && e < tensor->elements; e++) {
                    dd pair = ((const dd *)(const void *)pairs)[e];
                    double value = tensor->dtype == PE_F64
                                       ? pair.hi
                                       : unit_nearest(tensor->dtype, odd_of(pair));
                    wrong += unit_element(tensor->dtype, entries + e * size) != value;
                }
                ck_assert_msg((same || tensor->dtype != PE_I32) && wrong == 0,
                              "%s?%s, %s of %s: %llu of %llu differ", ROWS[i].scheme,
                              ROWS[i].query, tensor->name, pe_dtype_name(DTYPES[d]),
                              (unsigned long long)wrong, (unsigned long long)tensor->elements);
                free(pairs);
                free(entries);
            }
            pe_request_unref(plain);
            pe_request_unref(exact);
        }
}
END_TEST

START_TEST(low_parts_are_there)
{
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        if (ROWS[i].is_short)
            continue;
        pe_request *plain, *exact = exact_of(&ROWS[i], PE_F64, &plain);
        const pe_tensor *tensor = pe_request_tensor(plain, 0);
        unsigned char *pairs = read_all(exact, 0);
        uint64_t missing = 0, all = 0;
        for (uint64_t e = 0; e < tensor->elements; e++) {
            dd pair = ((const dd *)(const void *)pairs)[e];
            bool is_long = isfinite(pair.hi) && pair.hi != (double)(float)pair.hi;
            all += is_long;
            missing += is_long && pair.lo == 0;
            unit_assert(!isfinite(pair.hi) || pair.hi + pair.lo == pair.hi);
        }
        ck_assert_msg(all > 0 && missing <= all / 4, "%s?%s: %llu of %llu have none",
                      ROWS[i].scheme, ROWS[i].query, (unsigned long long)missing,
                      (unsigned long long)all);
        free(pairs);
        pe_request_unref(plain);
        pe_request_unref(exact);
    }
}
END_TEST

START_TEST(an_with_dtype_outlives_the_other)
{
    pe_request *plain, *exact = exact_of(&ROWS[0], PE_F16, &plain);
    pe_request_unref(plain);
    ck_assert_uint_eq(pe_request_tensor(exact, 0)->bytes,
                      pe_request_tensor(exact, 0)->elements * sizeof(dd));
    ck_assert_ptr_null(pe_request_set(exact));
    free(read_all(exact, 0));
    pe_request_unref(exact);
}
END_TEST

START_TEST(without_memory_there_is_none)
{
    pe_request *plain = unit_legal_request("alibi", "length=8&heads=4"), *exact = NULL;
    pe_error error;
    for (size_t fails = 0; fails < 2; fails++) {
        unit_fail_allocations(fails, 1);
        pe_status status = pe_request_with_dtype(plain, PE_DD, &exact, &error);
        unit_allow_allocations();
        ck_assert_int_eq(status, PE_NO_MEMORY);
    }
    pe_request_unref(plain);
}
END_TEST

Suite *with_dtype_suite(void)
{
    const TTest *const tests[] = {
        rounded_pairs_are_the_table,
        low_parts_are_there,
        an_with_dtype_outlives_the_other,
        without_memory_there_is_none,
        NULL,
    };
    return unit_suite("with_dtype", tests);
}
