/* The table of settings. Flags, environment variables, --help, --check-config and the limits of
 * /v1/info are all read from it. */
#ifndef SETTING_TABLE_H
#define SETTING_TABLE_H

#include "settings/settings.h"

typedef enum setting_type {
    SETTING_TEXT,   /* const char * */
    SETTING_NUMBER, /* uint64_t */
    SETTING_BYTES,  /* uint64_t; KiB, MiB or GiB may follow the number */
    SETTING_SWITCH, /* bool */
} setting_type;

typedef struct setting_row {
    const char *name; /* the flag without dashes */
    setting_type type;
    size_t offset;     /* in server_settings */
    const char *value; /* stands for the value in --help */
    const char *default_text;
    uint64_t minimum, maximum;  /* of a number */
    const char *const *choices; /* of a text, ended by NULL; NULL: any text */
    bool (*is_clear)(
        const char *text);  /* whether a text that is not "" is legal; NULL: any is */
    const char *form;       /* what such a text must be */
    bool is_secret;         /* it is never printed */
    const char *limit_unit; /* of a limit that /v1/info publishes, else NULL */
    const char *help;
} setting_row;

typedef struct action_row {
    const char *name; /* the flag without dashes */
    settings_action action;
    const char *help;
} action_row;

#define SETTING_COUNT 41
#define ACTION_COUNT  5
extern const setting_row SETTINGS[SETTING_COUNT];
extern const action_row ACTIONS[ACTION_COUNT];

#endif
