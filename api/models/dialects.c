/* How a file is read by the table of its dialect: rules are applied in their order, and the
 * first value that a path of the config gets stays. Then what rules cannot say is computed,
 * and keys that look like positions and stand in no rule are refused. */
#include "models/other_files.h"

#include "models/config_text.h"
#include "models/planning.h"
#include "models/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One rule of a dialect. Keys of the file are paths with dots, without dashes. */
typedef struct dialect_rule {
    const char *key, *is; /* it holds where this key is one of these words; NULL: always */
    const char *sets;     /* "ours<theirs", "ours<<theirs", which must be there, "ours=value",
                           * "ours!value", which must not be another one, or a common name;
                           * "@" is "rope_scaling." */
    const char *nothing;  /* keys that say nothing of positions */
    const char *refused;  /* why keys, here `nothing`, must be one of the words or left out */
    const char *note;     /* what there is to know */
} dialect_rule;

typedef struct dialect {
    const char *type;          /* the model type whose row reads what is understood */
    const char *what;          /* "The file holds …" */
    const char *all, *some;    /* keys: all of these are there, one of these */
    const char *none;          /* … and none of these */
    const char *is_true;       /* … and this one is true */
    const char *types;         /* it may have a model_type, one of these */
    model_dialect_law *own;    /* what rules cannot say; NULL: nothing */
    const dialect_rule *rules; /* the last one is empty */
} dialect;

static bool is_rule(const dialect_rule *rule)
{
    return rule->key || rule->sets || rule->nothing;
}

/* ---- keys ---- */

/* The value of a key of the file; OmegaConf's "${a.b}" is that of another key, and "${.b}" of
 * one beside it. */
static json_t *find_key(const model_reading *r, const char *key)
{
    json_t *value = model_find_path(r->file, key);
    const char *text = json_string_value(value);
    size_t length = text ? strlen(text) : 0;
    if (length < 4 || length > API_CONFIG_KEY_BYTES || strncmp(text, "${", 2) != 0)
        return value;
    char path[API_CONFIG_KEY_BYTES + 1];
    snprintf(path, sizeof path, "%.*s", (int)length - 3, text + 2);
    json_t *meant =
        *path == '.' ? model_find_path(r->file, path + 1) : model_find_path(r->whole, path);
    return meant ? meant : value;
}

/* How many of several keys an object has; "a|b" is one of them. Those that are null count as
 * absent. */
static size_t count_keys(const json_t *object, const char *keys, size_t *ret_all)
{
    size_t found = 0;
    bool has_one = false;
    *ret_all = 0;
    for (const char *at = keys; at && *at;) {
        size_t length = strcspn(at, " |");
        const json_t *value = json_object_getn(object, at, length);
        has_one |= value && !json_is_null(value);
        at += length;
        if (*at++ == '|')
            continue;
        found += has_one;
        ++*ret_all;
        has_one = false;
        at -= at[-1] == '\0';
    }
    return found;
}

bool model_has_keys(const json_t *object, const char *keys)
{
    size_t all;
    return count_keys(object, keys, &all) == all;
}

bool model_has_a_key(const json_t *object, const char *keys)
{
    size_t all;
    return count_keys(object, keys, &all) > 0;
}

static pe_problem *refuse_key(const model_reading *r, const char *key, const char *allowed)
{
    char path[API_CONFIG_KEY_BYTES * 5];
    snprintf(path, sizeof path, "%s%s", r->prefix, key);
    return model_refuse_value(r->error, path, model_find_path(r->file, key), allowed);
}

/* ---- conditions ---- */

/* Whether a value is one of several words: its text, or what it is; of a list each item. */
static bool has_word(const json_t *value, const char *words)
{
    char text[PE_PRINT_MAX + 1];
    const char *word = !value                  ? "absent"
                       : json_is_string(value) ? json_string_value(value)
                       : json_is_true(value)   ? "true"
                       : json_is_false(value)  ? "false"
                       : json_is_object(value) ? "object"
                       : json_is_array(value)  ? "list"
                                               : text;
    if (json_is_number(value))
        text[pe_print_number(text, json_number_value(value))] = '\0';
    bool are_words = json_array_size(value) > 0;
    for (size_t i = 0; i < json_array_size(value); i++)
        are_words = are_words && has_word(json_array_get(value, i), words);
    return model_lists(words, word) || are_words || (value && model_lists(words, "given")) ||
           (json_number_value(value) != 0 && model_lists(words, "number"));
}

/* Whether a value is Python's no: what a key has that is not used. */
static bool is_unset(const json_t *value)
{
    return !value || json_is_false(value) ||
           (json_is_number(value) && json_number_value(value) == 0);
}

