/* Sines of multiples of a 64th of a turn. Sines and cosines of other angles come from them by
 * angle addition. */
#ifndef PE_SINE_TABLE_H
#define PE_SINE_TABLE_H

/* sin 2πj/64 for j = 0 … 79, rounded to double, and the errors of that rounding: the sine is
 * their sum. Entry j + 16 is cos 2πj/64. */
extern const double pe_sine_table[80], pe_sine_table_rests[80];

#endif
