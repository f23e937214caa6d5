/* The key that the store asks for. */
#ifndef KEY_FILE_H
#define KEY_FILE_H

#include <stddef.h>

/* The key in a file: one line of 16 to 1024 visible ASCII characters, as a bearer token has
 * them. From malloc; NULL: one line of the reason is in ret_error. */
char *key_file_read(const char *path, char *ret_error, size_t size);

#endif