/* Refuse a value for which no rule of its key holds. */
static void check_choice(const model_reading *r, const dialect_rule *rule)
{
    const json_t *value = find_key(r, rule->key);
    char allowed[256] = "one of", *at = allowed + strlen(allowed);
    if (is_unset(value))
        return;
    for (const dialect_rule *other = r->dialect->rules; is_rule(other); other++) {
        if (!other->sets || !other->key || strcmp(other->key, rule->key) != 0)
            continue;
        if (other < rule || has_word(value, other->is)) /* told already, or known */
            return;
        at += snprintf(at, (size_t)(allowed + sizeof allowed - at), " %s", other->is);
        if (at >= allowed + sizeof allowed)
            break;
    }
    refuse_key(r, rule->key, allowed)->reason = PE_REASON_CHOICE;
}

/* ---- rules ---- */

/* A list of flags as the words of "a,b", for 0 and 1. NULL, with a problem, if it is none. */
static json_t *name_flags(const model_reading *r, const char *key, const json_t *flags,
                          const char *words)
{
    json_t *names = json_array();
    const char *second = strchr(words, ',') + 1;
    for (size_t i = 0; i < json_array_size(flags); i++) {
        const json_t *flag = json_array_get(flags, i);
        bool is_given = json_is_true(flag) || json_number_value(flag) == 1;
        if (!is_given && !is_unset(flag)) {
            refuse_key(r, key, "a list of 0 and 1");
            break;
        }
        json_array_append_new(names, is_given
                                         ? json_string(second)
                                         : json_stringn(words, (size_t)(second - words - 1)));
    }
    return names;
}

/* The value that a text means: a number, true or false, or a word. */
static json_t *value_of_text(const char *text)
{
    char *end;
    double number = strtod(text, &end);
    if (!*end)
        return json_real(number);
    return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? json_boolean(*text == 't')
                                                                   : json_string(text);
}

/* Say that a path of the config is one of the file; NULL: of no key. */
static void name_path(const model_reading *r, const char *ours, const char *theirs)
{
    json_object_del(r->paths, ours);
    if (theirs)
        json_object_set_new(r->paths, ours, json_sprintf("%s%s", r->prefix, theirs));
    if (strchr(ours, '.')) /* what holds it is no key of the file, but has a path */
        json_object_setn_new(r->paths, ours, strcspn(ours, "."),
                             json_stringn(ours, strcspn(ours, ".")));
}

/* Give a path of the config a value, which is consumed, unless it has one. */
static void take_value(const model_reading *r, const char *ours, const char *theirs,
                       json_t *value)
{
    if (model_find_path(r->config, ours)) {
        json_decref(value);
        return;
    }
    name_path(r, ours, theirs); /* one that is missed has a path, too */
    if (value)
        model_set_path(r->config, ours, value);
}

/* Apply one item of what a rule sets. */
static void apply_item(const model_reading *r, const dialect_rule *rule, char *item)
{
    char ours[160], *sign = item + strcspn(item, "<=!"), *given = sign + (*sign != '\0');
    const char kind = *sign;
    const bool is_inside = *item == '@';
    *sign = '\0';
    snprintf(ours, sizeof ours, "%s%s", is_inside ? "rope_scaling." : "", item + is_inside);
    if (kind == '=' || kind == '!') {
        json_t *value = value_of_text(given);
        if (kind == '!' && model_find_path(r->config, ours) &&
            !json_equal(model_find_path(r->config, ours), value))
            refuse_key(r, rule->key, "another one or left out: it contradicts other keys");
        take_value(r, ours, rule->key && find_key(r, rule->key) ? rule->key : NULL, value);
        return;
    }
    bool is_required = *given == '<';
    given = !kind ? item + is_inside : given + is_required;
    char *words = strchr(given, '?');
    if (words)
        *words++ = '\0';
    json_t *value = find_key(r, given);
    if (!value && is_required)
        refuse_key(r, given, "given")->reason = PE_REASON_MISSING;
    take_value(r, ours, given,
               words && value ? name_flags(r, given, value, words) : json_incref(value));
}

/* Check keys that may only have these words. */
static void check_keys(const model_reading *r, const dialect_rule *rule)
{
    char key[API_CONFIG_KEY_BYTES + 1];
    for (const char *at = rule->nothing; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        const json_t *value = find_key(r, key);
        if (value && !has_word(value, rule->is))
            refuse_key(r, key, rule->refused);
        at += length;
    }
}

static void apply_rule(const model_reading *r, const dialect_rule *rule)
{
    char item[160];
    if (rule->nothing && rule->refused) {
        check_keys(r, rule);
        return;
    }
    if (rule->sets && rule->key)
        check_choice(r, rule);
    if (rule->key && !has_word(find_key(r, rule->key), rule->is))
        return;
    if (rule->refused)
        refuse_key(r, rule->key, rule->refused);
    if (rule->note)
        model_note(r->notes, "%s", rule->note);
    for (const char *at = rule->sets; at && *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        apply_item(r, rule, item);
        at += length;
    }
}

/* ---- keys that stand in no rule ---- */

