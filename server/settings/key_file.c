#include "settings/key_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MIN 16
#define KEY_MAX 1024

/* The characters of a bearer token (RFC 6750, section 2.1). */
static const char TOKEN_CHARACTERS[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";

char *key_file_read(const char *path, char *reterr, size_t size)
{
    char text[KEY_MAX + 3] = "";
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (!file || ferror(file)) {
        snprintf(reterr, size, "api-key-file: %s: %s", path, strerror(errno));
        if (file)
            fclose(file);
        return NULL;
    }
    fclose(file);
    size_t used = strspn(text, TOKEN_CHARACTERS);
    const char *rest = text + used + strspn(text + used, "\r\n"); /* after the line end */
    if (rest != text + length || used < KEY_MIN || used > KEY_MAX) {
        snprintf(reterr, size,
                 "api-key-file: %s: the file must be one line of %d to %d letters, digits and "
                 "-._~+/=",
                 path, KEY_MIN, KEY_MAX);
        return NULL;
    }
    char *key = strndup(text, used);
    if (!key)
        snprintf(reterr, size, "api-key-file: out of memory");
    return key;
}
