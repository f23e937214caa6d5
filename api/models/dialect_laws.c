/* What files of other libraries mean beyond the rules of their tables. */
#include "models/other_files.h"

#include "models/planning.h"
#include "models/rotary_planning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void model_set_path(json_t *object, const char *path, json_t *value)
{
    size_t length = strcspn(path, ".");
    if (!path[length]) {
        json_object_set_new(object, path, value);
        return;
    }
    if (!json_object_getn(object, path, length))
        json_object_setn_new(object, path, length, json_object());
    model_set_path(json_object_getn(object, path, length), path + length + 1, value);
}

static double read_number(const model_reading *r, const char *path, double otherwise)
{
    const json_t *value = model_find_path(r->config, path);
    const char *theirs = json_string_value(json_object_get(r->paths, path));
    if (value && !json_is_number(value))
        model_refuse_value(r->error, theirs ? theirs : path, value, "a number");
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static bool has_value(const model_reading *r, const char *path, const char *word)
{
    const char *given = json_string_value(model_find_path(r->config, path));
    return given && strcmp(given, word) == 0;
}

/* The columns that turn, as far as the config says. */
static double count_columns(const model_reading *r)
{
    double head =
        read_number(r, "hidden_size", NAN) / read_number(r, "num_attention_heads", NAN);
    return floor(read_number(r, "head_dim", head) * read_number(r, "partial_rotary_factor", 1));
}

/* Divide frequencies by a list of numbers, which come from a path of the config. */
static void set_divisors(const model_reading *r, json_t *divisors, const char *from)
{
    double longest = read_number(r, "max_position_embeddings", 4096);
    json_object_set_new(r->config, "rope_scaling", model_pack_divisors(divisors, longest));
    json_object_set(r->paths, "rope_scaling.short_factor", json_object_get(r->paths, from));
    json_object_set(r->paths, "rope_scaling.long_factor", json_object_get(r->paths, from));
}

/* What Llama 3.1's law divides the frequency of a pair by. */
static double read_llama3(const model_reading *r, double pair, double width)
{
    double theta = read_number(r, "rope_theta", 10000);
    return model_llama3_divisor(
        2 * 3.14159265358979323846 * pe_power_double(theta, 2 * pair / width),
        read_number(r, "rope_scaling.factor", 8),
        read_number(r, "rope_scaling.original_max_position_embeddings", 8192));
}

/* Positions that are divided by a number: so are all frequencies, beside another law. */
void model_divide_positions(model_reading *r)
{
    static const char key[] = "positions_divided_by", type[] = "rope_scaling.rope_type";
    double divisor = read_number(r, key, 1), width = count_columns(r);
    bool is_llama3 = has_value(r, type, "llama3");
    json_object_del(r->config, key);
    if (divisor == 1 || has_value(r, type, "yarn"))
        return;
    if (has_value(r, "positions", "two_tables") ||
        (is_llama3 && (read_number(r, "rope_scaling.low_freq_factor", 1) != 1 ||
                       read_number(r, "rope_scaling.high_freq_factor", 4) != 4))) {
        model_refuse_value(r->error, json_string_value(json_object_get(r->paths, key)), NULL,
                           "1 beside these other keys");
    } else if (is_llama3 && width >= 2 && width <= 65536) {
        json_t *divisors = json_array();
        for (unsigned i = 0; i < (unsigned)width / 2; i++)
            json_array_append_new(divisors, json_real(divisor * read_llama3(r, i, width)));
        set_divisors(r, divisors, key);
    } else {
        divisor *= has_value(r, type, "linear") ? read_number(r, "rope_scaling.factor", 1) : 1;
        model_set_path(r->config, type, json_string("linear"));
        model_set_path(r->config, "rope_scaling.factor", json_real(divisor));
        json_object_set(r->paths, "rope_scaling", json_object_get(r->paths, key));
        json_object_set(r->paths, "rope_scaling.factor", json_object_get(r->paths, key));
    }
}

/* GTE with mixed_b: frequencies are divided by powers of the factor that grow with the pair. */
void model_own_gte(model_reading *r)
{
    double factor = read_number(r, "rope_scaling.factor", 1), width = count_columns(r);
    double mixed = read_number(r, "rope_scaling.mixed_b", NAN);
    if (isnan(mixed) || !(width >= 2 && width <= 65536))
        return;
    json_t *divisors = json_array();
    for (unsigned i = 1; i <= (unsigned)width / 2; i++)
        json_array_append_new(divisors, json_real(pe_power_double(
                                            factor, pe_power_double(2.0 * i / width, mixed))));
    set_divisors(r, divisors, "rope_scaling.factor");
}

static double yarn_scale(double factor, double mscale)
{
    return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

/* Megatron: YaRN's attention factor is a quotient, whatever mscale and mscale_all_dim are. */
void model_own_megatron(model_reading *r)
{
    static const char attention[] = "rope_scaling.attention_factor";
    double factor = read_number(r, "rope_scaling.factor", 1);
    double scale = yarn_scale(factor, read_number(r, "rope_scaling.mscale", 1));
    double all = yarn_scale(factor, read_number(r, "rope_scaling.mscale_all_dim", 0));
    if (has_value(r, "rope_scaling.rope_type", "yarn")) {
        json_t *scaling = json_object_get(r->config, "rope_scaling");
        const char *named = model_find_path(scaling, "mscale") ? "rope_scaling.mscale"
                                                               : "rope_scaling.mscale_all_dim";
        model_set_path(r->config, attention, json_real(scale / all));
        json_object_set(r->paths, attention, json_object_get(r->paths, named));
        json_object_del(scaling, "mscale");
        if (!r->is_latent) /* latent attention has a scale of scores, too */
            json_object_del(scaling, "mscale_all_dim");
    }
    model_divide_positions(r);
}

/* DeepSeek, gpt-oss: YaRN is for more positions than the original ones alone, and reaches so
 * many times as far. */
void model_own_length(model_reading *r)
{
    double original = read_number(r, "rope_scaling.original_max_position_embeddings", 4096);
    if (read_number(r, "max_position_embeddings", INFINITY) <= original)
        json_object_del(r->config, "rope_scaling");
    else
        model_set_path(r->config, "max_position_embeddings",
                       json_real(original * read_number(r, "rope_scaling.factor", 1)));
}

/* ---- GGUF ---- */

static const struct architecture {
    const char *name, *model_type;
    const char *with; /* a key that the file has; NULL: any file */
    bool permuted;
} ARCHITECTURES[] = {
#define ARCHITECTURE(its_name, its_type, ...)                                                  \
    {.name = (its_name), .model_type = (its_type), __VA_ARGS__},
#include "models/gguf_architectures.def"
#undef ARCHITECTURE
};
#define ARCHITECTURE_COUNT (sizeof ARCHITECTURES / sizeof *ARCHITECTURES)

static const struct architecture *find_architecture(const json_t *pairs, const char *name,
                                                    pe_error *reterr)
{
    const char *names[ARCHITECTURE_COUNT];
    for (size_t i = 0; i < ARCHITECTURE_COUNT; i++) {
        const struct architecture *row = &ARCHITECTURES[i];
        names[i] = row->name;
        if (name && strcmp(row->name, name) == 0 &&
            (!row->with || json_object_get(pairs, row->with)))
            return row;
    }
    pe_problem *problem =
        pe_error_add(reterr, PE_OUT_OF_RANGE, "general.architecture", name ? name : "",
                     "one of llama.cpp's architectures whose keys are known, such as llama, "
                     "qwen3 or gemma3; or send the model's config.json");
    problem->reason = PE_REASON_CHOICE;
    pe_problem_suggest(problem,
                       name ? pe_find_nearest_name(name, names, ARCHITECTURE_COUNT) : NULL);
    return NULL;
}

/* What `gguf-dump --json` wraps each value in. */
static json_t *unwrap_value(json_t *value)
{
    json_t *inner = json_object_get(value, "value");
    return inner ? inner : value;
}

/* Take a value of a key: a list with a number for each layer is that number where all agree. */
static void take_pair(const model_reading *r, const char *key, json_t *value)
{
    bool is_list = model_lists("rope.dimension_sections attention.sliding_window_pattern", key);
    json_t *first = is_list ? NULL : json_array_get(value, 0);
    for (size_t i = 1; first && i < json_array_size(value); i++)
        if (!json_equal(first, json_array_get(value, i))) {
            model_note(r->notes, "%s%s differs between layers and is not read.", r->prefix,
                       key);
            return;
        }
    json_object_set(r->file, key, first ? first : value);
}

/* Take the tensors that divide frequencies; one whose numbers are not there is a problem.
 * `gguf-dump --json` lists tensors without them. */
static void take_tensors(const model_reading *r, const json_t *pairs, const json_t *tensors)
{
    static const char *const NAMES[] = {"rope_freqs.weight", "rope_factors_long.weight",
                                        "rope_factors_short.weight"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        json_t *found = json_object_get(pairs, NAMES[i]);
        found = found ? found : json_object_get(tensors, NAMES[i]);
        if (found && !json_is_array(found))
            pe_error_add(r->error, PE_OUT_OF_RANGE, "body", NAMES[i],
                         "the file up to the numbers of this tensor, which divide the "
                         "frequencies; or the config.json");
        json_object_set(r->file, NAMES[i], found);
    }
}

json_t *model_open_gguf(json_t *file, model_reading *r)
{
    json_t *inner = json_object_get(file, "metadata"), *value;
    json_t *pairs = json_is_object(inner) ? inner : file;
    const json_t *tensors = json_object_get(file, "tensors"),
                 *cut = json_object_get(pairs, "cut");
    json_t *named = unwrap_value(json_object_get(pairs, "general.architecture"));
    const struct architecture *known =
        named ? find_architecture(pairs, json_string_value(named), r->error) : NULL;
    if (!known)
        return NULL;
    const size_t length = (size_t)snprintf(r->prefix, sizeof r->prefix, "%s.", known->name);
    const char *key;
    r->file = json_object();
    json_object_foreach(pairs, key, value)
    {
        if (strncmp(key, r->prefix, length) == 0)
            take_pair(r, key + length, unwrap_value(value));
    }
    take_tensors(r, pairs, tensors);
    json_object_set_new(r->file, "general.architecture", json_string(known->model_type));
    json_object_set_new(r->file, "permuted", json_boolean(known->permuted));
    json_object_set_new(r->file, "cut", json_boolean(cut ? json_is_true(cut) : !tensors));
    return r->file;
}

/* Whether divisors are those of Llama 3.1's law in the config. */
static bool are_llama3(const model_reading *r, const json_t *divisors)
{
    size_t count = json_array_size(divisors);
    for (size_t i = 0; i < count; i++) {
        double wanted = read_llama3(r, (double)i, 2 * (double)count);
        double given = json_number_value(json_array_get(divisors, i));
        if (!(fabs(given - wanted) <= 1e-5 * wanted))
            return false;
    }
    return count > 0;
}

/* Scale as a tensor of divisors does: by a published law, or by the divisors. */
static void take_divisors(const model_reading *r, json_t *divisors)
{
    static const double FACTORS[] = {8, 32, 16, 2, 4};
    for (size_t i = 0; i < sizeof FACTORS / sizeof *FACTORS; i++) {
        json_object_set_new(r->config, "rope_scaling", model_pack_llama3(FACTORS[i]));
        if (are_llama3(r, divisors))
            return;
    }
    set_divisors(r, json_incref(divisors), "divisors");
}

/* The part of a head that turns, a factor alone, one that YaRN's is multiplied by, and sections
 * that are padded with a zero. */
void model_own_gguf(model_reading *r)
{
    static const char attention[] = "rope_scaling.attention_factor";
    static const char type[] = "rope_scaling.rope_type";
    json_t *divisors = model_find_path(r->config, "divisors");
    json_t *sections = model_find_path(r->config, "rope_scaling.mrope_section");
    double width = read_number(r, "rotary_width", NAN), head = count_columns(r);
    double factor = read_number(r, "rope_scaling.factor", NAN);
    double multiplier = read_number(r, attention, NAN);
    if (width != head && width > 0 && head > 0 &&
        !json_object_get(r->config, "qk_rope_head_dim")) {
        model_set_path(r->config, "partial_rotary_factor", json_real(width / head));
        json_object_set(r->paths, "partial_rotary_factor",
                        json_object_get(r->paths, "rotary_width"));
    }
    if (!isnan(factor) && has_value(r, type, "default"))
        model_set_path(r->config, type, json_string("linear"));
    if (factor > 1 && multiplier > 0 && has_value(r, type, "yarn"))
        model_set_path(r->config, attention, json_real(multiplier * yarn_scale(factor, 1)));
    if (json_array_size(sections) > 3) {
        sections = json_copy(sections);
        while (json_array_size(sections) > 3)
            json_array_remove(sections, json_array_size(sections) - 1);
        model_set_path(r->config, "rope_scaling.mrope_section", sections);
    }
    if (divisors && !has_value(r, type, "longrope"))
        take_divisors(r, divisors);
    json_object_del(r->config, "rotary_width");
    json_object_del(r->config, "divisors");
}
