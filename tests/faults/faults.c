/* Loaded before a server (LD_PRELOAD): makes chosen allocations, mappings, thread starts and
 * writes at a place of a file fail, whoever in the process asks for them. Such a write fails as
 * on a file system that has turned read-only. The file that FAULTS_FILE names is shared memory:
 * a test arms it for one request and reads afterwards what happened (tests/http/faults.py). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ALLOCATIONS = 1, MAPPINGS = 2, THREADS = 4, WRITES = 8 };

/* Of what is counted, from 0 on, [first, first + count) fails. */
typedef struct faults_control {
    atomic_ullong armed, kinds, first, count;
    atomic_ullong asked, failed;
    atomic_ullong askers; /* of what failed: bits by MODULES, and one more for all others */
} faults_control;

static const char *const MODULES[] = {"posenc-server", "libmicrohttpd", "libjansson",
                                      "libsqlite3",    "libz",          "libc."};
#define MODULE_COUNT (sizeof MODULES / sizeof *MODULES)

static _Atomic(faults_control *) control; /* NULL: nothing fails */
static _Thread_local bool within;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

__attribute__((constructor)) static void open_control(void)
{
    const char *path = getenv("FAULTS_FILE");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *memory = (void *)syscall(SYS_mmap, NULL, sizeof(faults_control),
                                   PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)0);
    close(fd);
    if (memory != MAP_FAILED)
        atomic_store(&control, (faults_control *)memory);
}

static void note_asker(faults_control *faults, void *asker)
{
    Dl_info info;
    size_t module = MODULE_COUNT;
    within = true; /* the linker's own allocations are not the server's */
    if (dladdr(asker, &info) && info.dli_fname)
        for (module = 0; module < MODULE_COUNT; module++)
            if (strstr(info.dli_fname, MODULES[module]))
                break;
    within = false;
    atomic_fetch_or(&faults->askers, 1ULL << module);
}

static bool fails(unsigned kind, void *asker)
{
    faults_control *faults = atomic_load(&control);
    if (within || !faults || !atomic_load(&faults->armed) ||
        !(atomic_load(&faults->kinds) & kind))
        return false;
    unsigned long long number = atomic_fetch_add(&faults->asked, 1);
    unsigned long long first = atomic_load(&faults->first);
    if (number < first || number - first >= atomic_load(&faults->count))
        return false;
    atomic_fetch_add(&faults->failed, 1);
    note_asker(faults, asker);
    errno = kind == THREADS ? EAGAIN : kind == WRITES ? EROFS : ENOMEM;
    return true;
}

#define FAILS(kind) fails(kind, __builtin_return_address(0))

void *malloc(size_t size)
{
    return FAILS(ALLOCATIONS) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return FAILS(ALLOCATIONS) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return FAILS(ALLOCATIONS) ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return FAILS(ALLOCATIONS) ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return FAILS(ALLOCATIONS) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **ret_block, size_t alignment, size_t size)
{
    void *block = FAILS(ALLOCATIONS) ? NULL : __libc_memalign(alignment, size);
    if (block)
        *ret_block = block;
    return block ? 0 : ENOMEM;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (FAILS(MAPPINGS))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    return FAILS(WRITES) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, at);
}

int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *context)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (FAILS(THREADS))
        return EAGAIN;
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return next(ret_thread, attributes, run, context);
}
