/* What is proposed of tables for which several requests may be said, whichever is chosen. */
#include "recognise/proposal.h"

#include "recognise/recognisers.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    200
#define COLUMNS 64

/* An entry of a table [ROWS, COLUMNS]. */
typedef double formula(size_t row, size_t column);

static double turn(double theta, double factor, size_t row, size_t pair, size_t last)
{
    return (double)row * pow(theta, -(double)pair / (double)last) / factor;
}

static double gemma3_cosine(size_t row, size_t column)
{
    return cos(turn(1e6, 8, row, column, COLUMNS));
}

static double dynamic_cosine(size_t row, size_t column)
{
    const double growth = pow(3000.0 / 2048, (double)COLUMNS / (COLUMNS - 1));
    return cos(turn(1e4 * growth, 1, row, column, COLUMNS));
}

static double vllm_cache(size_t row, size_t column)
{
    const double angle = turn(1e4, 1, row, column % (COLUMNS / 2), COLUMNS / 2);
    return column < COLUMNS / 2 ? cos(angle) : sin(angle);
}

static double retnet_sine(size_t row, size_t column)
{
    return sin(turn(1e4, 1, row, column / 2, COLUMNS / 2 - 1));
}

/* Heads 8 to 15 of 32, as one rank of four has them, one after the other. */
static double alibi_rank(size_t head, size_t key)
{
    return pow(2, -8 * (double)(8 + head % 8 + 1) / 32) * (double)key;
}

/* Heads 0 to 11 of 16. */
static double alibi_first(size_t head, size_t key)
{
    return pow(2, -8 * (double)(head + 1) / 16) * (double)key;
}

static double xpos_scale(size_t row, size_t column)
{
    const double zeta = ((double)column / COLUMNS + 0.4) / 1.4;
    return pow(zeta, ((double)row - ROWS / 2) / 512);
}

static const struct {
    const char *scheme;
    formula *entry;
    size_t rows;
    const char *tensor, *texts[3];
} CASES[] = {
    {"rope", gemma3_cosine, ROWS, "cos", {"rope_type=linear", "factor=8", NULL}},
    {"rope", dynamic_cosine, ROWS, "cos", {"rope_type=dynamic", "factor=1&", NULL}},
    {"rope", vllm_cache, ROWS, "cos_sin", {"cos_sin=true", NULL}},
    {"retnet", retnet_sine, ROWS, "sin", {"length=200&heads=1&dim=64", NULL}},
    {"alibi", alibi_rank, 8, "bias", {"heads=8&heads_total=32&first_head=8", NULL}},
    {"alibi", alibi_first, 12, "bias", {"heads=12&heads_total=16&first_head=0", NULL}},
    {"xpos", xpos_scale, ROWS, "scale", {"centre=100", NULL}},
};

/* Whether a request for the tensor has all texts. */
static bool is_said(const pe_proposals *proposals, const char *tensor, const char *const *texts)
{
    for (size_t i = 0; i < proposals->count; i++) {
        bool all = strcmp(proposals->items[i].tensor, tensor) == 0;
        for (size_t k = 0; all && texts[k]; k++)
            all = strstr(proposals->items[i].query, texts[k]) != NULL;
        if (all)
            return true;
    }
    return false;
}

START_TEST(what_a_request_can_say_is_proposed)
{
    for (size_t i = 0; i < PE_COUNT(CASES); i++) {
        double *entries = malloc(CASES[i].rows * COLUMNS * sizeof *entries);
        pe_proposals *proposals = malloc(sizeof *proposals);
        pe_observation seen;
        ck_assert(entries && proposals);
        for (size_t k = 0; k < CASES[i].rows * COLUMNS; k++)
            entries[k] = CASES[i].entry(k / COLUMNS, k % COLUMNS);
        const pe_view view = pe_observation_view_doubles(entries, CASES[i].rows, COLUMNS);
        ck_assert(pe_observation_begin(&seen, &view));
        pe_collect_proposals(pe_scheme_find(CASES[i].scheme), &seen, proposals);
        ck_assert_msg(is_said(proposals, CASES[i].tensor, CASES[i].texts), "%s: %s",
                      CASES[i].scheme, CASES[i].texts[0]);
        pe_observation_end(&seen);
        free(proposals);
        free(entries);
    }
}
END_TEST

Suite *proposal_suite(void)
{
    const TTest *const tests[] = {what_a_request_can_say_is_proposed, NULL};
    return unit_suite("proposal", tests);
}
