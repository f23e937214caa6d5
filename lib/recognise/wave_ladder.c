/* Reading a ladder of waves: frequencies by neighbours, a line through their logarithms, and
 * from the slowest wave to ever faster ones the position of row 0, which says the line better
 * the further away it is. */
#include "recognise/wave_ladder.h"

#include "numerics/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANGLE_ERROR 3e-7 /* relative: how far float32 arithmetic moves an angle */
#define PHASE_ERROR 1e-6
#define FAR         4.0 /* errors: beyond, a wave is bad */
#define DROPPED_MAX 8
#define TURNS_MAX   400   /* of the slowest wave before row 0 */
#define CERTAIN     0.06  /* errors: with more turns waves are nearer by chance */
#define PLACED_MAX  256   /* waves by which row 0 is placed, the slowest ones */
#define WIDE        16384 /* columns, of which ladders take much memory */

/* An angle modulo a turn, from -π to π. */
static double wrap_angle(double angle)
{
    return angle - PE_TURN * rint(angle / PE_TURN);
}

/* How many of so many waves may be bad. */
static size_t count_allowed(size_t count)
{
    const size_t allowed = count < 6 ? 0 : 1 + count / 16;
    return allowed < DROPPED_MAX ? allowed : DROPPED_MAX;
}

/* ---- the waves ---- */

static void read_rungs(const pe_observation *seen, const pe_observed_wave *waves,
                       pe_ladder *self)
{
    const pe_columns columns = self->columns;
    self->middle = floor((double)(seen->sampled - 1) / 2);
    for (uint64_t i = 0; i < columns.count; i++) {
        const pe_observed_wave *wave = &waves[columns.first + i * columns.stride];
        if (!wave->found)
            continue;
        const double part = fmin(wave->turns, 1);
        self->rungs[self->count++] =
            (pe_rung){.index = (double)i,
                      .frequency = wave->frequency,
                      .error = pe_observation_wave_error(seen, wave),
                      .phase = wave->phase + wave->frequency * self->middle,
                      .phase_error = PHASE_ERROR + pe_observation_wave_error(seen, wave) *
                                                       wave->turns / (part * part)};
    }
}

/* The frequency that looks like a measured one and is nearest to a predicted one; the phase
 * with it. */
static pe_rung unfold(const pe_rung *measured, double predicted)
{
    pe_rung nearest = *measured;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double turns = rint((predicted - sign * measured->frequency) / PE_TURN);
        const double other = turns * PE_TURN + sign * measured->frequency;
        if (turns < 1 || fabs(other - predicted) >= fabs(nearest.frequency - predicted))
            continue;
        nearest.frequency = other;
        nearest.phase = sign * measured->phase;
        nearest.error = measured->error * measured->frequency / other;
    }
    return nearest;
}

#define SURE    0.02  /* relative: what two frequencies may be off by that tell a third one */
#define NEAR    0.1   /* relative: how far from that one it may be */
#define FASTEST 100.0 /* radians per row: faster waves are not told */

/* Unfold frequencies, from slow columns to fast ones, by the two before; those that are near no
 * predicted one are left out. */
static void unfold_rungs(pe_ladder *self)
{
    size_t kept = self->count;
    const pe_rung *one = NULL, *two = NULL;
    for (size_t i = self->count; i-- > 0;) {
        pe_rung own = self->rungs[i];
        if (one && two) {
            const double log =
                (one->log - two->log) * (one->index - own.index) / (two->index - one->index);
            const double predicted = one->frequency * pe_exp_double(fmin(log, 3));
            const pe_rung found = unfold(&own, predicted);
            if (found.frequency != own.frequency &&
                (fabs(found.frequency - predicted) > NEAR * predicted ||
                 found.frequency > FASTEST))
                continue;
            own = found;
        }
        own.log = pe_log_double(own.frequency);
        self->rungs[--kept] = own;
        if (own.error < SURE) {
            two = one;
            one = &self->rungs[kept];
        }
    }
    self->count -= kept;
    memmove(self->rungs, self->rungs + kept, self->count * sizeof *self->rungs);
}

/* ---- what is known of a ladder ---- */

/* Correct what is known by a measurement, of which the derivatives by what is known are given,
 * unless it is bad. Returns how far off it was, in errors; below 0 if that may be beyond
 * `most`, and nothing is told then. */
