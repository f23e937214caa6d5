/* Fitting one wave to a column of numbers: a first frequency from second differences at growing
 * lags, then least squares for frequency, phase and amplitude (Gauss and Newton). */
#include "recognise/wave_fit.h"

#include "numerics/dd.h"
#include "recognise/quick_cosine.h"

#include <math.h>

#define STEPS   9     /* of least squares; the last ones leave out what is far */
#define SETTLED 1e-10 /* of the largest number: a step that changes less is the last one */

static void sine_and_cosine(double angle, double *ret_sine, double *ret_cosine)
{
    *ret_sine = pe_quick_cosine(angle, 3);
    *ret_cosine = pe_quick_cosine(angle, 0);
}

/* A rough angle that Newton's method makes exact. */
double pe_compute_angle(double y, double x)
{
    double radius = sqrt(x * x + y * y), sine, cosine;
    if (!(radius > 0) || isinf(radius))
        return 0; /* of no direction, or too large to be an entry of a wave */
    double steep = x == 0 ? 1e300 : fabs(y) / fabs(x), angle;
    if (fabs(y) < fabs(x))
        angle = steep / (1 + 0.28 * steep * steep);
    else
        angle = PE_TURN / 4 - 1 / (steep + 0.28 / steep);
    angle = x < 0 ? PE_TURN / 2 - angle : angle;
    angle = y < 0 ? -angle : angle;
    for (int i = 0; i < 3; i++) {
        sine_and_cosine(angle, &sine, &cosine);
        angle += (y * cosine - x * sine) / radius;
    }
    return angle;
}

/* ---- the first frequency ---- */

/* sin²(w·lag/2) by second differences at a lag; below 0 if there is nothing to tell it by. */
static double half_sine_squared(const double *x, size_t stride, size_t count, size_t lag)
{
    double above = 0, below = 0;
    for (size_t k = lag; k + lag < count; k++) {
        double middle = x[k * stride];
        above += (x[(k + lag) * stride] - 2 * middle + x[(k - lag) * stride]) * middle;
        below += middle * middle;
    }
    return below > 0 ? -above / (4 * below) : -1;
}

/* The frequency; 0 if none can be told. Lags double; each one says the frequency modulo its own
 * turns, and the one before says which turn. */
static double first_frequency(const double *x, size_t stride, size_t count, double least_square)
{
    double frequency = 0;
    for (size_t lag = 1; 3 * lag <= count; lag *= 2) {
        double square = half_sine_squared(x, stride, count, lag), angle, turn;
        if (!(square >= least_square && square <= 1.0001)) { /* NaN of infinite sums, too */
            if (frequency > 0)
                break;
            continue;
        }
        square = square > 1 ? 1 : square;
        angle =
            2 * pe_compute_angle(sqrt(square), sqrt(1 - square)); /* of w·lag, from 0 to π */
        if (frequency == 0) {
            frequency = angle / (double)lag;
            continue;
        }
        turn = PE_TURN * rint(frequency * (double)lag / PE_TURN);
        angle = frequency * (double)lag < turn ? -angle : angle;
        double better = (turn + angle) / (double)lag;
        if (fabs(better - frequency) * (double)lag > 1)
            break;
        frequency = better;
    }
    return frequency;
}

/* ---- least squares ---- */

typedef struct fit {
    double frequency, a, b; /* a·cos(w·k) + b·sin(w·k) */
} fit;

/* Solve a symmetric system of three equations by elimination; false if it is singular. */
static bool solve_system(double m[3][4])
{
    for (int i = 0; i < 3; i++) {
        if (fabs(m[i][i]) < 1e-300)
            return false;
        for (int row = i + 1; row < 3; row++) {
            double factor = m[row][i] / m[i][i];
            for (int column = i; column < 4; column++)
                m[row][column] -= factor * m[i][column];
        }
    }
    for (int i = 2; i >= 0; i--) {
        for (int column = i + 1; column < 3; column++)
            m[i][3] -= m[i][column] * m[column][3];
        m[i][3] /= m[i][i];
    }
    return true;
}

/* The residual's limit, so that one bad number does not decide. */
static double clip_residual(double residual, double limit)
{
    return residual > limit ? limit : residual < -limit ? -limit : residual;
}

/* How far numbers count: residuals beyond `limit` count as that much, numbers beyond `trim` do
 * not count. */
typedef struct first_distance {
    double limit, trim;
} first_distance;

/* Sums of products over the numbers that count, of the derivatives by a, b and w, and of these
 * with the residual; each in a register, since they are what a fit spends its time on. */
typedef struct sums {
    double aa, ab, aw, bb, bw, ww;
    double a, b, w;
    double magnitudes; /* of the residuals */
    size_t used;
} sums;

