/* Comparing two plans, part by part. */
#include "models/difference.h"

#include "bytes/text.h"
#include "json/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_WORDS = 80, /* bytes of two values that a sentence holds */
    POSITIONS = 48,     /* that tables are compared at: 0, 1, 2, 3, 4, 6, 8, 12 … */
    POSITIONS_TEXT = POSITIONS * 12,
    ENTRIES = 1 << 20 /* of a table at these positions, at most */
};

const pe_parameter api_model_compare_options[API_MODEL_COMPARE_OPTIONS] = {
    [API_MODEL_COMPARE_STRICT] = {.name = "strict",
                                  .type = PE_BOOLEAN,
                                  .default_text = "false",
                                  .help = "true: the answer to models that differ is 409"},
    [API_MODEL_COMPARE_AGAINST] = {.name = "against",
                                   .type = PE_TEXT,
                                   .help = "where the body is a GGUF file: the name of the "
                                           "model that it is compared with"},
};

/* Two plans while they are compared. */
typedef struct pair {
    const api_model_plan *plans[2];
    json_t *differences, *tables;
    api_text summary;
    const pe_runner *runner;
    pe_error *error;
} pair;

static const api_model_part *find_part(const api_model_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->part_count; i++)
        if (strcmp(plan->parts[i].name, name) == 0)
            return &plan->parts[i];
    return NULL;
}

static const pe_argument *find_argument(const api_model_part *part, const char *name)
{
    return api_argument_find(part->arguments, part->count, name);
}

/* ---- lists of differences ---- */

/* A value in words; NULL without memory. From malloc. */
static char *word_value(const json_t *value)
{
    return json_is_null(value) ? strdup("absent")
                               : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
}

/* Add to the sentence what a value is in each plan; a long one is only said to differ. */
static void word_difference(pair *both, const char *part, const char *kind, const char *about,
                            const json_t *first, const json_t *second)
{
    char *one = word_value(first), *other = word_value(second);
    api_text_add(&both->summary, "%s%s: %s%s ", both->summary.size > 0 ? "; " : "", part, kind,
                 about);
    if (!one || !other)
        api_document_spoil();
    else if (strlen(one) + strlen(other) < LONGEST_WORDS)
        api_text_add(&both->summary, "is %s in the first and %s in the second", one, other);
    else
        api_text_add(&both->summary, "differs");
    free(one);
    free(other);
}

/* Add one difference between values of a kind, "argument " or "" for what the plan says
 * itself; consumes both. */
static void add_named_difference(pair *both, const char *part, const char *kind,
                                 const char *about, json_t *first, json_t *second)
{
    word_difference(both, part, kind, about, first, second);
    json_array_append_new(both->differences,
                          json_pack("{s:s, s:s, s:o, s:o}", "part", part, "about", about,
                                    "first", first, "second", second));
}

static void add_difference(pair *both, const char *part, const char *about, json_t *first,
                           json_t *second)
{
    add_named_difference(both, part, "", about, first, second);
}

static void compare_text(pair *both, const char *part, const char *about, const char *first,
                         const char *second)
{
    if (strcmp(first ? first : "", second ? second : "") != 0)
        add_difference(both, part, about, first ? json_string(first) : json_null(),
                       second ? json_string(second) : json_null());
}

static json_t *describe_value(const pe_argument *argument)
{
    return argument ? model_argument_value(argument) : json_null();
}

/* The arguments of the requests: a config may have keys of their names that no scheme needs. */
static void compare_arguments(pair *both, const api_model_part *first,
                              const api_model_part *second)
{
    for (size_t i = 0; i < first->count; i++) {
        const pe_argument *one = &first->arguments[i];
        const pe_argument *other = find_argument(second, one->name);
        if (!other || strcmp(one->text, other->text) != 0)
            add_named_difference(both, first->name, "argument ", one->name, describe_value(one),
                                 describe_value(other));
    }
    for (size_t i = 0; i < second->count; i++)
        if (!find_argument(first, second->arguments[i].name))
            add_named_difference(both, first->name, "argument ", second->arguments[i].name,
                                 json_null(), describe_value(&second->arguments[i]));
}

