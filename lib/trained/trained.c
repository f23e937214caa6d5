/* Reading stored tensors and drawing random ones. */
#include "trained/trained.h"

#include "kernels/intervals.h"
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "requests/parameters.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROOT_OF_3      0x1.bb67ae8584caap+0
#define NORMAL_LARGEST 8.66 /* the largest normal draw, sqrt(-2 log 2^-54), rounded up */

const char *const pe_initialisers[] = {
    "normal", "uniform", "xavier_uniform", "xavier_normal", "trunc_normal", "zeros", NULL};

const pe_distribution pe_relative_distribution = {.initialiser = PE_NORMAL, .std = 0.02};

/* The factor that draws of the standard distribution are multiplied by. */
static double find_scale(const pe_distribution *distribution)
{
    switch (distribution->initialiser) {
    case PE_NORMAL:
    case PE_TRUNC_NORMAL:
        return distribution->std;
    case PE_UNIFORM: /* uniform on ±√3·std has standard deviation std */
        return ROOT_OF_3 * distribution->std;
    case PE_XAVIER_UNIFORM:
        return sqrt(6 / (double)distribution->fans);
    case PE_XAVIER_NORMAL:
        return sqrt(2 / (double)distribution->fans);
    case PE_ZEROS:
        break;
    }
    return 0;
}

static double largest_draw(pe_initialiser initialiser, double scale)
{
    switch (initialiser) {
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

double pe_distribution_magnitude(const pe_distribution *distribution)
{
    return largest_draw(distribution->initialiser, find_scale(distribution));
}

pe_weights pe_weights_read(const pe_values *values)
{
    pe_weights weights = {.set = pe_values_set(values), .dtype = pe_requested_dtype(values)};
    if (weights.set)
        weights.set_name = pe_value_find(values, "set")->text;
    else
        weights.seed = (uint64_t)pe_get_integer(values, "seed");
    return weights;
}

/* Write a shape such as "[3, 4]", with n for an extent of 0, which stands for any extent. */
static void describe_shape(char *dst, size_t size, size_t rank, const uint64_t *shape)
{
    size_t used = (size_t)snprintf(dst, size, "[");
    for (size_t i = 0; i < rank && used < size; i++) {
        char extent[24] = "n";
        if (shape[i] > 0)
            snprintf(extent, sizeof extent, "%llu", (unsigned long long)shape[i]);
        used += (size_t)snprintf(dst + used, size - used, "%s%s", i ? ", " : "", extent);
    }
    if (used < size)
        snprintf(dst + used, size - used, "]");
}

/* Whether a tensor is real and has the rank and the extents of `shape` that are not 0. */
static bool fits_shape(const pe_tensor *tensor, size_t rank, const uint64_t *shape)
{
    bool fits = tensor->rank == rank && tensor->dtype != PE_I32;
    for (size_t i = 0; fits && i < rank; i++)
        fits = tensor->shape[i] > 0 && (!shape[i] || tensor->shape[i] == shape[i]);
    return fits;
}

bool pe_trained_check(const pe_weights *weights, const char *name, size_t rank,
                      const uint64_t *shape, pe_error *reterr)
{
    if (!weights->set)
        return true;
    const pe_set_tensor *stored = pe_set_tensor_find(weights->set, name);
    if (stored && fits_shape(&stored->tensor, rank, shape))
        return true;
    const char *set_name = weights->set_name;
    char given[96], given_shape[64], wanted_shape[64];
    if (stored) {
        describe_shape(given_shape, sizeof given_shape, stored->tensor.rank,
                       stored->tensor.shape);
        snprintf(given, sizeof given, "%s with %s %s of %s", set_name, name, given_shape,
                 pe_dtype_name(stored->tensor.dtype));
    } else {
        snprintf(given, sizeof given, "%s without %s", set_name, name);
    }
    describe_shape(wanted_shape, sizeof wanted_shape, rank, shape);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "set", given,
                 "the name of a set with a tensor %s of shape %s and real elements", name,
                 wanted_shape);
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
                 "at most %s with %llu columns, since the index of an element is below 2^64",
                 pe_plain_number(most, limit), (unsigned long long)columns);
    return false;
}

