/* Trained tensors. */
#include "trained.h"

#include "dtype.h"
#include "params.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROOT_OF_3      0x1.bb67ae8584caap+0
#define NORMAL_LARGEST 8.66 /* sqrt(-2 log 2^-54) */

const char *const PE_INITIALISERS[] = {
    "normal", "uniform", "xavier_uniform", "xavier_normal", "trunc_normal", "zeros", NULL};

/* The factor of the draws. */
static double scale_of(const pe_recipe *recipe)
{
    switch (recipe->initialiser) {
    case PE_NORMAL:
    case PE_TRUNC_NORMAL:
        return recipe->std;
    case PE_UNIFORM: /* of standard deviation std */
        return ROOT_OF_3 * recipe->std;
    case PE_XAVIER_UNIFORM:
        return sqrt(6 / (double)recipe->fans);
    case PE_XAVIER_NORMAL:
        return sqrt(2 / (double)recipe->fans);
    case PE_ZEROS:
        break;
    }
    return 0;
}

double pe_recipe_magnitude(const pe_recipe *recipe)
{
    double scale = scale_of(recipe);
    switch (recipe->initialiser) {
    case PE_NORMAL:
    case PE_XAVIER_NORMAL:
        return NORMAL_LARGEST * scale;
    case PE_TRUNC_NORMAL:
        return 2 * scale;
    case PE_UNIFORM:
    case PE_XAVIER_UNIFORM:
    case PE_ZEROS:
        break;
    }
    return scale;
}

/* "[3, 4]" with n for an extent that may be anything. */
static void describe_shape(char *dst, size_t size, size_t rank, const uint64_t *shape)
{
    size_t used = (size_t)snprintf(dst, size, "[");
    for (size_t i = 0; i < rank && used < size; i++)
        used += (size_t)(shape[i] ? snprintf(dst + used, size - used, "%s%llu", i ? ", " : "",
                                             (unsigned long long)shape[i])
                                  : snprintf(dst + used, size - used, "%sn", i ? ", " : ""));
    if (used < size)
        snprintf(dst + used, size - used, "]");
}

bool pe_trained_check(const pe_values *values, const char *name, size_t rank,
                      const uint64_t *shape, pe_error *reterr)
{
    const pe_set *set = pe_values_set(values);
    if (!set)
        return true;
    const char *set_name = pe_value_of(values, "parameters")->text;
    const pe_set_tensor *found = pe_set_tensor_find(set, name);
    char given[96], there[64], wanted[64];
    bool fits = found && found->tensor.rank == rank && found->tensor.dtype != PE_I32;
    for (size_t i = 0; fits && i < rank; i++)
        fits = found->tensor.shape[i] > 0 && (!shape[i] || found->tensor.shape[i] == shape[i]);
    if (fits)
        return true;
    if (found) {
        describe_shape(there, sizeof there, found->tensor.rank, found->tensor.shape);
        snprintf(given, sizeof given, "%s with %s %s of %s", set_name, name, there,
                 pe_dtype_name(found->tensor.dtype));
    } else {
        snprintf(given, sizeof given, "%s without %s", set_name, name);
    }
    describe_shape(wanted, sizeof wanted, rank, shape);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "parameters", given,
                 "a set with a tensor %s of shape %s and real elements", name, wanted);
    return false;
}

bool pe_trained_check_index(const char *parameter, double last, uint64_t columns,
                            pe_error *reterr)
{
    char given[PE_PRINT_MAX], limit[PE_PRINT_MAX];
    double most = (double)(UINT64_MAX / columns - 1);
    if (last < most)
        return true;
    pe_error_add(reterr, PE_OUT_OF_RANGE, parameter, pe_plain_number(last, given),
                 "at most %s with %llu columns: a random element has an index below 2^64",
                 pe_plain_number(most, limit), (unsigned long long)columns);
    return false;
}

