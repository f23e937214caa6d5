/* Directories of tests, one at a time. */
#include "directory.h"

#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char directory[32];

const char *unit_new_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/posenc-unit-XXXXXX");
    unit_assert(mkdtemp(directory) != NULL);
    return directory;
}

const char *unit_directory(void)
{
    return directory;
}

void unit_remove_directory(void)
{
    char path[512];
    DIR *listed = opendir(directory);
    for (struct dirent *entry; listed && (entry = readdir(listed));) {
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        unlink(path);
    }
    if (listed)
        closedir(listed);
    rmdir(directory);
}