pe_trained pe_trained_find(const pe_weights *weights, const char *name, uint64_t columns,
                           const pe_distribution *distribution)
{
    pe_trained trained = {
        .stored = weights->set ? pe_set_tensor_find(weights->set, name) : NULL,
        .columns = columns,
        .generator = pe_generator_init(weights->seed, name),
        .initialiser = distribution->initialiser,
        .scale = find_scale(distribution),
    };
    if (trained.stored)
        trained.stored_rows = trained.stored->tensor.elements / columns;
    return trained;
}

/* Read `count` stored elements from index `start` on. */
static void read_stored(const pe_trained *trained, uint64_t start, size_t count,
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

/* Draw the variables of elements [first, first + count), count <= PE_DRAWS: many at a time if
 * there is a kernel for that, which leaves NaN where it does not decide, and `one` by one. */
static void draw_variables(const pe_trained *trained, uint64_t first, size_t count,
                           pe_draw_variables *many, double (*one)(pe_draw draw),
                           double ret_drawn[PE_DRAWS])
{
    pe_draws draws;
    pe_kernel_get()->draw(&trained->generator, first, count, &draws);
    if (many)
        many(&draws, count, ret_drawn);
    for (size_t i = 0; i < count; i++)
        if (!many || isnan(ret_drawn[i]))
            ret_drawn[i] = one((pe_draw){draws.u[i], draws.v[i]});
}

/* Draw elements [first, first + count), count <= PE_DRAWS. */
static void draw_elements(const pe_trained *trained, uint64_t first, size_t count,
                          double *ret_elements)
{
    const pe_kernel *kernel = pe_kernel_get();
    double drawn[PE_DRAWS] = {0};
    switch (trained->initialiser) {
    case PE_NORMAL:
    case PE_XAVIER_NORMAL:
        draw_variables(trained, first, count, kernel->normals, pe_draw_normal, drawn);
        break;
    case PE_UNIFORM:
    case PE_XAVIER_UNIFORM:
        draw_variables(trained, first, count, NULL, pe_draw_uniform, drawn);
        break;
    case PE_TRUNC_NORMAL:
        draw_variables(trained, first, count, kernel->truncated, pe_draw_truncated_normal,
                       drawn);
        break;
    case PE_ZEROS:
        break;
    }
    for (size_t i = 0; i < count; i++)
        ret_elements[i] = trained->scale * drawn[i];
}

/* Read or draw elements [start, start + count) of the whole tensor. */
static void get_elements(const pe_trained *trained, uint64_t start, size_t count,
                         double *ret_elements)
{
    uint64_t stored = trained->stored_rows * trained->columns;
    size_t done = 0;
    if (start < stored) {
        done = stored - start < count ? (size_t)(stored - start) : count;
        read_stored(trained, start, done, ret_elements);
    }
    for (size_t part; done < count; done += part) {
        part = count - done < PE_DRAWS ? count - done : PE_DRAWS;
        draw_elements(trained, start + done, part, ret_elements + done);
    }
}

void pe_trained_row(const pe_trained *trained, uint64_t row, uint64_t first, size_t count,
                    double *ret_elements)
{
    assert(first + count <= trained->columns);
    get_elements(trained, row * trained->columns + first, count, ret_elements);
}

bool pe_trained_fits(const pe_trained *trained, pe_dtype dtype)
{
    return !trained->stored ||
           pe_dtypes[trained->stored->tensor.dtype].overflow <= pe_dtypes[dtype].overflow;
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

/* ---- elements of a dtype ---- */

#define PART 256 /* elements computed at a time */

/* How elements of a short dtype are drawn near their numbers first, which nearly always says
 * how they are rounded; `many` is NULL if they are not. The error is that of the variable, of
 * its product with the scale, and of that of the exact one, relative to the scale. */
typedef struct near_draw {
    pe_draw_variables *many;
    double (*one)(pe_draw draw); /* where `many` gives none */
    double error;
} near_draw;

static near_draw find_near_draw(const pe_trained *trained, pe_dtype dtype)
{
    const pe_kernel *kernel = pe_kernel_get();
    if (!pe_dtype_is_short(dtype))
        return (near_draw){0};
    switch (trained->initialiser) {
    case PE_NORMAL:
    case PE_XAVIER_NORMAL:
        return (near_draw){kernel->near_normals, pe_draw_normal,
                           PE_NEAR_NORMAL + NORMAL_LARGEST * 0x1p-52};
    case PE_TRUNC_NORMAL:
        return (near_draw){kernel->near_truncated, pe_draw_truncated_normal,
                           PE_NEAR_TRUNCATED + 2 * 0x1p-52};
    case PE_UNIFORM:
    case PE_XAVIER_UNIFORM:
    case PE_ZEROS:
        break;
    }
    return (near_draw){0};
}

/* Drawn elements from index `first` on, of a dtype. */
typedef struct drawn_elements {
    const pe_trained *trained;
    uint64_t first;
    pe_dtype dtype;
} drawn_elements;

/* A pe_settle: draw one of them as it is. */
static void settle_element(const void *context, size_t i, void *dst)
{
    const drawn_elements *own = context;
    double element[PE_DRAWS];
    draw_elements(own->trained, own->first + i, 1, element);
    pe_round_row(own->dtype, element, 1, dst);
}

/* Draw elements [first, first + count), count <= PE_DRAWS. */
static void fill_nearly(const pe_trained *trained, near_draw near, pe_dtype dtype,
                        uint64_t first, size_t count, void *dst)
{
    const drawn_elements own = {trained, first, dtype};
    double elements[PE_DRAWS];
    draw_variables(trained, first, count, near.many, near.one, elements);
    for (size_t i = 0; i < count; i++)
        elements[i] *= trained->scale;
    pe_round_about(dtype, elements, near.error * trained->scale, count, settle_element, &own,
                   dst);
}

void pe_trained_fill(const pe_trained *trained, pe_dtype dtype, uint64_t first, uint64_t rows,
                     void *dst)
{
    unsigned char *at = dst;
    double elements[PART];
    uint64_t element = first * trained->columns, count = rows * trained->columns;
    const near_draw near = find_near_draw(trained, dtype);
    for (size_t part; count > 0; element += part, count -= part) {
        if (near.many && element >= trained->stored_rows * trained->columns) {
            part = count < PE_DRAWS ? (size_t)count : PE_DRAWS;
            fill_nearly(trained, near, dtype, element, part, at);
        } else {
            part = count < PART ? (size_t)count : PART;
            get_elements(trained, element, part, elements);
            pe_round_row(dtype, elements, part, at);
        }
        at += part * pe_dtype_size(dtype);
    }
}

#define CHECK_PRICE 5 /* of a stored element */

void pe_trained_check_magnitude(pe_pace *pace, const pe_trained *trained, uint64_t rows,
                                double factor, pe_dtype dtype)
{
    const bool stored = trained->stored != NULL;
    double magnitude = stored ? 0 : largest_draw(trained->initialiser, trained->scale);
    for (uint64_t row = 0; stored && row < rows; row++) {
        if (!pe_pace_may_continue(pace, CHECK_PRICE * (double)trained->columns))
            return;
        magnitude = fmax(magnitude, pe_trained_row_magnitude(trained, row));
    }
    pe_check_magnitude(dtype, stored ? "set" : "seed", magnitude * factor, pace->reterr);
}

bool pe_trained_check_largest(pe_pace *pace, const pe_trained *trained, const char *name,
                              uint64_t rows)
{
    char given[PE_PRINT_MAX], limit[PE_PRINT_MAX];
    double magnitude = 0;
    for (uint64_t row = 0; trained->stored && row < rows; row++) {
        if (!pe_pace_may_continue(pace, CHECK_PRICE * (double)trained->columns))
            return false;
        magnitude = fmax(magnitude, pe_trained_row_magnitude(trained, row));
    }
    if (magnitude <= PE_TRAINED_LARGEST)
        return true;
    pe_error_add(pace->reterr, PE_OUT_OF_RANGE, "set", pe_plain_number(magnitude, given),
                 "a set whose tensor %s has no number beyond ±%s", name,
                 pe_plain_number(PE_TRAINED_LARGEST, limit));
    return false;
}

double pe_trained_check_price(const pe_weights *weights, uint64_t elements)
{
    return weights->set ? CHECK_PRICE * (double)elements : 0;
}

double pe_trained_price(const pe_weights *weights, const pe_distribution *distribution)
{
    if (weights->set)
        return 10;
    switch (distribution->initialiser) {
    case PE_NORMAL:
    case PE_XAVIER_NORMAL:
    case PE_TRUNC_NORMAL:
        return 40;
    case PE_UNIFORM:
    case PE_XAVIER_UNIFORM:
    case PE_ZEROS:
        break;
    }
    return 10;
}
