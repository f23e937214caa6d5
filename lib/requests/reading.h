/* Arguments that are being read: the rows, and the values found so far. */
#ifndef PE_READING_H
#define PE_READING_H

#include "requests/parameters.h"

typedef struct pe_reading {
    const pe_scheme_info *info;  /* whose parameters the rows are; NULL: options */
    const pe_parameter *options; /* the rows then */
    size_t count;                /* of rows */
    bool keeps_others;           /* arguments that are no row are somebody else's */
    const pe_limits *limits;     /* NULL: options */
    pe_owned_value *values;      /* of each row; all absent before */
    bool *given;                 /* of each row: it was given, if only wrongly */
    const pe_preset *preset;     /* that was given; NULL: none */
} pe_reading;

static inline const pe_parameter *pe_reading_row(const pe_reading *reading, size_t index)
{
    return reading->info ? pe_parameter_at(reading->info, index) : &reading->options[index];
}

/* The index of a row; the count if there is none of that name. */
static inline size_t pe_reading_index(const pe_reading *reading, const char *name)
{
    size_t index = 0;
    while (index < reading->count &&
           !pe_parameter_has_name(pe_reading_row(reading, index), name))
        index++;
    return index;
}

#endif
