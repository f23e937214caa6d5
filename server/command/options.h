/* The arguments of the command posenc. */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include "api.h"

#include <stdio.h>

typedef enum command_action { COMMAND_ASK, COMMAND_HELP, COMMAND_VERSION } command_action;

typedef struct command_options {
    command_action action;
    const char *method;                   /* never NULL */
    const char *target;                   /* path and query */
    const char *file;                     /* of the body, "-" for standard input; NULL: none */
    const char *output;                   /* "-": standard output, also a terminal; NULL: that,
                                           * unless what is binary meets a terminal */
    const char *output_type;              /* media type by the ending of output; NULL: any */
    const char *data_directory;           /* "": none */
    const char *fields[API_HEADER_COUNT]; /* header fields that are given, else NULL */
    bool include;                         /* the head of the answer is written before it */
} command_options;

/* Read main's arguments, which must outlive the options and may be changed. False: `errors` has
 * a line with what is wrong. */
bool command_options_read(command_options *ret_options, int argc, char **argv, FILE *errors);

/* What --help prints: the manual page and the completion of shells are made from it. */
void command_options_print_help(FILE *out);

#endif
