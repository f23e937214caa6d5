/* Where the numbers of a trained table from elsewhere may come from. */
#ifndef PE_ORIGIN_H
#define PE_ORIGIN_H

#include "recognise/observation.h"
#include "trained/trained.h"

#define PE_SEEDS_TRIED 4
#define PE_ORIGIN_TEXT 96 /* room for the text of an origin */

/* A seed, or the set that is given. */
typedef struct pe_origin {
    uint64_t seed;
    const pe_set *set; /* borrowed; NULL: numbers are drawn from the seed */
    const char *set_name;
} pe_origin;

/* The origins that are tried: the given set alone, or the first seeds. */
size_t pe_origin_count(const pe_observation *seen);
pe_origin pe_origin_get(const pe_observation *seen, size_t index);

/* The tensor [rows, columns] of a name. *ret_rows is the number of its rows; a drawn one has no
 * end. False: the set has no such tensor. */
bool pe_origin_tensor(const pe_origin *origin, const char *name, uint64_t columns,
                      const pe_distribution *distribution, pe_trained *ret_trained,
                      uint64_t *ret_rows);

/* Write "&seed=1", nothing for seed 0, the default; or "&set=name". */
void pe_origin_write(const pe_origin *origin, char dst[PE_ORIGIN_TEXT]);

#endif
