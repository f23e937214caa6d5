/* Options of formats, such as `scale` of png: parameters of the representation. */
#ifndef API_OPTIONS_H
#define API_OPTIONS_H

#include "formats/format.h"
#include "http/arguments.h"

#define API_VARIANT_BYTES 128
#define API_OPTIONS_MAX   8 /* names of options, of all formats together */
#define API_FORMATS_MAX   8

/* The options that a request gives, by the tables of the formats that take one of them. Where
 * several have a name, the first one of them holds it. */
typedef struct api_options {
    struct {
        const api_format *format;
        pe_options *values; /* NULL without memory */
    } tables[API_FORMATS_MAX];
    size_t count; /* of tables */
} api_options;

void api_options_done(api_options *options);

/* Whether a format takes an option of the name. */
bool api_takes_option(const api_format *format, const char *name);

/* The value of the option that `row` describes: the one that is given, or the default. */
pe_value api_option_value(const api_selection *selection, const pe_parameter *row);

/* Write the options of a format that differ from their defaults, such as "slice=3&scale=4", in
 * the order of its table: equal texts mean equal bytes. */
void api_options_variant(const api_options *options, const api_format *format,
                         char dst[API_VARIANT_BYTES]);

/* ---- option_tables.c ---- */

/* List the options of all formats, each name once; returns how many there are. */
size_t api_option_rows(const pe_parameter *ret_rows[API_OPTIONS_MAX]);

/* Take all options out of the arguments and read them, before the format is known. */
void api_options_read(api_options *ret_options, api_arguments *arguments, pe_error *error);

/* Refuse options that the format does not take. */
void api_options_check(const api_options *options, const api_format *format, pe_error *error);

#endif