static sums sum_products(const fit *own, const double *x, size_t stride, size_t count,
                         first_distance within, bool with_frequency)
{
    sums total = {.used = 0};
    double cosine = 1, sine = 0, step_sine, step_cosine;
    sine_and_cosine(own->frequency, &step_sine, &step_cosine);
    for (size_t k = 0; k < count; k++) {
        const double slope = with_frequency ? (double)k * (own->b * cosine - own->a * sine) : 0;
        const double rest =
            clip_residual(x[k * stride] - own->a * cosine - own->b * sine, within.limit);
        if (fabs(rest) <= within.trim) {
            total.used++;
            total.magnitudes += fabs(rest);
            total.aa += cosine * cosine;
            total.ab += cosine * sine;
            total.aw += cosine * slope;
            total.bb += sine * sine;
            total.bw += sine * slope;
            total.ww += slope * slope;
            total.a += cosine * rest;
            total.b += sine * rest;
            total.w += slope * rest;
        }
        const double next = cosine * step_cosine - sine * step_sine;
        sine = sine * step_cosine + cosine * step_sine;
        cosine = next;
    }
    return total;
}

/* One step: without `with_frequency` only amplitudes change. Returns the mean of the residuals'
 * magnitudes before it in *ret_spread. */
static bool improve_fit(fit *own, const double *x, size_t stride, size_t count,
                        first_distance within, bool with_frequency, double *ret_spread)
{
    const sums total = sum_products(own, x, stride, count, within, with_frequency);
    double m[3][4] = {{total.aa, total.ab, total.aw, total.a},
                      {total.ab, total.bb, total.bw, total.b},
                      {total.aw, total.bw, with_frequency ? total.ww : 1, total.w}};
    *ret_spread = total.magnitudes / (double)(total.used > 0 ? total.used : 1);
    if (2 * total.used < count || !solve_system(m))
        return false;
    own->a += m[0][3];
    own->b += m[1][3];
    own->frequency += m[2][3];
    return own->frequency > 0 && own->frequency < PE_TURN / 2;
}

/* Whether a step changed next to nothing. */
static bool is_settled(const fit *before, const fit *own, double largest, size_t count)
{
    return fabs(own->a - before->a) + fabs(own->b - before->b) <= SETTLED * largest &&
           fabs(own->frequency - before->frequency) * (double)count <= SETTLED;
}

/* Whether all but a few numbers lie near the wave. */
static bool fits_waves(const fit *own, const double *x, size_t stride, size_t count,
                       double amplitude)
{
    double sine = 0, cosine = 1, step_sine, step_cosine;
    size_t far = 0;
    sine_and_cosine(own->frequency, &step_sine, &step_cosine);
    for (size_t k = 0; k < count; k++) {
        far += fabs(x[k * stride] - own->a * cosine - own->b * sine) > 0.01 * amplitude;
        double next = cosine * step_cosine - sine * step_sine;
        sine = sine * step_cosine + cosine * step_sine;
        cosine = next;
    }
    return far <= count / 8;
}

pe_observed_wave pe_fit_wave(const double *x, size_t stride, size_t count, double least_angle)
{
    const pe_observed_wave none = {.found = false};
    double largest = 0;
    for (size_t k = 0; k < count; k++) {
        const double magnitude = fabs(x[k * stride]);
        if (!isfinite(magnitude))
            return none;
        largest = magnitude > largest ? magnitude : largest;
    }
    fit own = {.frequency = largest > 0 ? first_frequency(x, stride, count,
                                                          least_angle * least_angle / 900)
                                        : 0};
    if (count < 4 || own.frequency <= 0 || own.frequency >= PE_TURN / 2)
        return none;
    first_distance within = {INFINITY, INFINITY};
    double spread = 0;
    for (int i = 0; i < STEPS; i++) {
        const fit before = own;
        if (!improve_fit(&own, x, stride, count, within, i > 0, &spread))
            return none;
        within.limit = i > 1 ? 0.02 * largest : INFINITY;
        if (i > 1 && is_settled(&before, &own, largest, count))
            i = i < STEPS - 4 ? STEPS - 4 : STEPS;
        if (i >= STEPS - 4)
            within.trim = 8 * spread + 1e-12 * largest;
    }
    double amplitude = sqrt(own.a * own.a + own.b * own.b);
    if (!isnormal(amplitude) || own.frequency * (double)count < least_angle ||
        !fits_waves(&own, x, stride, count, amplitude))
        return none;
    return (pe_observed_wave){.found = true,
                              .frequency = own.frequency,
                              .phase = pe_compute_angle(-own.b, own.a),
                              .amplitude = amplitude,
                              .spread = spread / amplitude};
}
