/* Compares entries of random tables with their formulas in MPFR, which rounds 320 bits once.
 *
 *     mpfr-tests [ENTRIES [SEED]]
 *
 * Positions go up to 2^53, down to subnormals and near to zeros of sine and cosine. A line for
 * each formula says how many entries were compared and misrounded. */
#include "formulas.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally_of_entries {
    uint64_t f64, f32, wrong;
    double worst; /* in units of the last place of the entry */
} tally_of_entries;

/* The entry at `index`, and the exact value as its dtype has it. */
static double entry_at(const void *data, pe_dtype dtype, uint64_t index)
{
    return dtype == PE_F64 ? ((const double *)data)[index]
                           : (double)((const float *)data)[index];
}

static double rounded(const mpfr_t exact, pe_dtype dtype)
{
    return dtype == PE_F64 ? mpfr_get_d(exact, MPFR_RNDN)
                           : (double)mpfr_get_flt(exact, MPFR_RNDN);
}

static double distance_in_ulps(double entry, double wanted, pe_dtype dtype)
{
    if (dtype == PE_F32)
        return fabs(entry - wanted) /
               ((double)nextafterf((float)fabs(wanted), INFINITY) - fabs(wanted));
    return fabs(entry - wanted) / (nextafter(fabs(wanted), INFINITY) - fabs(wanted));
}

static void compare(const scheme_formula *formula, const random_query *drawn,
                    const pe_table *table, size_t tensor, tally_of_entries *tally)
{
    const pe_tensor *shape = pe_table_tensor(table, tensor);
    uint64_t columns = shape->rank == 1 ? 1 : shape->shape[shape->rank - 1];
    mpfr_t exact;
    mpfr_init2(exact, PRECISION);
    for (uint64_t i = 0; i < shape->elements; i++) {
        formula->entry(drawn, (entry_place){table, tensor, i / columns, i % columns}, exact);
        double entry = entry_at(pe_table_data(table, tensor), shape->dtype, i);
        double wanted = rounded(exact, shape->dtype);
        *(shape->dtype == PE_F64 ? &tally->f64 : &tally->f32) += 1;
        if (entry == wanted)
            continue;
        tally->worst = fmax(tally->worst, distance_in_ulps(entry, wanted, shape->dtype));
        if (tally->wrong++ < 3)
            printf("%s?%s: %s entry %" PRIu64 " is %a, should be %a\n", formula->scheme,
                   drawn->query, shape->name, i, entry, wanted);
    }
    mpfr_clear(exact);
}

/* Draw a query of a formula, compute its table, and compare the tensors that are reals. */
static void try_once(const scheme_formula *formula, tally_of_entries *tally)
{
    random_query drawn = {.frequencies = NULL};
    pe_table *table = NULL;
    pe_error error;
    pe_request *request = draw(formula, &drawn);
    if (request && !pe_table_compute(request, NULL, &table, &error))
        for (size_t i = 0; i < pe_table_tensor_count(table); i++)
            if (pe_table_tensor(table, i)->dtype == drawn.dtype &&
                formula->covers(pe_table_tensor(table, i)->name))
                compare(formula, &drawn, table, i, tally);
    pe_table_unref(table);
    pe_request_unref(request);
    drawn_done(&drawn);
}

int main(int argc, char **argv)
{
    uint64_t entries = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000, wrong = 0;
    draw_from(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    for (size_t i = 0; i < formula_count; i++) {
        const scheme_formula *formula = &formulas[i];
        tally_of_entries tally = {0, 0, 0, 0};
        uint64_t share = (uint64_t)((double)entries * formula->share), before = 0;
        for (unsigned idle = 0; tally.f64 < share && idle < 100; idle++) {
            try_once(formula, &tally);
            if (tally.f64 > before)
                idle = 0;
            before = tally.f64;
        }
        printf("%-20s %-34s f64 %8" PRIu64 "  f32 %8" PRIu64 "  misrounded %" PRIu64,
               formula->scheme, formula->what, tally.f64, tally.f32, tally.wrong);
        printf(tally.wrong ? ", by up to %.2f units in the last place\n" : "\n", tally.worst);
        wrong += tally.wrong + (tally.f64 == 0);
    }
    mpfr_free_cache();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
