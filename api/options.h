/* Options of formats: what a request may say of its representation beside the format's name. */
#ifndef API_OPTIONS_H
#define API_OPTIONS_H

#include "arguments.h"
#include "formats.h"

#define API_OPTIONS_MAX   8                 /* names, of all formats together */
#define API_OPTION_ITEMS  (PE_RANK_MAX - 2) /* of a list */
#define API_VARIANT_BYTES 128

/* What a request says of options; what `row` is NULL behind the last one. */
typedef struct api_options {
    struct {
        const pe_parameter *row; /* NULL: no more are given */
        pe_value value;          /* absent if what is given cannot be read */
        double items[API_OPTION_ITEMS];
    } given[API_OPTIONS_MAX];
} api_options;

/* The options of all formats, each name once: how many. */
size_t api_option_rows(const pe_parameter *ret_rows[API_OPTIONS_MAX]);

/* Whether a format takes an option of the name. */
bool api_takes_option(const api_format *format, const char *name);

/* Take the options out of the arguments and read them, whatever the format will be. The result
 * points into itself. */
void api_options_read(api_options *ret_options, api_arguments *arguments, pe_error *error);

/* Refuse options that the format does not take. */
void api_options_check(const api_options *options, const api_format *format, pe_error *error);

/* The options of a format that differ from their defaults, "slice=3&scale=4", in the order of
 * its table: equal texts mean equal bytes. */
void api_options_variant(const api_options *options, const api_format *format,
                         char dst[API_VARIANT_BYTES]);

#endif
