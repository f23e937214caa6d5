/* Keys that have a set of values: a value that is none of them is a problem, never "none". */
#include "models/config.h"

#include <stdio.h>
#include <string.h>

#define CHOICES_MAX 32

/* Split words that are joined by blanks; each one counts once. */
static size_t split_words(model_planner *planner, const char *words,
                          const char *names[CHOICES_MAX])
{
    size_t count = 0;
    for (const char *at = words + strspn(words, " "); *at && count < CHOICES_MAX;
         at += strspn(at, " ")) {
        size_t length = strcspn(at, " "), known = 0;
        const char *name = model_keep(planner, json_stringn(at, length));
        while (known < count && strcmp(names[known], name) != 0)
            known++;
        names[known] = name;
        count += known == count;
        at += length;
    }
    return count;
}

void model_refuse_choice(const model_config *config, api_origin origin, const json_t *given,
                         const char *words)
{
    const char *names[CHOICES_MAX];
    size_t count = split_words(config->planner, words, names), used = 0;
    char list[256] = "";
    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : " or ",
                                 names[i]);
    pe_problem *problem = model_refuse(config, origin, given, "%s", list);
    if (json_is_string(given)) {
        problem->reason = PE_REASON_CHOICE;
        pe_problem_suggest(problem,
                           pe_find_nearest_name(json_string_value(given), names, count));
    }
}

/* A value as a word. As in Python, a number that stands for a flag is true unless it is 0.
 * NULL: it is no word. */
static const char *read_word(const json_t *value, bool is_flag)
{
    if (is_flag && json_is_number(value))
        return json_number_value(value) != 0 ? "true" : "false";
    if (is_flag)
        return json_is_true(value) ? "true" : json_is_false(value) ? "false" : NULL;
    return json_string_value(value);
}

const char *model_choice(const model_config *config, const char *key, const char *words,
                         const char *otherwise, api_origin *ret_from)
{
    const json_t *value = model_find(config, key, ret_from);
    model_use_key(config->planner->used, *ret_from);
    const bool is_flag = model_lists(words, "true");
    const char *word = read_word(value, is_flag);
    if (is_flag)
        words = "true false";
    if (!value)
        *ret_from = model_default(config);
    if (word && model_lists(words, word))
        return word;
    if (value && is_flag)
        model_refuse(config, *ret_from, value, MODEL_FLAG_RULE);
    else if (value)
        model_refuse_choice(config, *ret_from, value, words);
    return otherwise;
}
