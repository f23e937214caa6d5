/* The memory of this process, as Linux reports it in /proc. No function here allocates. */
#ifndef PROCESS_MEMORY_H
#define PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes; 0 if the system does not report them. */
typedef struct process_memory {
    uint64_t mapped, resident;
    uint64_t file_backed; /* the part of `resident` that belongs to mapped files */
} process_memory;

process_memory process_memory_now(void);

/* Read the first size - 1 bytes of a file into dst and end them with NUL; "" if it cannot be
 * read. */
void process_read_file(const char *path, char *dst, size_t size);

#endif
