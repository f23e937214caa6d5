/* A directory for tests that write files. */
#ifndef UNIT_DIRECTORY_H
#define UNIT_DIRECTORY_H

/* Make a new one, empty; its path, until the next one is made. */
const char *unit_new_directory(void);

/* Where it is. */
const char *unit_directory(void);

/* Remove it with its files. */
void unit_remove_directory(void);

#endif
