/* The key that clients must send to use the store. */
#ifndef KEY_FILE_H
#define KEY_FILE_H

#include <stddef.h>

/* Read the key from a file: one line of 16 to 1024 characters that a bearer token may have. The
 * caller frees the key. NULL: reterr is one line with the reason. */
char *key_file_read(const char *path, char *reterr, size_t size);

#endif
