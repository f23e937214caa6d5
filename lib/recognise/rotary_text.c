/* Rotary laws as the text of requests. */
#include "recognise/rotary_text.h"

#include "recognise/wave_law.h"
#include "waves/rotary_request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT 48

/* The part of a dim's columns that turn, as the decimal of the fewest digits that means so many
 * pairs. */
static double find_part(size_t pairs, size_t moving)
{
    double part = (double)moving / (double)pairs;
    double error = 1;
    for (int digits = 1; digits <= 17; digits++) {
        error /= 10;
        double decimal = pe_find_decimal(part, error);
        if ((size_t)floor((double)(2 * pairs) * decimal / 2) == moving)
            return decimal;
    }
    return part;
}

/* What one type's keys say of a law: text that grows. */
typedef struct law_text {
    const char *type;
    char text[192];
} law_text;

/* Write "&name=number" of a key that the type reads, unless it is the default or was not given.
 */
static void write_key(law_text *self, const char *name, double number, const pe_case *cases)
{
    size_t used = strlen(self->text);
    for (; cases->choice; cases++)
        if (number != 0 && strcmp(cases->choice, self->type) == 0)
            pe_propose_number(self->text + used, sizeof self->text - used, name, number, 0,
                              cases->default_text ? cases->default_text : "");
}

static void write_flag(law_text *self, const char *name, double flag, const pe_case *cases)
{
    size_t used = strlen(self->text);
    for (; cases->choice; cases++)
        if (flag == 0 && strcmp(cases->choice, self->type) == 0)
            snprintf(self->text + used, sizeof self->text - used, "&%s=false", name);
}

#define WRITE_REAL(...)      write_key(__VA_ARGS__)
#define WRITE_POSITIONS(...) write_key(__VA_ARGS__)
#define WRITE_FLAG(...)      write_flag(__VA_ARGS__)
#define WRITE_LIST(...)
#define WRITE(kind, member, name, least, most, rival, help, ...)                               \
    WRITE_##kind(&self, name, (double)rotary->member,                                          \
                 (const pe_case[]){__VA_ARGS__, {.choice = NULL}});

static law_text write_law(const pe_rotary *rotary)
{
    law_text self = {.type = pe_rotary_types[rotary->type]};
    if (rotary->type != PE_ROTARY_DEFAULT)
        snprintf(self.text, sizeof self.text, "&rope_type=%s", self.type);
    PE_ROTARY_KEYS(WRITE)
    return self;
}

void pe_rotary_propose_rows(const pe_rotary_table *table, const pe_rotary *rotary,
                            const char *rows, double offset, double step,
                            pe_proposals *proposals)
{
    const size_t pairs = rotary->width / 2;
    pe_rotary own = *rotary;
    char theta[TEXT], part[TEXT], first[TEXT], each[TEXT] = "";
    if (own.type == PE_ROTARY_DEFAULT && step > 0 && step < 1 && 1 / step == rint(1 / step)) {
        own.type = PE_ROTARY_LINEAR; /* positions are interpolated */
        own.factor = 1 / step;
        offset /= step;
        step = 1;
    }
    const law_text text = write_law(&own);
    pe_propose_number(theta, sizeof theta, "rope_theta", own.theta, 0, "10000");
    pe_propose_number(part, sizeof part, "partial_rotary_factor",
                      find_part(pairs, pairs - own.still), 0, "1");
    pe_propose_number(first, sizeof first, "offset", offset, 0, "0");
    if (step != 0)
        pe_propose_number(each, sizeof each, "step", step, 0, "1");
    pe_propose_request(proposals, table->tensor, "%s&dim=%zu%s%s%s%s%s%s", rows, own.width,
                       table->query, theta, text.text, part, first, each);
}

void pe_rotary_propose(const pe_rotary_table *table, const pe_rotary_law *law,
                       pe_proposals *proposals)
{
    char rows[TEXT];
    snprintf(rows, sizeof rows, "length=%llu", table->rows);
    const double last = law->offset + law->step * (double)table->rows;
    proposals->angle = fmax(fabs(law->offset), fabs(last));
    pe_rotary_propose_rows(table, &law->law, rows, law->offset, law->step, proposals);
    proposals->angle = 0;
}
