#include "settings/permission.h"

#include <grp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_MAX (UINT32_MAX - 1) /* the largest number means "no group" */

bool permission_read_mode(const char *text, mode_t *ret_mode)
{
    const char *digits = strlen(text) == 4 && text[0] == '0' ? text + 1 : text;
    if (strlen(digits) != 3 || strspn(digits, "01234567") != 3)
        return false;
    *ret_mode = (mode_t)strtoul(digits, NULL, 8);
    return true;
}

bool permission_read_group(const char *text, gid_t *ret_group)
{
    size_t length = strlen(text);
    if (length > 0 && length <= 10 && strspn(text, "0123456789") == length) {
        unsigned long long number = strtoull(text, NULL, 10);
        *ret_group = (gid_t)number;
        return number <= GROUP_MAX;
    }
    const struct group *group = getgrnam(text);
    if (group)
        *ret_group = group->gr_gid;
    return group != NULL;
}
