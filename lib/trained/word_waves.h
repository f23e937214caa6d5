/* Waves of words: r·exp(i(θ + ω·k)) at position k, with an amplitude r, a phase θ and a
 * frequency ω of each word in each dimension. */
#ifndef PE_WORD_WAVES_H
#define PE_WORD_WAVES_H

#include "positions/positions.h"
#include "trained/trained.h"

/* What has a frequency and phase of its own: each word in each dimension, each word, or each
 * dimension. */
typedef enum pe_sharing { PE_EACH_WORD_DIM, PE_EACH_WORD, PE_EACH_DIM } pe_sharing;

/* The frequencies or phases of the words. */
typedef struct pe_word_angles {
    const pe_set_tensor *stored; /* in radians, or NULL */
    pe_wide *turns;              /* of each dimension, where all words share them, or NULL */
} pe_word_angles;

typedef struct pe_word_waves {
    pe_trained amplitude;
    pe_positions positions;
    const double *tokens; /* the word of each row, borrowed; NULL: word 0 */
    pe_sharing sharing;
    uint64_t dim;
    pe_dtype dtype;
    pe_word_angles frequency,
        phase; /* seeded ones: frequencies have turns only, phases are 0 */
} pe_word_waves;

/* Write a window of rows, each entry rounded correctly: of tensor 0 the real parts, of tensor 1
 * the imaginary ones. */
void pe_word_waves_write(const pe_word_waves *waves, pe_window window, void *dst);

#endif
