/* Texts of a plan: keeping them, lists of words, paths as problems show them. */
#include "models/config.h"

#include <string.h>

const char *model_keep(model_planner *planner, json_t *text)
{
    const char *kept = json_string_value(text);
    return json_array_append_new(planner->plan->kept, text) == 0 ? kept : "";
}

bool model_lists(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

bool model_has_ending(const char *name, const char *endings)
{
    size_t whole = strlen(name);
    for (const char *at = endings; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (whole > length && strncmp(name + whole - length, at, length) == 0)
            return true;
        at += length;
    }
    return false;
}

const char *model_shown_path(model_planner *planner, const char *path)
{
    static const size_t ROOM = sizeof((pe_problem *)0)->parameter - sizeof "\xe2\x80\xa6";
    size_t length = strlen(path);
    if (length < sizeof((pe_problem *)0)->parameter)
        return path;
    const char *rest = path + length - ROOM;
    while (((unsigned char)*rest & 0xc0) == 0x80)
        rest++;
    if (strchr(rest, '.'))
        rest = strchr(rest, '.');
    return model_keep(planner, json_sprintf("\xe2\x80\xa6%s", rest));
}
