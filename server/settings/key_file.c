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

/* Read the key from the file of the setting `name`, if that is not "". NULL: there is none, or
 * reterr is one line with the reason. The caller frees the key. */
static char *read_key(const char *name, const char *path, char *reterr, size_t size)
{
    char text[KEY_MAX + 3] = "";
    if (!path[0])
        return NULL;
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (!file || ferror(file)) {
        snprintf(reterr, size, "%s: %s: %s", name, path, strerror(errno));
        if (file)
            fclose(file);
        return NULL;
    }
    fclose(file);
    size_t used = strspn(text, TOKEN_CHARACTERS);
    const char *rest = text + used + strspn(text + used, "\r\n"); /* after the line end */
    if (rest != text + length || used < KEY_MIN || used > KEY_MAX) {
        snprintf(reterr, size,
                 "%s: %s: the file must be one line of %d to %d letters, digits and -._~+/=",
                 name, path, KEY_MIN, KEY_MAX);
        return NULL;
    }
    char *key = strndup(text, used);
    if (!key)
        snprintf(reterr, size, "%s: out of memory", name);
    return key;
}

bool key_files_read(const server_settings *settings, server_keys *ret_keys, char *reterr,
                    size_t size)
{
    const char *const store = settings->api_key_file, *const tables = settings->tables_key_file;
    *ret_keys = (server_keys){read_key("api-key-file", store, reterr, size), NULL};
    if (store[0] && !ret_keys->store)
        return false;
    ret_keys->tables = read_key("tables-key-file", tables, reterr, size);
    return !tables[0] || ret_keys->tables;
}

void key_files_free(server_keys *keys)
{
    free(keys->store);
    free(keys->tables);
}

api_opening key_files_opening(const server_settings *settings)
{
    return strcmp(settings->tables, "key") == 0        ? API_OPEN_TO_KEYS
           : strcmp(settings->tables, "loopback") == 0 ? API_OPEN_LOCALLY
                                                       : API_OPEN;
}

bool key_files_fit(const server_settings *settings, FILE *errors)
{
    bool asked = key_files_opening(settings) == API_OPEN_TO_KEYS;
    if (asked && !settings->tables_key_file[0] && !settings->api_key_file[0])
        fputs("posenc-server: tables: key needs tables-key-file or api-key-file\n", errors);
    else if (!asked && settings->tables_key_file[0])
        fputs("posenc-server: tables-key-file: the key would not be asked for; it needs "
              "--tables key\n",
              errors);
    else
        return true;
    return false;
}
