/* Reading arguments by rows: the one way from names and texts to values. */
#ifndef PE_ARGUMENT_READER_H
#define PE_ARGUMENT_READER_H

#include "requests/reading.h"

/* Read all arguments, refuse names that are no row's, and apply the defaults. */
void pe_read_arguments(pe_reading *reading, const pe_argument *arguments, size_t count,
                       pe_error *reterr);

#endif
