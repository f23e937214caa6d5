/* Parameter tables: finding rows, describing them, and reading arguments into values. */
#ifndef PE_PARAMETERS_H
#define PE_PARAMETERS_H

#include "scheme.h"

/* The index of a parameter; pe_all_parameter_count if there is none of that name. */
size_t pe_parameter_index(const pe_scheme_info *info, const char *name);

/* Whether a name is that of a parameter, or its old one. */
bool pe_parameter_has_name(const pe_parameter *parameter, const char *name);

/* The index of the parameter that names a set, of which a scheme has at most one;
 * pe_all_parameter_count if there is none. */
size_t pe_stored_index(const pe_scheme_info *info);

/* A value with the memory and the set that it points to; each is NULL where there is none. */
typedef struct pe_owned_value {
    pe_value value;
    double *list;
    char *text;
    pe_set *set;
} pe_owned_value;

void pe_owned_value_done(pe_owned_value *value);

/* What a parameter must be, such as "an even integer from 2 to 1024", as far as its row tells.
 */
void pe_parameter_describe(const pe_parameter *parameter, char *dst, size_t size);

/* "one of a, b, c"; the name alone where there is only one. */
void pe_describe_choices(const char *const *choices, size_t count, char *dst, size_t size);

/* Add a problem with a parameter of a table, whose argument was written as `kind`. */
pe_problem *pe_parameter_refuse(const pe_parameter *parameter, pe_status status,
                                pe_reason reason, pe_kind kind, const char *given,
                                const char *allowed, pe_error *reterr);

/* Read the text of an argument, written as `kind`, into a value of the parameter's type. Adds
 * at most one problem to reterr. Without limits the row is an option's: see pe_options. */
void pe_parameter_read(const pe_parameter *parameter, const char *text, pe_kind kind,
                       const pe_limits *limits, pe_owned_value *ret_value, pe_error *reterr);

/* A value as an error shows it. `dst` has room for PE_PRINT_MAX. */
const char *pe_value_text(const pe_parameter *parameter, const pe_value *value, char *dst);

/* A double as text, integers without a point. `dst` has room for PE_PRINT_MAX. */
const char *pe_plain_number(double number, char *dst);

/* Write a shape as "[2, 3]". */
void pe_write_shape(const uint64_t *shape, size_t rank, char *dst, size_t size);

#endif