static double use_measurement(pe_ladder_line *own, const double slope[3], double off,
                              double error, double most)
{
    double square = error * error, gain[3];
    for (size_t i = 0; i < 3; i++) {
        gain[i] = 0;
        for (size_t k = 0; k < 3; k++)
            gain[i] += own->covariance[i][k] * slope[k];
        square += gain[i] * slope[i];
    }
    if (square > most * most)
        return -1;
    const double far = fabs(off) / sqrt(square);
    for (size_t i = 0; i < 3 && far <= FAR; i++) {
        own->at[i] += gain[i] / square * off;
        for (size_t k = 0; k < 3; k++)
            own->covariance[i][k] -= gain[i] * gain[k] / square;
    }
    return far;
}

/* The line through two waves. */
static pe_ladder_line join_rungs(const pe_rung *one, const pe_rung *other)
{
    const double x = one->index, y = other->index, square = (y - x) * (y - x);
    const double a = one->error * one->error, b = other->error * other->error;
    const double slope = (other->log - one->log) / (y - x);
    const double mixed = -(a * y + b * x) / square;
    return (pe_ladder_line){
        .at = {one->log - slope * x, slope},
        .covariance = {{(a * y * y + b * x * x) / square, mixed}, {mixed, (a + b) / square}}};
}

size_t pe_ladder_fit(const pe_rung *rungs, size_t count, bool from_last, size_t allowed,
                     pe_ladder_line *ret_line)
{
    size_t bad = 0, used = 2;
    *ret_line = (pe_ladder_line){.at = {0}};
    if (count < 2)
        return 0;
    *ret_line = from_last ? join_rungs(&rungs[count - 1], &rungs[count - 2])
                          : join_rungs(&rungs[0], &rungs[1]);
    for (; used < count; used++) {
        const pe_rung *own = &rungs[from_last ? count - 1 - used : used];
        const double slope[3] = {1, own->index, 0};
        const double off = own->log - ret_line->at[0] - ret_line->at[1] * own->index;
        if (use_measurement(ret_line, slope, off, own->error, INFINITY) > FAR &&
            bad++ == allowed)
            break;
    }
    return used;
}

/* ---- the position of row 0 ---- */

/* The frequency that a line has where one was measured, from which it differs but little. */
static double correct_frequency(const pe_ladder_line *own, const pe_rung *rung)
{
    const double more = own->at[0] + own->at[1] * rung->index - rung->log;
    if (fabs(more) > 0.01)
        return rung->frequency * pe_exp_double(more);
    return rung->frequency * (1 + more * (1 + more / 2 * (1 + more / 3 * (1 + more / 4))));
}

/* How far a phase is from what is known, in errors; what is known is corrected by it, unless
 * it is bad. Below 0: it may be off by turns, and says nothing. */
static double use_phase(pe_ladder_line *own, const pe_rung *rung, bool geometric)
{
    const double frequency = geometric ? correct_frequency(own, rung) : rung->frequency;
    const double angle = frequency * own->at[2];
    const double slope[3] = {geometric ? angle : 0, geometric ? angle * rung->index : 0,
                             frequency};
    const double error =
        rung->phase_error + fabs(angle) * (ANGLE_ERROR + (geometric ? 0 : rung->error));
    return use_measurement(own, slope, wrap_angle(rung->phase - angle), error, 1);
}

/* Place the middle row by all waves, from one of them on, which says it modulo its own turns.
 * Returns the largest distance of a phase, in errors, `limit` or more if it is not below that;
 * *own becomes what is known then. */
static double place_rows(const pe_rung *rungs, size_t count, const pe_rung *from, int turns,
                         bool geometric, double limit, pe_ladder_line *own)
{
    const size_t allowed = count_allowed(count);
    size_t bad = 0, silent = 0;
    double worst = 0;
    own->at[2] = (wrap_angle(from->phase) + turns * PE_TURN) / from->frequency;
    own->covariance[2][2] = 0.5 / (from->frequency * from->frequency);
    if (use_phase(own, from, geometric) < 0)
        return limit;
    for (size_t i = 0; i < count && worst < limit && bad <= allowed; i++) {
        const double far = &rungs[i] == from ? 0 : use_phase(own, &rungs[i], geometric);
        silent += far < 0;
        bad += far > FAR;
        worst = far > FAR ? worst : fmax(worst, far);
    }
    return bad > allowed || (silent > 0 && silent + 2 > count) ? limit : worst;
}

/* Find the position of the middle row: by the slowest wave, or the next one if that is bad.
 * Returns the largest distance of a phase, `limit` or more if there is no position. */