/* Whether a text of a rule names a key as a whole, or (or_inside) something inside of it. */
static bool names_key(const char *text, const char *key, bool or_inside)
{
    size_t length = strlen(key);
    for (const char *at = text; at && (at = strstr(at, key)) != NULL; at += length) {
        bool begins = at == text || strchr(" <@", at[-1]);
        if (begins && (strchr(" ?", at[length]) || (or_inside && at[length] == '.')))
            return true;
    }
    return false;
}

static bool is_known(const model_reading *r, const char *key, bool or_inside)
{
    for (const dialect_rule *rule = r->dialect->rules; is_rule(rule); rule++)
        if (names_key(rule->key, key, or_inside) || names_key(rule->sets, key, or_inside) ||
            names_key(rule->nothing, key, or_inside))
            return true;
    return false;
}

/* Refuse what stands in no rule: of an object at this path whose name looks like positions
 * (all), or of the file the keys whose names do. */
static void refuse_unknown(const model_reading *r, json_t *object, const char *path, bool all)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        char inner[API_CONFIG_KEY_BYTES * 4];
        snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "." : "", key);
        bool about = all || model_looks_like_positions(key);
        if (json_is_null(value) || (!about && !json_is_object(value)) ||
            is_known(r, inner, false))
            continue;
        if (json_is_object(value) && is_known(r, inner, true))
            refuse_unknown(r, value, inner, about);
        else if (about)
            refuse_key(r, inner,
                       "left out: its name looks like positions, and what it means in this "
                       "kind of file is not known here");
    }
}

/* ---- the table ---- */

/* clang-format off */
#define DIALECT(its_type, its_what, ...) {.type = (its_type), .what = (its_what), __VA_ARGS__},
#define RULES(...) .rules = (const dialect_rule[]){__VA_ARGS__, {.key = NULL}}
#define SET(items) {.sets = (items)}
#define IF(its_key, words, items) {.key = (its_key), .is = (words), .sets = (items)}
#define REFUSE(its_key, words, why)                                                            \
    {.key = (its_key), .is = (words), .sets = "", .refused = (why)}
#define NOTHING(keys) {.nothing = (keys)}
#define ONLY(keys, words, why) {.nothing = (keys), .is = (words), .refused = (why)}
#define NOTE(its_key, words, text) {.key = (its_key), .is = (words), .note = (text)}
/* clang-format on */

static const dialect DIALECTS[] = {
#include "models/dialects.def"
};

/* ---- files ---- */

/* The copy of a file with underscores in its keys. */
static json_t *without_dashes(const json_t *file)
{
    json_t *copy = json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)file, key, value)
    {
        char name[API_CONFIG_KEY_BYTES + 1];
        const char *bare = key + strspn(key, "-"); /* as options are given to a program */
        size_t length = strlen(bare);
        for (size_t i = 0; i <= length && i < sizeof name; i++)
            name[i] = (char)(bare[i] == '-' ? '_' : bare[i]);
        json_object_set(copy, length < sizeof name ? name : key, value);
    }
    return copy;
}

/* Find the dialect of an object by its keys. */
static const dialect *find_dialect(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "model_type"));
    for (size_t i = 0; i < sizeof DIALECTS / sizeof *DIALECTS; i++) {
        const dialect *known = &DIALECTS[i];
        if (model_has_keys(object, known->all) && !model_has_a_key(object, known->none) &&
            (!known->some || model_has_a_key(object, known->some)) &&
            (!known->is_true || json_is_true(json_object_get(object, known->is_true))) &&
            (!name || model_lists(known->types, name)))
            return known;
    }
    return NULL;
}

static void apply_rules(model_reading *r)
{
    model_note(r->notes, "The file holds %s.", r->dialect->what);
    for (const dialect_rule *rule = r->dialect->rules; is_rule(rule); rule++)
        apply_rule(r, rule);
    take_value(r, "model_type", NULL, json_string(r->dialect->type));
    if (r->dialect->own)
        r->dialect->own(r);
    refuse_unknown(r, r->file, "", false);
}

/* Open the object of a file whose keys are those of a dialect; false: there is none. */
static bool open_file(json_t *file, model_reading *r)
{
    static const char *const PREFIXES[] = {"", "model."};
    const json_t *objects[] = {file, json_object_get(file, "model")};
    if (model_open_gguf(file, r))
        r->dialect = find_dialect(r->file);
    for (size_t i = 0; i < 2 && !r->dialect && r->error->count == 0; i++) {
        json_decref(r->file);
        snprintf(r->prefix, sizeof r->prefix, "%s", PREFIXES[i]);
        r->file = without_dashes(objects[i]);
        r->dialect = find_dialect(r->file);
    }
    return r->dialect != NULL;
}

json_t *model_read_dialect(json_t *file, json_t *notes, json_t *paths, pe_error *reterr)
{
    model_reading r = {.whole = file, .paths = paths, .notes = notes, .error = reterr};
    if (open_file(file, &r)) {
        r.config = json_object();
        r.is_latent = r.dialect->is_true != NULL;
        apply_rules(&r);
    }
    json_decref(r.file);
    if (reterr->count == 0)
        return r.config;
    json_decref(r.config);
    return NULL;
}
