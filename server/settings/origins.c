#include "settings/origins.h"

#include <ctype.h>
#include <string.h>

#define LENGTH_MAX 512 /* bytes */

/* Whether a text is short, and has letters, digits and these marks alone. */
static bool has_only(const char *text, const char *marks)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr(marks, text[i]))
            return false;
    return length <= LENGTH_MAX;
}

bool origins_are_clear(const char *text)
{
    return has_only(text, "-._~:/*[] ") && text[strspn(text, " ")] != '\0';
}

bool link_is_clear(const char *text)
{
    const char *host = strstr(text, "://");
    return host && host[3] && host[3] != '/' && has_only(text, "-._~:/?#[]@!$&()*+,;=%") &&
           (strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0);
}
