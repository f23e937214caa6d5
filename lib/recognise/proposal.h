/* Requests that are proposed for a table from elsewhere. */
#ifndef PE_PROPOSAL_H
#define PE_PROPOSAL_H

#include "recognise/observation.h"

#define PE_PROPOSALS_MAX 192 /* of one scheme; more are dropped */

typedef struct pe_proposal {
    char tensor[32];
    double first_distance; /* the distance of row 0 from position 0, in rows: errors grow with
                              it */
    double angle; /* the largest angle of entries, in radians; 0: that of the measured wave */
    double amplitude; /* of entries that are sums of products, which may cancel: the largest sum
                       * of magnitudes, of an entry's products or of those in its derivative by
                       * the angle (a coordinate, in cells); 0: they are no such sums */
    double roundings; /* relative errors of entries that add up before the last product, in
                       * units in the last place, beyond a few */
    bool low_precision; /* it may have been computed in 16 bits: far entries prove nothing */
    bool discrete;      /* entries are looked up, not computed: one that differs is wrong */
    char query[PE_IDENTITY_QUERY_MAX]; /* without dtype; the last member, so that a copy need
                                        * have no more than its text */
} pe_proposal;

typedef struct pe_proposals {
    double first_distance, angle, amplitude, roundings; /* of those that are added next */
    bool low_precision;
    bool discrete;
    size_t count;
    pe_proposal items[PE_PROPOSALS_MAX];
} pe_proposals;

/* Propose a request for `tensor`; the query is a printf format, "length=%llu&dim=%llu". It need
 * not be legal. */
void pe_propose_request(pe_proposals *proposals, const char *tensor, const char *query, ...)
    __attribute__((format(printf, 3, 4)));

/* Write "&name=text" unless the number's decimal is that of the default; nothing then. */
void pe_propose_number(char *dst, size_t size, const char *name, double number, double relative,
                       const char *default_text);

/* Write "&offset=…&step=…", without those that are the defaults; the step may be off by a
 * relative error. */
void pe_propose_positions(char *dst, size_t size, double offset, double step, double error);

/* The significant digits of a number as it is written. */
int pe_count_digits(double number);

#endif