/* Facts of a part without a request: everything that there is to know. */
static void compare_facts(pair *both, const api_model_part *first, const api_model_part *second)
{
    const char *name;
    json_t *fact;
    json_object_foreach(first->facts, name, fact)
    {
        json_t *one = json_object_get(fact, "value");
        json_t *other = json_object_get(json_object_get(second->facts, name), "value");
        if (!other || !json_equal(one, other))
            add_difference(both, first->name, name, json_incref(one),
                           other ? json_incref(other) : json_null());
    }
}

static void compare_layers(pair *both, const api_model_part *first,
                           const api_model_part *second)
{
    json_t *one = model_list_layers(both->plans[0], (size_t)(first - both->plans[0]->parts));
    json_t *other = model_list_layers(both->plans[1], (size_t)(second - both->plans[1]->parts));
    if (!json_equal(one, other))
        add_difference(both, first->name, "layers", json_incref(one), json_incref(other));
    json_decref(one);
    json_decref(other);
}

/* ---- tables ---- */

/* The positions at which tables are compared, below `rows`; their number. */
static size_t draw_positions(double rows, double positions[POSITIONS])
{
    size_t count = 0;
    for (uint64_t power = 1; count < POSITIONS - 3 && (double)power < rows; power *= 2) {
        positions[++count] = (double)power;
        if (power > 1 && (double)power * 1.5 < rows)
            positions[++count] = (double)power * 1.5;
    }
    positions[0] = 0;
    if (count > 0 && positions[count] < rows - 1)
        positions[++count] = rows - 1;
    return count + 1;
}

/* The positions that the config allows; 0: it does not say. */
static double count_positions(const api_model_part *part)
{
    const json_t *fact = json_object_get(part->facts, "positions");
    return json_number_value(json_object_get(fact, "value"));
}

/* The rows of the request, or as many as the config allows. */
static double count_rows(const api_model_part *part)
{
    const pe_argument *length = find_argument(part, "length");
    return fmax(length ? strtod(length->text, NULL) : 0, count_positions(part));
}

static bool is_about_rows(const char *name)
{
    return strcmp(name, "length") == 0 || strcmp(name, "offset") == 0 ||
           strcmp(name, "dtype") == 0;
}

/* The part's table at some positions, in f64; NULL where the scheme has none. */
static pe_table *compute_positions(const pair *both, const api_model_part *part,
                                   const char *positions)
{
    pe_argument arguments[API_PART_ARGUMENTS + 2];
    size_t count = 0;
    pe_request *request = NULL;
    pe_table *table = NULL;
    const pe_limits limits = {
        .elements = ENTRIES, .table_bytes = ENTRIES * sizeof(double), .list_length = POSITIONS};
    for (size_t i = 0; i < part->count; i++)
        if (!is_about_rows(part->arguments[i].name))
            arguments[count++] = part->arguments[i];
    arguments[count++] =
        (pe_argument){.name = "positions", .text = positions, .kind = PE_KIND_LIST};
    arguments[count++] = (pe_argument){.name = "dtype", .text = "f64", .kind = PE_KIND_STRING};
    if (pe_request_new(pe_scheme_find(part->scheme), arguments, count, &limits, &request,
                       both->error) == PE_OK)
        pe_table_compute(request, both->runner, &table, both->error);
    pe_request_unref(request);
    return table;
}

