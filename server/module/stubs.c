/* What WebAssembly has not: files, groups, figures of a process. Parts of the server that the
 * module shares name these; none of its settings leads here. And what clang's own functions of
 * Debian 12 ask for, which were compiled with a stack protector. */
#include "observe/process_figures.h"
#include "settings/permission.h"
#include "store/engine.h"

#include <stdint.h>
#include <stdio.h>

bool permission_read_mode(const char *text, mode_t *ret_mode)
{
    (void)text, (void)ret_mode;
    return false;
}

bool permission_read_group(const char *text, gid_t *ret_group)
{
    (void)text, (void)ret_group;
    return false;
}

bool sqlite_engine_open(const char *directory, engine_visit *visit, void *context,
                        store_engine *ret_engine, char *reterr, size_t size)
{
    (void)visit, (void)context, (void)ret_engine;
    snprintf(reterr, size, "cannot open %s: a module has no disk", directory);
    return false;
}

double process_start_time(void)
{
    return 0;
}

void process_figures_write(double started, api_text *out)
{
    (void)started, (void)out;
}

extern uintptr_t __stack_chk_guard;
uintptr_t __stack_chk_guard = 0xb4a0feed;

_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
    __builtin_trap();
}
