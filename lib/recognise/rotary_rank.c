/* Ranking rotary laws: measured frequencies turn most of them down, entries of some rows
 * decide. Doubles suffice: a law that is proposed is compared entry by entry afterwards. */
#include "recognise/rotary_rank.h"

#include "numerics/elementary.h"
#include "recognise/quick_cosine.h"
#include "recognise/wave_law.h"

#include <math.h>
#include <string.h>

#define FAR        5.0  /* errors: a measured frequency that is further off does not fit */
#define CAP        16.0 /* of an entry's square, so that one bad entry does not decide */
#define FARTHEST   (0.75 * CAP) /* of a law that is kept, the mean of these */
#define DIGIT      1e-3         /* what a digit of a law's numbers costs in rank */
#define LOOKED_MAX 100000 /* laws whose entries are looked at: short tables fit very many */
#define PREDICTED  8      /* frequencies that take as long as an entry */
#define FLOAT_NOISE                                                                            \
    0.25 /* mean square, in errors, of what float32 arithmetic moves frequencies by */
#define ANGLE_ERROR 3e-7 /* relative: how far float32 arithmetic moves an angle */

static const double MSCALES[] = {1, 0.707, 0.8, 0.5, 2, 0.1, 0.4};

int pe_rotary_digits(double number)
{
    char text[PE_PRINT_MAX];
    int digits = 0;
    pe_print_number(text, number);
    for (const char *c = text; *c && *c != 'e'; c++)
        digits += *c > '0' && *c <= '9';
    return digits;
}

/* ---- comparing a law ---- */

bool pe_rotary_spend(const pe_rotary_observation *seen, double entries)
{
    if (seen->work)
        *seen->work -= entries;
    return !seen->work || *seen->work > 0;
}

/* Whether all but a few of the measured frequencies are those of a law. */
static bool frequencies_fit(const pe_rotary_ranking *self, double step)
{
    const pe_rotary_observation *seen = self->seen;
    size_t measured = 0, far = 0;
    for (size_t i = 0; i < seen->count; i++) {
        double expected = self->predicted[i] * step, found = self->frequencies[i];
        if (found == 0)
            continue;
        measured++;
        far += !(fabs(found - expected) <= FAR * self->errors[i] * expected);
    }
    return 8 * far <= measured || (far == 1 && measured > 3);
}

/* The mean square of what frequencies are off by. */
static double frequency_distance(const pe_rotary_ranking *self, double step)
{
    const pe_rotary_observation *seen = self->seen;
    double sum = 0;
    for (size_t i = 0; i < seen->count; i++) {
        double expected = self->predicted[i] * step;
        double off = (self->frequencies[i] - expected) / (self->errors[i] * expected + 1e-300);
        sum += self->frequencies[i] == 0 ? 0 : fmin(off * off, CAP);
    }
    return sum / (double)seen->count;
}

/* The sum of squares of what a column's entries are off by, in units of what rounding and
 * float32 arithmetic may do. */
static double column_distance(const pe_rotary_observation *seen, size_t column,
                              double frequency, const pe_rotary_law *law, double amplitude)
{
    const double unit = fmax(seen->unit, 0x1p-24);
    double sum = 0;
    for (size_t row = 0; row < seen->row_count; row++) {
        double angle = frequency * (law->offset + law->step * seen->rows[row]);
        double found = seen->entries[row][column];
        double off = found - amplitude * pe_quick_cosine(angle, seen->sines ? 3 : 0);
        double error = 0.5 * unit * (fabs(found) + 0x1p-10) + ANGLE_ERROR * fabs(angle);
        sum += fmin(off * off / (error * error), CAP);
    }
    return sum;
}

/* The same, if it has not been computed before: many laws share most of their frequencies. */
static double known_distance(pe_rotary_ranking *self, size_t column, const pe_rotary_law *law,
                             double amplitude)
{
    const double numbers[4] = {self->predicted[column], law->step, amplitude, (double)column};
    uint64_t hash = 0, bits[4], before[4];
    memcpy(bits, numbers, sizeof bits);
    for (size_t i = 0; i < 4; i++)
        hash = (hash ^ bits[i]) * 0x9e3779b97f4a7c15;
    pe_rotary_column *known = &self->columns[hash >> (64 - PE_ROTARY_KNOWN_BITS)];
    memcpy(before, known->numbers, sizeof before);
    if (memcmp(before, bits, sizeof bits) != 0) {
        memcpy(known->numbers, numbers, sizeof numbers);
        (void)pe_rotary_spend(self->seen, (double)self->seen->row_count);
        known->distance =
            column_distance(self->seen, column, self->predicted[column], law, amplitude);
    }
    return known->distance;
}