/* Add how far two tensors of the same shape are apart. */
static void add_distance(pair *both, const api_model_part *part, const pe_tensor *tensor,
                         const double *one, const double *other, const double *positions)
{
    size_t rows = (size_t)tensor->shape[0], columns = 0, worst = 0, from = rows;
    double largest = 0;
    for (size_t axis = 1; axis < tensor->rank; axis++)
        columns = columns ? columns * (size_t)tensor->shape[axis] : (size_t)tensor->shape[axis];
    for (size_t i = 0; i < rows * columns; i++) {
        double error = fabs(one[i] - other[i]);
        if (error > 0 && i / columns < from)
            from = i / columns;
        if (error > largest) {
            largest = error;
            worst = i / columns;
        }
    }
    if (largest == 0)
        return;
    api_text_add(&both->summary,
                 "; %s.%s is another from position %.0f on, by %.3g at position %.0f",
                 part->name, tensor->name, positions[from], largest, positions[worst]);
    json_array_append_new(both->tables,
                          json_pack("{s:s, s:s, s:f, s:o, s:o}", "part", part->name, "tensor",
                                    tensor->name, "largest_error", largest, "at_position",
                                    api_document_number(positions[worst]), "first_position",
                                    api_document_number(positions[from])));
}

static bool has_shape(const pe_tensor *one, const pe_tensor *other, size_t rows)
{
    return one->dtype == PE_F64 && other->dtype == PE_F64 && one->rank == other->rank &&
           one->rank > 1 && one->shape[0] == rows &&
           memcmp(one->shape, other->shape, one->rank * sizeof *one->shape) == 0;
}

static void compare_tensors(pair *both, const api_model_part *part, const pe_table *tables[2],
                            const double *positions, size_t rows)
{
    for (size_t i = 0; i < pe_table_tensor_count(tables[0]); i++)
        for (size_t j = 0; j < pe_table_tensor_count(tables[1]); j++) {
            const pe_tensor *one = pe_table_tensor(tables[0], i);
            const pe_tensor *other = pe_table_tensor(tables[1], j);
            if (strcmp(one->name, other->name) == 0 && has_shape(one, other, rows))
                add_distance(both, part, one, pe_table_data(tables[0], i),
                             pe_table_data(tables[1], j), positions);
        }
}

static bool takes_positions(const char *scheme)
{
    const pe_scheme *found = scheme ? pe_scheme_find(scheme) : NULL;
    return found && pe_parameter_find(pe_scheme_describe(found), "positions");
}

static void compare_tables(pair *both, const api_model_part *first,
                           const api_model_part *second)
{
    double positions[POSITIONS];
    char text[POSITIONS_TEXT];
    size_t used = 0;
    if (first->state != API_PART_COMPUTED || second->state != API_PART_COMPUTED ||
        !takes_positions(first->scheme) || !takes_positions(second->scheme))
        return;
    size_t rows = draw_positions(fmax(count_rows(first), count_rows(second)), positions);
    for (size_t i = 0; i < rows; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.0f", i > 0 ? "," : "",
                                 positions[i]);
    pe_table *one = compute_positions(both, first, text);
    pe_table *other = one ? compute_positions(both, second, text) : NULL;
    if (one && other)
        compare_tensors(both, first, (const pe_table *[2]){one, other}, positions, rows);
    pe_table_unref(one);
    pe_table_unref(other);
}

/* ---- the whole ---- */

static bool are_same_requests(const pe_request *first, const pe_request *second)
{
    size_t lengths[2];
    if (!first || !second)
        return !first && !second;
    const char *one = pe_request_key(first, &lengths[0]);
    const char *other = pe_request_key(second, &lengths[1]);
    return lengths[0] == lengths[1] && memcmp(one, other, lengths[0]) == 0;
}

/* Rows that one config allows and the other does not, of requests for as many rows. */
static void compare_positions(pair *both, const api_model_part *first,
                              const api_model_part *second)
{
    const double one = count_positions(first), other = count_positions(second);
    const pe_argument *length = find_argument(first, "length");
    const pe_argument *other_length = find_argument(second, "length");
    if (one == other || one == 0 || other == 0 || !length || !other_length ||
        strcmp(length->text, other_length->text) != 0)
        return;
    add_difference(both, first->name, "positions", api_document_number(one),
                   api_document_number(other));
    api_text_add(&both->summary,
                 "; rows from position %.0f on are past the length of the %s, which is %.0f",
                 fmin(one, other), one < other ? "first" : "second", fmin(one, other));
}