static double search_turns(const pe_rung *rungs, size_t count, bool geometric, double limit,
                           pe_ladder_line *own)
{
    const pe_ladder_line start = *own;
    double best = limit;
    size_t from = 0;
    while (from < count && rungs[from].phase_error > 0.5)
        from++;
    const size_t last = from + (count_allowed(count) > 0);
    for (; from <= last && from < count && best == limit; from++)
        for (int i = 0; i <= (count > 1 ? 2 * TURNS_MAX : 0) && best > CERTAIN; i++) {
            const int turns = i % 2 ? (i + 1) / 2 : -i / 2;
            pe_ladder_line next = start;
            const double worst =
                place_rows(rungs, count, &rungs[from], turns, geometric, best, &next);
            if (worst < best) {
                best = worst / 4; /* one with more turns must be much better */
                *own = next;
            }
        }
    return best;
}

static int compare_frequencies(const void *one, const void *other)
{
    const pe_rung *a = one, *b = other;
    if (a->frequency != b->frequency)
        return a->frequency < b->frequency ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

/* Place row 0 where all waves are cosines of their angles, or the sines of those or of the
 * opposite ones. */
static void place_ladder(pe_ladder *self, bool geometric, pe_ladder_line *known)
{
    pe_rung *rising = malloc(self->count * sizeof *rising);
    const size_t count = self->count < PLACED_MAX ? self->count : PLACED_MAX;
    double best = FAR;
    if (!rising)
        return;
    memcpy(rising, self->rungs, self->count * sizeof *rising);
    qsort(rising, self->count, sizeof *rising, compare_frequencies);
    for (int backwards = 0; backwards < (self->sines ? 2 : 1); backwards++) {
        pe_ladder_line own = *known;
        for (size_t i = 0; i < count; i++)
            rising[i].phase += !self->sines ? 0 : backwards ? -PE_TURN / 2 : PE_TURN / 4;
        const double worst = search_turns(rising, count, geometric, best, &own);
        if (worst >= best)
            continue;
        best = worst;
        self->placed = true;
        self->backwards = backwards;
        self->offset = own.at[2] - self->middle;
        *known = own;
    }
    free(rising);
}

/* Read the line of a ladder's frequencies, and the position of row 0. */
static void measure_ladder(pe_ladder *self)
{
    pe_ladder_line known = {.at = {0}};
    const size_t allowed = count_allowed(self->count);
    bool fits = false;
    for (int from_last = 0; from_last < 2 && !fits; from_last++)
        fits = self->count > 1 && pe_ladder_fit(self->rungs, self->count, from_last, allowed,
                                                &known) == self->count;
    self->geometric = fits && known.at[1] < 0 && known.at[1] > -40;
    /* rounded phases are not as far apart as they are many: what they add is no less error */
    self->first_error = 2 * sqrt(known.covariance[0][0]);
    self->ratio_error = 2 * sqrt(known.covariance[1][1]);
    if (self->geometric)
        place_ladder(self, true, &known);
    if (self->count > 0 && !self->placed) /* slow waves may be those that lie elsewhere */
        place_ladder(self, false, &known);
    self->first = known.at[0];
    self->ratio = known.at[1];
}

/* The ladder of columns that was read before; NULL: none was. */
static const pe_ladder *find_ladder(const pe_observation *seen, pe_columns columns, bool sines)
{
    const pe_ladder *own = seen->ladders;
    while (own &&
           (own->sines != sines || own->columns.first != columns.first ||
            own->columns.stride != columns.stride || own->columns.count != columns.count))
        own = own->next;
    return own;
}

const pe_ladder *pe_ladder_read(pe_observation *seen, pe_columns columns, bool sines)
{
    const pe_observed_wave *waves = pe_observation_waves(seen);
    const pe_ladder *known = find_ladder(seen, columns, sines);
    if (known)
        return known->count > 0 ? known : NULL;
    size_t found = 0;
    if (seen->columns > WIDE)
        pe_observation_forget_ladders(seen);
    for (uint64_t i = 0; waves && i < columns.count; i++)
        found += waves[columns.first + i * columns.stride].found;
    pe_ladder *self = waves ? malloc(sizeof *self + found * sizeof *self->rungs) : NULL;
    if (!self)
        return NULL;
    *self = (pe_ladder){.next = seen->ladders, .columns = columns, .sines = sines};
    seen->ladders = self;
    read_rungs(seen, waves, self);
    unfold_rungs(self);
    measure_ladder(self);
    return self->count > 0 ? self : NULL;
}
