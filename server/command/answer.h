/* Writing the answer of a request: to standard output or a file, and what is wrong to standard
 * error. */
#ifndef COMMAND_ANSWER_H
#define COMMAND_ANSWER_H

#include "command/options.h"

typedef enum command_status { /* of the process */
                              COMMAND_DONE,
                              COMMAND_WRONG, /* the answer is a problem, says that tables
                                                differ, or cannot be written */
                              COMMAND_USAGE,
} command_status;

/* Write a reply piece by piece, as a stream computes it. */
command_status command_answer_write(const command_options *options, const api_reply *reply);

#endif
