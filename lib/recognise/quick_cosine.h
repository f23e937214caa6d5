/* Cosines of doubles to some 2^-48, for comparing; the bits are the same everywhere. */
#ifndef PE_QUICK_COSINE_H
#define PE_QUICK_COSINE_H

/* The cosine of an angle in radians plus a number of quarter turns; 3 of them make a sine.
 * Beyond 2^20 quarter turns the error grows with the angle; of 2^52 radians and more, and of
 * what is no number, it is NaN. */
double pe_quick_cosine(double angle, int quarters);

#endif
