/* The keys that clients must send: for the store, and for tables. */
#ifndef KEY_FILE_H
#define KEY_FILE_H

#include "settings/settings.h"

typedef struct server_keys {
    char *store, *tables; /* NULL: none */
} server_keys;

/* Read the keys from the files that the settings name: one line each of 16 to 1024 characters
 * that a bearer token may have. False: reterr is one line with the reason. Call key_files_free
 * in any case. */
bool key_files_read(const server_settings *settings, server_keys *ret_keys, char *reterr,
                    size_t size);
void key_files_free(server_keys *keys);

/* Whom the settings let send tables. */
api_opening key_files_opening(const server_settings *settings);

/* Whether the settings of keys fit together; if not, `errors` has a line that says why. */
bool key_files_fit(const server_settings *settings, FILE *errors);

#endif
