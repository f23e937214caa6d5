/* A config of timm holds the name of an entry point of the library, arguments that differ from
 * that one's (model_args), and the size of the images that the weights were trained with. */
#include "models/other_files.h"

#include "models/config.h"
#include "models/planning.h"

#include <math.h>
#include <string.h>

typedef struct timm_architecture {
    const char *name;
    const char *type; /* of the table of model types */
    int image, patch, width, layers, heads, class_tokens, registers;
    bool without_prefix; /* the table has rows for patches alone */
    const char *values;  /* JSON of what else the entry point gives its class; or NULL */
    bool is_distilled;   /* the class has both tokens whatever its arguments say */
} timm_architecture;

#define JSON(...)                #__VA_ARGS__
#define VIT(its_name, ...)       {its_name, "timm-vit", __VA_ARGS__, .is_distilled = false},
#define EVA(its_name, ...)       {its_name, "timm-eva", __VA_ARGS__, .is_distilled = false},
#define BEIT(its_name, ...)      {its_name, "timm-beit", __VA_ARGS__, .is_distilled = false},
#define DISTILLED(its_name, ...) {its_name, "timm-vit", __VA_ARGS__, .is_distilled = true},
/* architectures that differ in the side of their images, which ends their names */
#define AT(make, name, image, ...) make(name "_" #image, image, __VA_ARGS__)
#define AT_2(make, name, one, other, ...)                                                      \
    AT(make, name, one, __VA_ARGS__) AT(make, name, other, __VA_ARGS__)
#define AT_3(make, name, one, two, three, ...)                                                 \
    AT_2(make, name, one, two, __VA_ARGS__) AT(make, name, three, __VA_ARGS__)
#define AT_4(make, name, one, two, three, four, ...)                                           \
    AT_2(make, name, one, two, __VA_ARGS__) AT_2(make, name, three, four, __VA_ARGS__)
#define SWIN(its_name, its_image, its_values)                                                  \
    {.name = (its_name), .type = "timm-swin", .image = (its_image), .values = (its_values)},
#define SWIN_V2(its_name, its_image, its_values)                                               \
    {.name = (its_name), .type = "timm-swinv2", .image = (its_image), .values = (its_values)},
static const timm_architecture ARCHITECTURES[] = {
#include "models/timm_stages.def"
#include "models/timm_tables.def"
#include "models/timm_turned.def"
};

#define ARCHITECTURE_COUNT (sizeof ARCHITECTURES / sizeof *ARCHITECTURES)

/* Whether a name is that of a network of convolutions, by its family. */
static bool is_convolution(const char *name, size_t length)
{
    static const char FAMILIES[] =
        "bat_resnext convmixer convnext cs3 csp darknet densenet dla dm_nfnet dpn eca_nfnet "
        "eca_resne eca_vovnet ecaresn efficientnet ese_ fasternet fbnet focalnet "
        "gc_efficientnet gcres gernet ghostnet hardcorenas hgnet hrnet inception lcnet legacy_ "
        "mambaout mixnet mnasnet mobilenet_ mobilenetv1 mobilenetv2 mobilenetv3 mobilenetv4 "
        "mobileone nasnet nf_ nfnet pnasnet rdnet regnet rep res2ne resne rexnet sedarknet "
        "selecsls semnasnet senet seres skres spnasnet starnet tf_ tinynet tresnet vgg vovnet "
        "wide_resnet xception";
    static const char POOLED[] = "_clip"; /* by attention, which has a table */
    const size_t end = sizeof POOLED - 1;
    bool found = false;
    for (const char *at = FAMILIES; *at && !found; at += strcspn(at, " "), at += *at == ' ')
        found = strncmp(name, at, strcspn(at, " ")) == 0;
    return found && (length < end || memcmp(name + length - end, POOLED, end) != 0);
}

/* Find a name without the tag of its weights: "vit_base_patch16_224" of "….augreg_in21k".
 * False, with a problem, if its positions are not known. */
static bool find_architecture(const char *name, timm_architecture *ret_row, pe_error *reterr)
{
    const char *names[ARCHITECTURE_COUNT];
    const size_t length = strcspn(name, ".");
    for (size_t i = 0; i < ARCHITECTURE_COUNT; i++) {
        *ret_row = ARCHITECTURES[i];
        names[i] = ret_row->name;
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return true;
    }
    *ret_row = (timm_architecture){.name = name, .type = "timm-none"};
    if (is_convolution(name, length))
        return true;
    pe_problem *problem =
        pe_error_add(reterr, PE_OUT_OF_RANGE, "architecture", name,
                     "an architecture of timm 1.0 whose positions are known here");
    pe_problem_suggest(problem, pe_find_nearest_name(name, names, ARCHITECTURE_COUNT));
    return false;
}

/* Where the values of the architecture stand in a config that has been translated. */
#define VALUES "values of the architecture"

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
    if (!fits)
        model_refuse_value(reterr, path, value, "an integer from 0 to 10^6 or a flag");
    json_decref(value);
    return fits ? (int)number : fallback;
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
        if (value)
            model_refuse_value(reterr, SWITCHES[i], value,
                               "absent: what it makes of an architecture is not known here");
    }
}

