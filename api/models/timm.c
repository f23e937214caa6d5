/* A config of timm holds the name of an entry point of the library, arguments that differ from
 * that one's (model_args), and the size of the images that the weights were trained with. */
#include "models/timm.h"

#include "models/config.h"
#include "models/parts.h"

#include <math.h>
#include <string.h>

typedef struct timm_architecture {
    const char *name;
    const char *type; /* of the table of model types; NULL: its positions are not known here */
    int image, patch, width, layers, heads, class_tokens, registers;
    bool without_prefix; /* the table has rows for patches alone */
    bool is_distilled;   /* the class has both tokens whatever its arguments say */
} timm_architecture;

#define VIT(its_name, ...)       {its_name, "timm-vit", __VA_ARGS__, false},
#define EVA(its_name, ...)       {its_name, "timm-vit", __VA_ARGS__, false},
#define DISTILLED(its_name, ...) {its_name, "timm-vit", __VA_ARGS__, true},
#define BEIT(its_name, ...)      {its_name, "timm-beit", __VA_ARGS__, false},
#define NONE(its_name)           {.name = (its_name), .type = "timm-none"},
#define OTHER(its_name)          {.name = (its_name)},
static const timm_architecture ARCHITECTURES[] = {
#include "models/timm_none.def"
#include "models/timm_others.def"
#include "models/timm_tables.def"
};

enum { ARCHITECTURE_COUNT = sizeof ARCHITECTURES / sizeof *ARCHITECTURES };

/* A name without the tag of its weights: "vit_base_patch16_224" of "….augreg_in21k". NULL, with
 * a problem, if there is no such architecture or none whose positions are known. */
static const timm_architecture *find_architecture(const char *name, pe_error *reterr)
{
    const char *names[ARCHITECTURE_COUNT];
    const size_t length = strcspn(name, ".");
    for (size_t i = 0; i < ARCHITECTURE_COUNT; i++) {
        const timm_architecture *row = &ARCHITECTURES[i];
        names[i] = row->name;
        if (strlen(row->name) != length || strncmp(row->name, name, length) != 0)
            continue;
        if (!row->type)
            pe_error_add(reterr, PE_OUT_OF_RANGE, "architecture", name,
                         "an architecture of timm whose positions are known here; those of "
                         "this one are not");
        return row->type ? row : NULL;
    }
    pe_problem *problem = pe_error_add(reterr, PE_OUT_OF_RANGE, "architecture", name,
                                       "the name of an architecture of timm 1.0");
    pe_problem_suggest(problem, pe_nearest(name, names, ARCHITECTURE_COUNT));
    return NULL;
}

/* Take an argument out of model_args, where what is left there counts as not read. */
static json_t *take_argument(json_t *arguments, const char *name)
{
    json_t *value = json_incref(json_object_get(arguments, name));
    json_object_del(arguments, name);
    if (!json_is_null(value))
        return value;
    json_decref(value);
    return NULL;
}

/* The path of an argument, and its name. */
#define ARGUMENTS     "model_args."
#define NAME_OF(path) ((path) + sizeof ARGUMENTS - 1)

/* A whole number of model_args, or that of the architecture. A flag counts as 0 or 1. */
static int take_number(json_t *arguments, const char *path, int fallback, pe_error *reterr)
{
    json_t *value = take_argument(arguments, NAME_OF(path));
    const double number = json_is_boolean(value) ? json_is_true(value)
                          : value                ? json_number_value(value)
                                                 : fallback;
    const bool fits =
        !value || json_is_boolean(value) ||
        (json_is_number(value) && number >= 0 && number <= 1e6 && floor(number) == number);
    json_decref(value);
    if (fits)
        return (int)number;
    pe_error_add(reterr, PE_OUT_OF_RANGE, path, "", "an integer from 0 to 10^6 or a flag");
    return fallback;
}

/* Refuse arguments that give other classes of positions than the architecture has. */
static void refuse_switches(const json_t *arguments, pe_error *reterr)
{
    static const char *const SWITCHES[] = {
        ARGUMENTS "use_abs_pos_emb",  ARGUMENTS "use_rot_pos_emb",
        ARGUMENTS "use_rel_pos_bias", ARGUMENTS "use_shared_rel_pos_bias",
        ARGUMENTS "num_reg_tokens",   ARGUMENTS "rope_type"};
    for (size_t i = 0; i < sizeof SWITCHES / sizeof *SWITCHES; i++) {
        const json_t *value = json_object_get(arguments, NAME_OF(SWITCHES[i]));
        if (value && !json_is_null(value))
            pe_error_add(reterr, PE_OUT_OF_RANGE, SWITCHES[i], "",
                         "absent: what it makes of an architecture is not known here");
    }
}

