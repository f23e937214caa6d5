/* Parameter tables: rows by name and index, and reading arguments into values. */
#ifndef PE_PARAMS_H
#define PE_PARAMS_H

#include "scheme.h"

/* The index of a parameter; pe_all_parameter_count if there is none of that name. */
size_t pe_parameter_index(const pe_scheme_info *info, const char *name);

/* The case of a parameter with a choice; NULL if the parameter is not legal then. */
const pe_case *pe_parameter_case(const pe_parameter *parameter, const char *choice);

/* A value with what it points to, each NULL where there is nothing. */
typedef struct pe_owned_value {
    pe_value value;
    double *list;
    char *text;
    pe_set *set;
} pe_owned_value;

void pe_owned_value_done(pe_owned_value *value);

/* Read one text into a value of the parameter's type. Adds at most one problem to reterr. */
void pe_parameter_read(const pe_parameter *parameter, const char *text, pe_kind kind,
                       const pe_limits *limits, pe_owned_value *ret_value, pe_error *reterr);

/* A value as an error shows it. `dst` has room for PE_PRINT_MAX. */
const char *pe_value_text(const pe_parameter *parameter, const pe_value *value, char *dst);

/* A double as text, integers without a point. `dst` has room for PE_PRINT_MAX. */
const char *pe_plain_number(double number, char *dst);

#endif
