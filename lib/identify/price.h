/* The price of an explanation, in bits: of its request, of the forms that the table went
 * through, and of what does not fit. The explanation with the least price is the answer
 * (Rissanen, Modeling by shortest data description, 1978). A price is an estimate by simple
 * rules, the same for all schemes; nothing else orders explanations. */
#ifndef PE_PRICE_H
#define PE_PRICE_H

#include "scheme.h"

#define PE_LOG2_E 1.4426950408889634

/* The bits of a number as it is written: its digits, or what it is the root, or the multiple of
 * pi or log2(e), of. */
double pe_price_number(double number);

/* The bits of a request beside its scheme: of each argument that the shape of the table does
 * not decide, and that is not the default, its name and its value. */
double pe_price_request(const pe_scheme *scheme, const char *query, const char *tensor,
                        const pe_view *view);

/* The bits of a form of a table of this shape. */
double pe_price_form(const pe_transform *form, const pe_view *view);

/* The bits of `count` of `entries` places. */
double pe_price_places(double count, double entries);

/* The bits of `count` entries of a view that are other numbers. */
double pe_price_others(uint64_t count, const pe_view *view);

/* The bits of what a comparison leaves: of the arithmetic, and, if that is not known, of how
 * far entries are off in the mean, however many there are, since forms may have each one
 * several times; and of each entry that does not fit its place, among `entries` of the whole
 * table, and how far it is off, in units in the last place. */
double pe_price_rest(const pe_identity *found, const pe_view *view, uint64_t entries);

/* Of an arithmetic that gives all entries, the least of what is not exact; and of one that is
 * not known, though float32 would bring them as near. */
#define PE_PRICE_ARITHMETIC 12
#define PE_PRICE_LIKE       24

#endif
