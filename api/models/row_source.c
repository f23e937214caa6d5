/* Where the facts of a model type come from. What was checked is in checked.def, which the
 * machine that checks writes (`make peers RECORD=1`). */
#include "models/row_source.h"

#include "models/types.h"

#include <ctype.h>
#include <string.h>

/* Whether the names of a source are all its types that are checked, or all others. */
enum names { CHECKED, UNCHECKED };

typedef struct library_source {
    const char *library, *release, *commit, *read;
    enum names kind;
    const char *const *names; /* of model types; ends with NULL */
} library_source;

#define SOURCE(its_library, its_release, its_commit, its_read, its_kind, ...)                  \
    {its_library, its_release, its_commit,                                                     \
     its_read,    its_kind,    (const char *const[]){__VA_ARGS__ NULL}},
static const library_source SOURCES[] = {
#include "models/checked.def"
};

static const library_source OWN_CODE = {
    "the checkpoint's own code", NULL, NULL, "2026-11", CHECKED, (const char *const[]){NULL}};

static bool has_own_code(const model_type *type)
{
    const model_rule *rule = model_type_rules(&model_all_types, type);
    for (; rule->plan || rule->key; rule++)
        if (rule->plan == model_plan_word && ((const word_facts *)rule->facts)->own_code)
            return true;
    return false;
}

/* The first, which is the newest, of a library's releases that begin with a text. */
static const library_source *find_release(const char *library, const char *release)
{
    for (size_t i = 0; i < sizeof SOURCES / sizeof *SOURCES; i++)
        if (strcmp(SOURCES[i].library, library) == 0 &&
            strncmp(SOURCES[i].release, release, strlen(release)) == 0)
            return &SOURCES[i];
    return &SOURCES[0];
}

/* A convention is called "transformers-4.53". A type of diffusers is a class, whose name begins
 * with a capital letter. */
static const library_source *find_source(const char *name, const char *convention)
{
    const model_type *type = model_type_find(&model_all_types, name);
    if (type && has_own_code(type))
        return &OWN_CODE;
    if (strncmp(name, "timm-", 5) == 0)
        return find_release("timm", "");
    if (isupper((unsigned char)*name))
        return find_release("diffusers", "");
    const char *release = convention ? strchr(convention, '-') : NULL;
    return find_release("transformers", release ? release + 1 : "");
}

static bool is_checked(const library_source *source, const char *name)
{
    const char *const *type = source->names;
    while (*type && strcmp(*type, name) != 0)
        type++;
    return (*type != NULL) == (source->kind == CHECKED);
}

json_t *model_source_describe(const char *name, const char *convention)
{
    const library_source *source = find_source(name, convention);
    return json_pack("{s:s, s:s?, s:s?, s:s, s:b}", "library", source->library, "release",
                     source->release, "commit", source->commit, "read", source->read, "checked",
                     is_checked(source, name));
}