static void compare_parts(pair *both, const api_model_part *first, const api_model_part *second)
{
    compare_text(both, first->name, "kind", first->kind, second->kind);
    compare_text(both, first->name, "scheme", first->scheme, second->scheme);
    compare_text(both, first->name, "pairing", first->pairing, second->pairing);
    compare_layers(both, first, second);
    if (!first->request || !second->request)
        compare_facts(both, first, second);
    else if (!are_same_requests(first->request, second->request)) {
        compare_arguments(both, first, second);
        compare_tables(both, first, second);
    }
    if (first->request && second->request)
        compare_positions(both, first, second);
}

static json_t *describe_side(const api_model_plan *plan)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < plan->part_count; i++)
        json_array_append_new(parts, json_string(plan->parts[i].name));
    return json_pack("{s:s, s:s*, s:s, s:o, s:O, s:O}", "model_type", plan->model_type,
                     "family", plan->family, "convention", plan->options->convention_name,
                     "parts", parts, "notes", plan->notes, "not_used", plan->not_used);
}

/* The sentence of all differences, or that there is none. */
static json_t *summarise_differences(pair *both, size_t parts)
{
    if (json_array_size(both->differences) == 0) {
        free(api_text_take(&both->summary));
        return json_sprintf("Both have the same %zu part%s.", parts, parts == 1 ? "" : "s");
    }
    api_text_add(&both->summary, ".");
    char *text = api_text_take(&both->summary);
    json_t *sentence = json_string(text ? text : "");
    if (!text)
        api_document_spoil();
    free(text);
    return sentence;
}

/* The entries of a part's table at the positions, at most. */
static uint64_t count_entries(const api_model_part *part)
{
    uint64_t entries = 0;
    if (!part->request || !takes_positions(part->scheme))
        return 0;
    for (size_t i = 0; i < pe_request_tensor_count(part->request); i++) {
        const pe_tensor *tensor = pe_request_tensor(part->request, i);
        entries += tensor->rows > 0 ? tensor->elements / tensor->rows * POSITIONS : 0;
    }
    return entries < ENTRIES ? entries : ENTRIES;
}

double api_model_difference_price(const api_model_plan *first, const api_model_plan *second,
                                  uint64_t *ret_bytes)
{
    enum { PART = 1 << 20, ENTRY = 64 }; /* multiply-adds of a part and of an entry */
    const api_model_plan *const plans[] = {first, second};
    double price = (double)(first->part_count + second->part_count) * PART;
    uint64_t most = 0;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < plans[side]->part_count; i++) {
            const uint64_t entries = count_entries(&plans[side]->parts[i]);
            price += (double)entries * ENTRY;
            most = entries > most ? entries : most;
        }
    *ret_bytes = 2 * sizeof(double) * most;
    return price;
}

json_t *api_model_difference(const api_model_plan *first, const api_model_plan *second,
                             const pe_runner *runner, bool *ret_equal, pe_error *reterr)
{
    pair both = {.plans = {first, second},
                 .runner = runner,
                 .differences = json_array(),
                 .tables = json_array(),
                 .error = reterr};
    for (size_t i = 0; i < first->part_count; i++) {
        const api_model_part *part = &first->parts[i];
        const api_model_part *other = find_part(second, part->name);
        if (other)
            compare_parts(&both, part, other);
        else
            add_difference(&both, part->name, "part", json_string(part->kind), json_null());
    }
    for (size_t i = 0; i < second->part_count; i++)
        if (!find_part(first, second->parts[i].name))
            add_difference(&both, second->parts[i].name, "part", json_null(),
                           json_string(second->parts[i].kind));
    *ret_equal = json_array_size(both.differences) == 0;
    return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o}", "equal", *ret_equal, "summary",
                     summarise_differences(&both, first->part_count), "first",
                     describe_side(first), "second", describe_side(second), "differences",
                     both.differences, "tables", both.tables);
}