pe_trained pe_trained_of(const pe_values *values, const char *name, uint64_t columns,
                         const pe_recipe *recipe)
{
    const pe_set *set = pe_values_set(values);
    uint64_t seed = set ? 0 : (uint64_t)pe_integer(values, "seed");
    pe_trained made = {
        .stored = set ? pe_set_tensor_find(set, name) : NULL,
        .columns = columns,
        .generator = pe_generator_of(seed, name),
        .initialiser = recipe->initialiser,
        .scale = scale_of(recipe),
    };
    if (made.stored)
        made.stored_rows = made.stored->tensor.elements / columns;
    return made;
}

static void read_row(const pe_trained *trained, uint64_t start, size_t count,
                     double *ret_elements)
{
    pe_dtype dtype = trained->stored->tensor.dtype;
    size_t size = pe_dtype_size(dtype);
    const unsigned char *data = (const unsigned char *)trained->stored->data + start * size;
    if (dtype == PE_F64) {
        memcpy(ret_elements, data, count * size);
        return;
    }
    if (dtype != PE_F32) {
        for (size_t i = 0; i < count; i++)
            ret_elements[i] = pe_element_value(dtype, data + i * size);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        float element;
        memcpy(&element, data + i * size, size);
        ret_elements[i] = (double)element;
    }
}

static double draw(const pe_trained *trained, uint64_t element)
{
    pe_draw drawn = pe_draw_at(&trained->generator, element);
    switch (trained->initialiser) {
    case PE_NORMAL:
    case PE_XAVIER_NORMAL:
        return trained->scale * pe_draw_normal(drawn);
    case PE_UNIFORM:
    case PE_XAVIER_UNIFORM:
        return trained->scale * pe_draw_uniform(drawn);
    case PE_TRUNC_NORMAL:
        return trained->scale * pe_draw_truncated_normal(drawn);
    case PE_ZEROS:
        break;
    }
    return 0;
}

void pe_trained_row(const pe_trained *trained, uint64_t row, uint64_t first, size_t count,
                    double *ret_elements)
{
    assert(first + count <= trained->columns);
    uint64_t start = row * trained->columns + first;
    if (row < trained->stored_rows)
        read_row(trained, start, count, ret_elements);
    else
        for (size_t i = 0; i < count; i++)
            ret_elements[i] = draw(trained, start + i);
}

bool pe_trained_fits(const pe_trained *trained, pe_dtype dtype)
{
    return !trained->stored ||
           pe_dtype_overflow(trained->stored->tensor.dtype) <= pe_dtype_overflow(dtype);
}

double pe_trained_row_magnitude(const pe_trained *trained, uint64_t row)
{
    double elements[256], largest = 0;
    if (row >= trained->stored_rows)
        return 0;
    for (uint64_t first = 0; first < trained->columns; first += PE_COUNT(elements)) {
        uint64_t rest = trained->columns - first;
        size_t count = rest < PE_COUNT(elements) ? (size_t)rest : PE_COUNT(elements);
        pe_trained_row(trained, row, first, count, elements);
        for (size_t i = 0; i < count; i++)
            largest = fmax(largest, fabs(elements[i]));
    }
    return largest;
}

#define PART 256 /* elements drawn at a time */

void pe_trained_fill(const pe_trained *trained, pe_dtype dtype, uint64_t first, uint64_t rows,
                     void *dst)
{
    unsigned char *at = dst;
    double elements[PART];
    for (uint64_t row = first; row < first + rows; row++)
        for (uint64_t c = 0; c < trained->columns; c += PART) {
            size_t count = trained->columns - c < PART ? (size_t)(trained->columns - c) : PART;
            pe_trained_row(trained, row, c, count, elements);
            pe_round_row(dtype, elements, count, at);
            at += count * pe_dtype_size(dtype);
        }
}

void pe_trained_check_magnitude(const pe_values *values, const pe_trained *trained,
                                const pe_recipe *recipe, uint64_t rows, double factor,
                                pe_error *reterr)
{
    double magnitude = trained->stored ? 0 : pe_recipe_magnitude(recipe);
    for (uint64_t row = 0; trained->stored && row < rows; row++)
        magnitude = fmax(magnitude, pe_trained_row_magnitude(trained, row));
    pe_check_magnitude(values, trained->stored ? "parameters" : "seed", magnitude * factor,
                       reterr);
}