/* Whether model_args switch the table off. False, with a problem, if the word is not known. */
static bool has_no_table(json_t *arguments, pe_error *reterr)
{
    json_t *value = take_argument(arguments, "pos_embed");
    const char *word = value ? json_string_value(value) : "learn";
    const bool is_none = word && (!*word || strcmp(word, "none") == 0);
    if (!word || (!is_none && strcmp(word, "learn") != 0))
        model_refuse_value(reterr, ARGUMENTS "pos_embed", value,
                           "learn, none or empty, as the class takes it");
    json_decref(value);
    return is_none;
}

static void set_number(json_t *values, const char *key, int number)
{
    if (number > 0)
        json_object_set_new(values, key, json_integer(number));
}

/* Set how many tokens come before the patches, and how many of them have rows of the table. */
static void set_prefix(json_t *values, json_t *arguments, const timm_architecture *row,
                       pe_error *reterr)
{
    const bool is_eva = strcmp(row->type, "timm-eva") == 0;
    int tokens = row->class_tokens + row->registers, rows = tokens;
    if (!row->is_distilled) {
        tokens =
            take_number(arguments, ARGUMENTS "class_token", row->class_tokens, reterr) +
            take_number(arguments, is_eva ? ARGUMENTS "num_reg_tokens" : ARGUMENTS "reg_tokens",
                        row->registers, reterr);
        rows = tokens;
        if (take_number(arguments, ARGUMENTS "no_embed_class", row->without_prefix, reterr))
            rows = 0;
    }
    json_object_set_new(values, "prefix_tokens", json_integer(tokens));
    json_object_set_new(values, "prefix_rows", json_integer(rows));
}

/* The sides of the images that the weights were trained with, where these are fixed, as the
 * class takes them; or NULL. */
static json_t *read_fixed_image(const json_t *config, pe_error *reterr)
{
    const json_t *weights = json_object_get(config, "pretrained_cfg");
    const json_t *size = json_object_get(weights, "input_size");
    json_t *height = json_array_get(size, 1), *width = json_array_get(size, 2);
    if (!json_is_true(json_object_get(weights, "fixed_input_size")) || !size)
        return NULL;
    if (json_number_value(height) >= 1 && json_number_value(width) >= 1)
        return json_pack("[O,O]", height, width);
    model_refuse_value(reterr, "pretrained_cfg.input_size", size,
                       "a list of channels, height and width");
    return NULL;
}

/* What the class gets where model_args say nothing. */
static json_t *make_values(const json_t *config, const timm_architecture *row, json_t *notes,
                           pe_error *reterr)
{
    json_error_t ignored;
    json_t *values = row->values ? json_loads(row->values, 0, &ignored) : json_object();
    json_t *image = read_fixed_image(config, reterr);
    set_number(values, "img_size", row->image);
    set_number(values, "patch_size", row->patch);
    set_number(values, "embed_dim", row->width);
    set_number(values, "depth", row->layers);
    set_number(values, "num_heads", row->heads);
    if (image && row->image > 0) {
        json_object_set(values, "img_size", image);
        model_note(notes, "Images have the size of pretrained_cfg.input_size, which is fixed, "
                          "unless model_args has img_size.");
    }
    json_decref(image);
    return values;
}

/* A copy without what is null. */
static json_t *copy_arguments(const json_t *arguments)
{
    json_t *copy = json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)arguments, key, value)
    {
        if (!json_is_null(value))
            json_object_set(copy, key, value);
    }
    return copy;
}

/* Give a config the values of an architecture with its arguments. */
static void set_values(json_t *config, const json_t *given, const timm_architecture *row,
                       json_t *notes, pe_error *reterr)
{
    json_t *arguments = copy_arguments(given);
    json_t *values = make_values(config, row, notes, reterr);
    const char *type = row->type;
    if (strcmp(type, "timm-vit") == 0 || strcmp(type, "timm-eva") == 0)
        set_prefix(values, arguments, row, reterr);
    if (strcmp(type, "timm-eva") != 0)
        refuse_switches(arguments, reterr);
    if (strcmp(type, "timm-vit") == 0 && !row->is_distilled && has_no_table(arguments, reterr))
        type = "timm-none";
    json_object_set_new(config, "model_type", json_string(type));
    json_object_set_new(config, "model_args", arguments);
    json_object_set_new(config, VALUES, values);
}

void model_open_arguments(model_config *config)
{
    json_t *values = json_object_get(config->object, VALUES);
    if (strncmp(config->type->name, "timm-", 5) != 0 || !json_is_object(values) ||
        json_array_append(config->planner->plan->kept, values) != 0)
        return;
    json_object_del(config->object, VALUES);
    config->fallback = values;
    config->object = json_object_get(config->object, "model_args");
    config->path = "model_args";
}

json_t *model_translate_timm(json_t *file, json_t *notes, pe_error *reterr)
{
    const char *name = json_string_value(json_object_get(file, "architecture"));
    timm_architecture row;
    if (!name)
        model_refuse_value(reterr, "architecture", json_object_get(file, "architecture"),
                           "the name of an architecture of timm, a string");
    if (!name || !find_architecture(name, &row, reterr))
        return NULL;
    json_t *given = json_object_get(file, "model_args");
    if (given && !json_is_object(given) && !json_is_null(given)) {
        model_refuse_value(reterr, "model_args", given, "an object or null");
        return NULL;
    }
    json_t *config = json_copy(file);
    set_values(config, given, &row, notes, reterr);
    model_note(notes,
               "The file is a config of timm: what it does not hold is that of the "
               "entry point %.*s of the library.",
               (int)strcspn(row.name, "."), row.name);
    if (reterr->count == 0)
        return config;
    json_decref(config);
    return NULL;
}
