/* Limits of control groups, in a folder that looks like a mounted hierarchy. */
#include "observe/memory_limit.h"

#include "directory.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static char root[256];

static void write_limit(const char *folder, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, folder);
    mkdir(path, 0700);
    strcat(path, "/memory.max");
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void forget(const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s/memory.max", root, folder);
    remove(path);
    *strrchr(path, '/') = '\0';
    remove(path);
}

static uint64_t limit_of(const char *path)
{
    return memory_limit_of_group(root, path, "memory.max", 1000);
}

START_TEST(the_least_limit_of_a_group_and_those_above_counts)
{
    snprintf(root, sizeof root, "%s", unit_new_directory());
    ck_assert_uint_eq(limit_of("/a/b"), 1000);
    write_limit("", "max\n");
    write_limit("/a", "700\n");
    write_limit("/a/b", "900\n");
    ck_assert_uint_eq(limit_of("/"), 1000);
    ck_assert_uint_eq(limit_of("/a"), 700);
    ck_assert_uint_eq(limit_of("/a/b"), 700);
    write_limit("/a/b", "600\n");
    ck_assert_uint_eq(limit_of("/a/b"), 600);
    write_limit("", "50\n");
    ck_assert_uint_eq(limit_of("/a/b"), 50);
    ck_assert_uint_eq(limit_of("/elsewhere"), 50);
    forget("/a/b");
    forget("/a");
    unit_remove_directory();
}
END_TEST

START_TEST(the_system_has_some_memory)
{
    ck_assert_uint_gt(memory_limit_of_system(), 1 << 20);
    ck_assert_uint_lt(memory_limit_of_system(), UINT64_MAX);
}
END_TEST

Suite *memory_limit_suite(void)
{
    const TTest *const tests[] = {the_least_limit_of_a_group_and_those_above_counts,
                                  the_system_has_some_memory, NULL};
    return unit_suite("memory_limit", tests);
}
