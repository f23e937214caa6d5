/* Cosines of doubles to some 2^-48, for comparing; the bits are the same everywhere. */
#ifndef PE_QUICK_COSINE_H
#define PE_QUICK_COSINE_H

/* The cosine of an angle in radians plus a number of quarter turns; 3 of them make a sine.
 * Beyond 2^20 quarter turns the error grows with the angle. */
double pe_quick_cosine(double angle, int quarters);

#endif
