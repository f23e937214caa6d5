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
#define CERTAIN    1e-8   /* distance: with less a law gives all entries that are looked at */
#define DIGIT      1e-3   /* what a digit of a law's numbers costs in rank */
#define DIGIT_NATS 4.6    /* of all entries, where noise lets many laws fit */
#define ALIKE_MAX  5      /* laws of a type that are kept */
#define LOOKED_MAX 100000 /* laws whose entries are looked at: short tables fit very many */
#define PREDICTED  8      /* frequencies that take as long as an entry */
#define FLOAT_NOISE                                                                            \
    0.25 /* mean square, in errors, of what float32 arithmetic moves frequencies by */
#define ANGLE_ERROR 3e-7 /* relative: how far float32 arithmetic moves an angle */

static const double MSCALES[] = {1, 0.707, 0.8, 0.5, 2, 0.1, 0.4};

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

/* The sum of squares of what a column's entries are off by, beyond what rounding does, in units
 * of what that and float32 arithmetic may do. */
static double column_distance(const pe_rotary_observation *seen, size_t column,
                              double frequency, const pe_rotary_law *law, double amplitude)
{
    const double unit = fmax(seen->unit, 0x1p-24);
    double sum = 0;
    for (size_t row = 0; row < seen->row_count; row++) {
        double angle = frequency * (law->offset + law->step * seen->rows[row]);
        double found = seen->entries[row][column];
        double off = fabs(found - amplitude * pe_quick_cosine(angle, seen->sines ? 3 : 0));
        double rounding = 0.5 * unit * (fabs(found) + 0x1p-10);
        double error = rounding + ANGLE_ERROR * fabs(angle) + 0.3 * seen->grain;
        off = fmax(off - rounding, 0);
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
    double best = error, chosen = found;
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
            chosen = scale;
            law->law.mscale = MSCALES[i];
            law->law.mscale_all_dim = MSCALES[j];
        }
    if (best < error)
        return chosen;
    return law->law.attention = self->attention;
}

/* ---- the best laws ---- */

/* Find the place that a law would take of another one of its type: of one that is the same
 * table, which has the same distance, or of the worst of many, since numbers that a table does
 * not tell make any number of laws. Returns the number of kept laws if there is none. */
static size_t find_place(const pe_rotary_ranking *self, const pe_rotary_law *law)
{
    size_t last = self->kept, alike = 0;
    for (size_t i = 0; i < self->kept; i++) {
        if (self->laws[i].law.type != law->law.type)
            continue;
        if (fabs(self->laws[i].distance - law->distance) <= 1e-9 * law->distance)
            return i;
        last = i;
        alike++;
    }
    return alike == ALIKE_MAX ? last : self->kept;
}

/* Keep a law if it is one of the best; of those that are the same table the best one. */
static void keep_best_law(pe_rotary_ranking *self, const pe_rotary_law *law)
{
    size_t place = find_place(self, law);
    if (place == self->kept && self->kept < PE_ROTARY_LAWS_KEPT)
        self->kept++;
    else if (self->laws[place < self->kept ? place : --place].rank <= law->rank)
        return;
    for (; place > 0 && self->laws[place - 1].rank > law->rank; place--)
        self->laws[place] = self->laws[place - 1];
    self->laws[place] = *law;
}

/* The digits of a length, which may be a multiple of 1024. */
static int count_length_digits(int64_t length)
{
    const int plain = pe_count_digits((double)length);
    const int binary = pe_count_digits((double)length / 1024);
    return binary < plain ? binary : plain;
}

/* The digits of a law's numbers that are no defaults. */
static int count_digits(const pe_rotary_law *law)
{
    const pe_rotary *own = &law->law;
    const double numbers[] = {own->theta,
                              own->factor,
                              own->attention,
                              own->mscale,
                              own->mscale_all_dim,
                              own->beta_fast == 32 ? 0 : own->beta_fast,
                              own->beta_slow == 1 ? 0 : own->beta_slow,
                              own->low_freq_factor,
                              own->high_freq_factor,
                              law->step == 1 ? 0 : law->step};
    int digits = count_length_digits(own->original) + count_length_digits(own->seq_len);
    for (size_t i = 0; i < PE_COUNT(numbers); i++)
        digits += pe_count_digits(numbers[i]);
    return digits;
}

void pe_rotary_consider(pe_rotary_ranking *self, const pe_rotary *rotary, double step)
{
    const pe_rotary_observation *seen = self->seen;
    pe_rotary_law law = {.law = *rotary};
    double amplitude;
    const double entries = (double)(seen->row_count * seen->count);
    const double most = self->kept < PE_ROTARY_LAWS_KEPT
                            ? FARTHEST
                            : fmax(self->laws[self->kept - 1].rank, CERTAIN);
    if (!(rotary->theta >= 1) || /* which no request has */
        !pe_rotary_spend(seen, (double)seen->count / PREDICTED) || self->looked >= LOOKED_MAX ||
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
    if (!(law.distance < FARTHEST))
        return;
    law.digits = count_digits(&law);
    law.rank = fmax(law.distance, seen->row_count > 0 ? 0 : FLOAT_NOISE) +
               (seen->grain > 0 ? DIGIT_NATS / entries : DIGIT) * law.digits -
               (seen->row_count > 0 && law.distance < CERTAIN);
    keep_best_law(self, &law);
}