/* Set a side: that of model_args, else that of a list [channels, height, width], else that of
 * the architecture. */
static void set_side(json_t *config, const char *key, json_t *given, const json_t *size,
                     int fallback)
{
    if (given)
        json_object_set(config, key, given);
    else if (json_array_size(size) == 3)
        json_object_set_new(
            config, key, json_pack("[O,O]", json_array_get(size, 1), json_array_get(size, 2)));
    else
        json_object_set_new(config, key, json_integer(fallback));
    json_decref(given);
}

static void set_number(json_t *config, const char *key, int number)
{
    json_object_set_new(config, key, json_integer(number));
}

/* Whether model_args switch the table off. False, with a problem, if the word is not known. */
static bool has_no_table(json_t *arguments, pe_error *reterr)
{
    json_t *value = take_argument(arguments, "pos_embed");
    const char *word = value ? json_string_value(value) : "learn";
    const bool is_none = word && (!*word || strcmp(word, "none") == 0);
    if (!word || (!is_none && strcmp(word, "learn") != 0))
        pe_error_add(reterr, PE_OUT_OF_RANGE, "model_args.pos_embed", word ? word : "",
                     "learn, none or empty, as the class takes it");
    json_decref(value);
    return is_none;
}

/* Give a config the values of an architecture with its arguments. */
static void set_values(json_t *config, json_t *arguments, const timm_architecture *row,
                       pe_error *reterr)
{
    const json_t *weights = json_object_get(config, "pretrained_cfg");
    const bool is_fixed = json_is_true(json_object_get(weights, "fixed_input_size"));
    const json_t *size = is_fixed ? json_object_get(weights, "input_size") : NULL;
    set_side(config, "image_size", take_argument(arguments, "img_size"), size, row->image);
    set_side(config, "patch_size", take_argument(arguments, "patch_size"), NULL, row->patch);
    set_number(config, "hidden_size",
               take_number(arguments, ARGUMENTS "embed_dim", row->width, reterr));
    set_number(config, "num_hidden_layers",
               take_number(arguments, ARGUMENTS "depth", row->layers, reterr));
    if (strcmp(row->type, "timm-vit") != 0) {
        set_number(config, "num_attention_heads",
                   take_number(arguments, ARGUMENTS "num_heads", row->heads, reterr));
        return;
    }
    if (row->is_distilled) {
        set_number(config, "prefix_rows", row->class_tokens + row->registers);
        return;
    }
    int rows = take_number(arguments, ARGUMENTS "class_token", row->class_tokens, reterr) +
               take_number(arguments, ARGUMENTS "reg_tokens", row->registers, reterr);
    if (take_number(arguments, ARGUMENTS "no_embed_class", row->without_prefix, reterr))
        rows = 0;
    set_number(config, "prefix_rows", rows);
    if (has_no_table(arguments, reterr))
        json_object_set_new(config, "model_type", json_string("timm-none"));
}

json_t *model_translate_timm(json_t *file, json_t *notes, pe_error *reterr)
{
    const char *name = json_string_value(json_object_get(file, "architecture"));
    const timm_architecture *row = name ? find_architecture(name, reterr) : NULL;
    if (!row) {
        if (!name)
            pe_error_add(reterr, PE_OUT_OF_RANGE, "architecture", "",
                         "the name of an architecture of timm, a string");
        return NULL;
    }
    json_t *given = json_object_get(file, "model_args");
    if (given && !json_is_object(given) && !json_is_null(given)) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "model_args", "", "an object or null");
        return NULL;
    }
    json_t *config = json_copy(file);
    json_t *arguments = json_is_object(given) ? json_copy(given) : json_object();
    json_object_set_new(config, "model_type", json_string(row->type));
    refuse_switches(arguments, reterr);
    if (row->image > 0)
        set_values(config, arguments, row, reterr);
    json_object_set_new(config, "model_args", arguments);
    model_note(notes,
               "The file is a config of timm: what it does not hold is that of the "
               "entry point %s of the library.",
               row->name);
    if (reterr->count == 0)
        return config;
    json_decref(config);
    return NULL;
}
