/* Recognising sines and cosines of clipped distances. */
#ifndef PE_RECOGNISE_DISTANCE_WAVES_H
#define PE_RECOGNISE_DISTANCE_WAVES_H

#include "recognise/distances.h"
#include "waves/wave.h"

/* What the cosines of a table [queries, keys, dim] or [distances, dim] say. Cosines do not tell
 * whether positions are key minus query or the negated query minus key: both rise. */
typedef struct pe_distance_law {
    pe_distances shape; /* without entries */
    uint64_t dim;
    int64_t first;                  /* the position of the first entry, were it not clipped */
    bool is_low_seen, is_high_seen; /* positions are clipped to … */
    int64_t low, high;              /* these; where that is not seen, the ends of the table */
    char base[48];                  /* "&base=…", or nothing */
} pe_distance_law;

/* Read the law, where sines and cosines have this layout. False: there is none. */
bool pe_distance_law_read(pe_observation *seen, pe_wave_layout layout,
                          pe_distance_law *ret_law);

#endif
