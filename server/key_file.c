#include "key_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MIN 16
#define KEY_MAX 1024

/* What a bearer token may hold (RFC 6750, section 2.1). */
static const char TOKEN[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";

char *key_file_read(const char *path, char *ret_error, size_t size)
{
    char text[KEY_MAX + 3] = "";
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (!file || ferror(file)) {
        snprintf(ret_error, size, "api-key-file: %s: %s", path, strerror(errno));
        if (file)
            fclose(file);
        return NULL;
    }
    fclose(file);
    size_t used = strspn(text, TOKEN);
    const char *rest = text + used + strspn(text + used, "\r\n");
    char *key = NULL;
    if (rest != text + length || used < KEY_MIN || used > KEY_MAX)
        snprintf(ret_error, size,
                 "api-key-file: %s: not one line of %d to %d letters, digits and -._~+/=", path,
                 KEY_MIN, KEY_MAX);
    else if (!(key = strndup(text, used)))
        snprintf(ret_error, size, "out of memory");
    return key;
}
