/* The position of a table's row 0, from the phases of its waves. */
#include "recognise/observation.h"

#include "numerics/elementary.h"

#include <math.h>

#define PHASE_TOLERANCE 0.02 /* radians */
#define WAVES           256  /* that are looked at, the slowest ones */
#define TURNS_MAX       400  /* of the slowest wave before row 0 */

/* The waves, the slowest one first, one array for each number: the search walks along them for
 * each number of turns. */
typedef struct phases {
    size_t count;
    double frequency[WAVES];
    double phase[WAVES]; /* of a cosine */
    double error[WAVES]; /* what a phase may be off by, in radians */
} phases;

/* An angle modulo a turn, from -π to π. */
static double wrap_angle(double angle)
{
    return angle - PE_TURN * rint(angle / PE_TURN);
}

/* The slowest wave that is faster than `above`; NULL if there is none. */
static const pe_observed_wave *next_faster(const pe_observed_wave *waves, uint64_t first,
                                           uint64_t stride, uint64_t count, double above)
{
    const pe_observed_wave *next = NULL;
    for (uint64_t i = 0; i < count; i++) {
        const pe_observed_wave *wave = &waves[first + i * stride];
        if (wave->found && wave->frequency > above &&
            (!next || wave->frequency < next->frequency))
            next = wave;
    }
    return next;
}

static void read_phases(const pe_observation *seen, const pe_observed_wave *waves,
                        const pe_observed_offset *asked, phases *ret)
{
    const double turned = asked->sines ? PE_TURN / 4 : 0;
    const double unit = pe_observation_unit(&seen->view);
    const pe_observed_wave *wave;
    double above = 0;
    ret->count = 0;
    while (ret->count < WAVES &&
           (wave = next_faster(waves, asked->first, asked->stride, asked->count, above))) {
        const double part = fmin(wave->turns, 1);
        above = ret->frequency[ret->count] = wave->frequency;
        ret->phase[ret->count] = wave->phase + turned;
        ret->error[ret->count++] = PHASE_TOLERANCE + 4 * unit / (part * part);
    }
}

/* Refine an offset by ever faster waves; those that are far off are left out. Returns the
 * largest difference of phases that is left, in errors; anything from `limit` on if it is not
 * below that, or if too many waves are off. */
static double refine_offset(const phases *waves, double limit, double *offset)
{
    const size_t allowed = pe_observation_bad_waves(waves->count);
    double worst = 0;
    size_t bad = 0;
    for (size_t i = 0; i < waves->count; i++) {
        double off = wrap_angle(waves->phase[i] - waves->frequency[i] * *offset);
        *offset += fabs(off) < 1 ? off / waves->frequency[i] : 0;
    }
    for (size_t i = 0; worst < limit && i < waves->count; i++) {
        double off = fabs(wrap_angle(waves->phase[i] - waves->frequency[i] * *offset));
        if (off >= waves->error[i])
            worst = ++bad > allowed ? limit : worst;
        else
            worst = fmax(worst, off / waves->error[i]);
    }
    return worst;
}

/* Find the offset by the wave at an index, which says it modulo its own turns, and by the
 * others, which say which turn. */
static bool search_turns(const phases *waves, size_t from, double *ret_offset)
{
    const double start = wrap_angle(waves->phase[from]) / waves->frequency[from];
    double best = 1;
    bool found = false;
    for (int turns = 0; turns <= (waves->count > 1 ? TURNS_MAX : 0); turns++)
        for (int sign = 1; sign >= (turns > 0 ? -1 : 1); sign -= 2) {
            double offset = start + sign * turns * PE_TURN / waves->frequency[from];
            double worst = refine_offset(waves, best, &offset);
            if (worst < best) {
                best = worst / 4; /* one with more turns must be much better */
                *ret_offset = offset;
                found = true;
            }
        }
    return found;
}

bool pe_observation_find_offset(pe_observation *seen, uint64_t first, uint64_t stride,
                                uint64_t count, bool sines, double *ret_offset)
{
    const pe_observed_wave *waves = pe_observation_waves(seen);
    pe_observed_offset asked = {first, stride, count, sines, false, 0};
    phases rising;
    if (!waves)
        return false;
    for (size_t i = 0; i < PE_COUNT(seen->offsets); i++) {
        const pe_observed_offset *known = &seen->offsets[i];
        if (known->count == count && known->first == first && known->stride == stride &&
            known->sines == sines) {
            *ret_offset = known->offset;
            return known->found;
        }
    }
    read_phases(seen, waves, &asked, &rising);
    asked.found = rising.count > 0 && (search_turns(&rising, 0, &asked.offset) ||
                                       (pe_observation_bad_waves(rising.count) > 0 &&
                                        search_turns(&rising, 1, &asked.offset)));
    seen->offsets[seen->offset_count++ % PE_COUNT(seen->offsets)] = asked;
    *ret_offset = asked.offset;
    return asked.found;
}
