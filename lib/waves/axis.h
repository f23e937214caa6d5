/* Axes of grids: which angle the sines of a cell have. */
#ifndef PE_AXIS_H
#define PE_AXIS_H

#include "waves/wave.h"

/* The row of a parameter table that says which law the frequencies of every axis follow. */
#define PE_AXIS_FREQUENCIES_PARAMETER                                                          \
    {                                                                                          \
        .name = "frequencies", .type = PE_CHOICE, .default_text = "vaswani",                   \
        .choices = pe_axis_frequencies,                                                        \
        .help = "of an axis with n frequencies; vaswani: base^(-i/n); tensor2tensor: "         \
                "base^(-i/(n-1))"                                                              \
    }
extern const char *const pe_axis_frequencies[];
typedef enum pe_axis_law { PE_AXIS_VASWANI, PE_AXIS_TENSOR2TENSOR } pe_axis_law;

/* Cell k, counted from 0, has the position first/2 + k, a multiple of 1/2. The angle of
 * frequency i of n is base^(-i/n), or by the law of tensor2tensor base^(-i/(n-1)), times
 *
 *     position · base_size/size / interpolation               radians, or if normalized
 *     position / (m + 10^-6) · scale                          turns
 *
 * for an axis of m cells, without base_size/size where base_size is 0. All of it is computed as
 * real numbers; only the parameters themselves are doubles. */
typedef struct pe_axis {
    size_t count;    /* frequencies; by the law of tensor2tensor at least two */
    pe_axis_law law; /* of them */
    double base;
    int64_t first; /* in halves of a cell */
    bool normalized;
    double turns;                    /* up to 2^20 */
    double base_size, interpolation; /* from 2^-20 to 2^25 */
    uint64_t size;
} pe_axis;

/* Set positions and frequencies of a wave whose row k is the cell k of n cells. False if memory
 * ran out. The caller sets the other members; frequencies that there are already make room for
 * these. */
bool pe_axis_set_wave(const pe_axis *axis, uint64_t n, pe_wave *wave, pe_pace *pace);

#endif
