/* Rotary laws as requests: their text, and those of published settings, tried as they are: what
 * they make is found wherever its positions lie. */
#include "recognise/rotary_requests.h"

#include "numerics/elementary.h"
#include "numerics/phase.h"
#include "recognise/table_positions.h"
#include "waves/presets.h"
#include "waves/rotary_request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX 4096 /* of a head */
#define TEXT      48

/* ---- text ---- */

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

/* Propose a law with rows as text, "length=4", or "positions=3,1,4" with a step of 0. A step of
 * 1/n is said as linear interpolation by n. */
static void propose_rows(const pe_rotary_table *table, const pe_rotary *rotary,
                         const char *rows, double offset, double step, pe_proposals *proposals)
{
    const size_t pairs = rotary->width / 2;
    pe_rotary own = *rotary;
    char theta[TEXT], part[TEXT], spacing[2 * TEXT];
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
    pe_propose_positions(spacing, sizeof spacing, offset, step != 0 ? step : 1, 0);
    pe_propose_request(proposals, table->tensor, "%s&dim=%zu%s%s%s%s%s", rows, own.width,
                       table->query, theta, text.text, part, spacing);
}

void pe_rotary_propose(const pe_rotary_table *table, const pe_rotary_law *law,
                       pe_proposals *proposals)
{
    char rows[TEXT];
    snprintf(rows, sizeof rows, "length=%llu", table->rows);
    const double last = law->offset + law->step * (double)table->rows;
    proposals->angle = fmax(fabs(law->offset), fabs(last));
    propose_rows(table, &law->law, rows, law->offset, law->step, proposals);
    proposals->angle = 0;
}

/* ---- presets ---- */

/* The text of a preset's value; NULL if it has none. */
static const char *find_text(const pe_preset *preset, const char *name)
{
    for (const char *const *value = preset->values; *value; value += 2)
        if (strcmp(*value, name) == 0)
            return value[1];
    return NULL;
}

/* The number of a key: the preset's, or the default of the type; 0 if it has neither. */
static double read_key(const pe_preset *preset, const char *name, const char *type,
                       const pe_case *cases)
{
    const char *text = find_text(preset, name);
    for (; cases->choice && !text; cases++)
        if (strcmp(cases->choice, type) == 0)
            text = cases->default_text;
    if (!text)
        return 0;
    return strcmp(text, "true") == 0 ? 1 : strtod(text, NULL);
}

#define READ_REAL(member, ...)      rotary.member = read_key(__VA_ARGS__)
#define READ_POSITIONS(member, ...) rotary.member = (int64_t)read_key(__VA_ARGS__)
#define READ_FLAG(member, ...)      rotary.member = read_key(__VA_ARGS__) != 0
#define READ_LIST(...)
#define READ(kind, member, name, least, most, rival, help, ...)                                \
    READ_##kind(member, preset, name, type, (const pe_case[]){__VA_ARGS__, {.choice = NULL}});

/* Read the law of a preset. */
static pe_rotary read_preset(const pe_preset *preset, size_t width)
{
    const char *type = find_text(preset, "rope_type"), *theta = find_text(preset, "rope_theta");
    pe_rotary rotary = {.width = width, .theta = theta ? strtod(theta, NULL) : 1e4};
    for (size_t i = 0; type && pe_rotary_types[i]; i++)
        if (strcmp(pe_rotary_types[i], type) == 0)
            rotary.type = (pe_rotary_type)i;
    if (type) {
        PE_ROTARY_KEYS(READ)
    }
    return rotary;
}

/* ---- trying laws ---- */

typedef struct published {
    const pe_observation *seen;
    const pe_rotary_table *table;
    pe_proposals *proposals;
    double *frequencies; /* [columns] */
    pe_row_law law;
    pe_table_positions positions;
} published;

/* Propose a law if rows have positions by it. Returns whether they do. */
static bool try_law(published *self, const pe_rotary *rotary)
{
    const pe_columns none = {0, 0, 0}, all = self->table->columns;
    pe_row_law_init(&self->law, self->frequencies, self->table->sines ? all : none,
                    self->table->sines ? none : all, pe_rotary_attention(rotary).hi,
                    pe_observation_unit(&self->seen->view));
    if (!pe_table_positions_find(self->seen, &self->law, &self->positions))
        return false;
    self->proposals->angle = self->positions.farthest + 1;
    propose_rows(self->table, rotary, self->positions.rows, self->positions.offset,
                 self->positions.step, self->proposals);
    return true;
}

/* Try a law of any type. Returns whether it was proposed. */
static bool try_rotary(published *self, const pe_rotary *rotary)
{
    pe_wide *turns = pe_rotary_frequencies(rotary);
    bool found = false;
    for (size_t k = 0; turns && k < self->table->columns.count; k++)
        self->frequencies[k] = pe_phase_radians(turns[k]).hi;
    if (turns)
        found = try_law(self, rotary);
    free(turns);
    return found;
}

static void try_thetas(published *self)
{
    const size_t count = (size_t)self->table->columns.count;
    for (size_t t = 0; t < PE_ROTARY_THETAS; t++) {
        const pe_rotary rotary = {.width = 2 * count, .theta = pe_rotary_thetas[t]};
        const double ratio = pe_exp_double(-pe_log_double(rotary.theta) / (double)count);
        self->frequencies[0] = 1;
        for (size_t i = 1; i < count; i++)
            self->frequencies[i] = self->frequencies[i - 1] * ratio;
        (void)try_law(self, &rotary);
    }
}

/* Propose a preset for the positions that rows have by its law. */
static void propose_preset(published *self, const char *name)
{
    pe_propose_request(self->proposals, self->table->tensor, "%s&preset=%s&dim=%zu%s%s",
                       self->positions.rows, name, 2 * (size_t)self->table->columns.count,
                       self->table->query, self->positions.spacing);
}

/* Presets whose laws are not told by a theta alone. */
static void try_presets(published *self)
{
    for (size_t i = 0; i < PE_ROTARY_PRESET_COUNT; i++) {
        const pe_rotary rotary =
            read_preset(&pe_rotary_presets[i], 2 * (size_t)self->table->columns.count);
        if (rotary.type != PE_ROTARY_DEFAULT && try_rotary(self, &rotary))
            propose_preset(self, pe_rotary_presets[i].name);
    }
}

void pe_rotary_propose_positions(const pe_observation *seen, const pe_rotary_table *table,
                                 const pe_rotary *rotary, pe_proposals *proposals)
{
    published *self = malloc(sizeof *self);
    double *frequencies = malloc((size_t)table->columns.count * sizeof *frequencies);
    if (self && frequencies && table->columns.count > 1 && table->columns.count <= PAIRS_MAX) {
        *self = (published){
            .seen = seen, .table = table, .proposals = proposals, .frequencies = frequencies};
        proposals->first_distance = 0;
        if (rotary) {
            (void)try_rotary(self, rotary);
        } else {
            try_thetas(self);
            try_presets(self);
        }
        proposals->angle = 0;
    }
    free(frequencies);
    free(self);
}
