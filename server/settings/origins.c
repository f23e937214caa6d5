#include "settings/origins.h"

#include <string.h>

#define ORIGINS_MAX 512 /* bytes */

bool origins_are_clear(const char *text)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~:/*[] ";
    return strlen(text) <= ORIGINS_MAX && text[strspn(text, legal)] == '\0' &&
           text[strspn(text, " ")] != '\0';
}
