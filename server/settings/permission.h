/* Who may use a file, as settings say it. */
#ifndef PERMISSION_H
#define PERMISSION_H

#include <stdbool.h>
#include <sys/types.h>

/* Read a mode: three octal digits, which a 0 may precede. False if the text is anything else.
 */
bool permission_read_mode(const char *text, mode_t *ret_mode);

/* Read a group: its number, or a name that the system knows. False if it is neither. */
bool permission_read_group(const char *text, gid_t *ret_group);

#endif
