/* Fitting one wave to a column of numbers. */
#ifndef PE_WAVE_FIT_H
#define PE_WAVE_FIT_H

#include "recognise/observation.h"

/* How small a part of a turn tells a wave, in radians. */
#define PE_LEAST_ANGLE 0.3

/* The angle of a point, from -π to π; 0 of the origin. */
double pe_compute_angle(double y, double x);

/* Fit a wave to x[0], x[stride], … of `count` numbers. It is found if it meets all but a few of
 * them, and makes at least that angle in all. */
pe_observed_wave pe_fit_wave(const double *x, size_t stride, size_t count, double least_angle);

#endif