/* The mean square of what entries are off by; gives up above `most`. */
static double entry_distance(pe_rotary_ranking *self, const pe_rotary_law *law,
                             double amplitude, double most)
{
    const pe_rotary_observation *seen = self->seen;
    const double entries = (double)(seen->row_count * seen->count);
    double sum = 0;
    for (size_t i = 0; i < seen->count; i++) {
        sum += known_distance(self, i, law, amplitude);
        if (sum > most * entries)
            return INFINITY;
    }
    return sum / entries;
}

/* ---- the amplitude ---- */

/* Find how a yarn law gives the measured amplitude, and return it. */
static double choose_attention(const pe_rotary_ranking *self, pe_rotary_law *law)
{
    const double found = self->seen->amplitude, error = self->seen->amplitude_error;
    const double log_factor = pe_log_double(law->law.factor);
    double best = error;
    if (fabs(found - 1 - 0.1 * log_factor) <= error)
        return 1 + 0.1 * log_factor;
    if (fabs(found - 1) <= error) {
        law->law.mscale = law->law.mscale_all_dim = 1;
        return 1;
    }
    for (size_t i = 0; i < PE_COUNT(MSCALES); i++)
        for (size_t j = 0; j < PE_COUNT(MSCALES); j++) {
            double scale =
                (1 + 0.1 * MSCALES[i] * log_factor) / (1 + 0.1 * MSCALES[j] * log_factor);
            if (i == j || fabs(scale - found) >= best)
                continue;
            best = fabs(scale - found) + 1e-12;
            law->law.mscale = MSCALES[i];
            law->law.mscale_all_dim = MSCALES[j];
        }
    if (best < error)
        return found;
    law->law.attention = pe_find_decimal(found, error);
    return law->law.attention;
}

/* ---- the best laws ---- */

/* Find a kept law of the same type that is the same table as another one: it has the same
 * distance. Returns the number of kept laws if there is none. */
static size_t find_same(const pe_rotary_ranking *self, const pe_rotary_law *law)
{
    size_t i = 0;
    while (i < self->kept &&
           (self->laws[i].law.type != law->law.type ||
            fabs(self->laws[i].distance - law->distance) > 1e-9 * law->distance))
        i++;
    return i;
}

/* Keep a law if it is one of the best; of those that are the same table the best one. */
static void keep_best_law(pe_rotary_ranking *self, const pe_rotary_law *law)
{
    const size_t same = find_same(self, law);
    size_t place = self->kept;
    if (same < self->kept) { /* it gives up its place */
        if (law->rank >= self->laws[same].rank)
            return;
        place = same;
    } else if (self->kept < PE_ROTARY_LAWS_KEPT) {
        self->kept++;
    } else if (self->laws[--place].rank <= law->rank) {
        return;
    }
    for (; place > 0 && self->laws[place - 1].rank > law->rank; place--)
        self->laws[place] = self->laws[place - 1];
    self->laws[place] = *law;
}

/* The digits of a law's numbers of which there is a choice for every table. */
static int count_digits(const pe_rotary_law *law)
{
    const double numbers[] = {law->law.theta,
                              law->law.factor,
                              law->law.attention,
                              law->law.low_freq_factor,
                              law->law.high_freq_factor,
                              (double)law->law.seq_len,
                              law->step == 1 ? 0 : law->step};
    int digits = 0;
    for (size_t i = 0; i < PE_COUNT(numbers); i++)
        digits += pe_rotary_digits(numbers[i]);
    return digits;
}

void pe_rotary_consider(pe_rotary_ranking *self, const pe_rotary *rotary, double step)
{
    const pe_rotary_observation *seen = self->seen;
    pe_rotary_law law = {.law = *rotary};
    double amplitude;
    double most = self->kept < PE_ROTARY_LAWS_KEPT ? FARTHEST : self->laws[self->kept - 1].rank;
    if (!pe_rotary_spend(seen, (double)seen->count / PREDICTED) || self->looked >= LOOKED_MAX ||
        !frequencies_fit(self, step))
        return;
    self->looked++;
    if (rotary->type == PE_ROTARY_YARN)
        amplitude = choose_attention(self, &law);
    else
        amplitude = pe_rotary_attention(rotary).hi;
    law.step = seen->ladder->backwards ? -step : step;
    law.offset = pe_wave_offset(seen->ladder->offset * law.step);
    law.distance = seen->row_count > 0 ? entry_distance(self, &law, amplitude, most)
                                       : frequency_distance(self, step);
    law.digits = count_digits(&law);
    law.rank = fmax(law.distance, seen->row_count > 0 ? 0 : FLOAT_NOISE) + DIGIT * law.digits;
    if (law.distance < FARTHEST)
        keep_best_law(self, &law);
}
