/* Tables from elsewhere: reading them row by row, whatever their order and element type. */
#include "kernels/by_size.h"
#include "numerics/dtype.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} ELEMENTS[PE_ELEMENT_COUNT] = {
    [PE_ELEMENT_F32] = {"f32", 4},   [PE_ELEMENT_F64] = {"f64", 8},
    [PE_ELEMENT_F16] = {"f16", 2},   [PE_ELEMENT_BF16] = {"bf16", 2},
    [PE_ELEMENT_I8] = {"i8", 1},     [PE_ELEMENT_I16] = {"i16", 2},
    [PE_ELEMENT_I32] = {"i32", 4},   [PE_ELEMENT_I64] = {"i64", 8},
    [PE_ELEMENT_U8] = {"u8", 1},     [PE_ELEMENT_U16] = {"u16", 2},
    [PE_ELEMENT_U32] = {"u32", 4},   [PE_ELEMENT_U64] = {"u64", 8},
    [PE_ELEMENT_BOOL] = {"bool", 1},
};

const char *pe_element_name(pe_element element)
{
    return ELEMENTS[element].name;
}

size_t pe_element_size(pe_element element)
{
    return ELEMENTS[element].size;
}

bool pe_element_is_real(pe_element element, pe_dtype *ret_dtype)
{
    for (pe_dtype dtype = PE_F32; dtype <= PE_BF16; dtype++)
        if (pe_dtypes[dtype].element == element) {
            *ret_dtype = dtype;
            return true;
        }
    return false;
}

/* ---- shapes ---- */

void pe_view_set_row_major(pe_view *view)
{
    uint64_t stride = 1;
    for (size_t axis = view->rank; axis-- > 0;) {
        view->strides[axis] = stride;
        stride *= view->shape[axis];
    }
}

uint64_t pe_view_elements(const pe_view *view)
{
    uint64_t elements = 1;
    for (size_t axis = 0; axis < view->rank; axis++)
        if (__builtin_mul_overflow(elements, view->shape[axis], &elements))
            return 0;
    return elements;
}

static void drop_axis(pe_view *view, size_t axis)
{
    view->rank--;
    for (size_t i = axis; i < view->rank; i++) {
        view->shape[i] = view->shape[i + 1];
        view->strides[i] = view->strides[i + 1];
    }
}

pe_view pe_view_squeezed(const pe_view *view)
{
    pe_view squeezed = *view;
    for (size_t axis = view->rank; axis-- > 0;)
        if (squeezed.shape[axis] == 1)
            drop_axis(&squeezed, axis);
    return squeezed;
}

static void swap_numbers(uint64_t *a, uint64_t *b)
{
    uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

pe_view pe_view_transposed(const pe_view *view, size_t axis, size_t other)
{
    pe_view transposed = *view;
    swap_numbers(&transposed.shape[axis], &transposed.shape[other]);
    swap_numbers(&transposed.strides[axis], &transposed.strides[other]);
    return transposed;
}

pe_view pe_view_part(const pe_view *view, size_t axis, uint64_t first, uint64_t count)
{
    pe_view part = *view;
    part.offset += first * view->strides[axis] * pe_element_size(view->element);
    part.shape[axis] = count;
    return part;
}

pe_view pe_view_at(const pe_view *view, size_t axis, uint64_t index)
{
    pe_view one = pe_view_part(view, axis, index, 1);
    drop_axis(&one, axis);
    return one;
}

/* ---- reading ---- */

static void swap_bytes(unsigned char *data, size_t size, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, data += size)
        for (size_t low = 0, high = size - 1; low < high; low++, high--) {
            unsigned char kept = data[low];
            data[low] = data[high];
            data[high] = kept;
        }
}

/* The axis along which elements lie nearest to each other. */
static size_t dense_axis(const pe_view *view)
{
    size_t dense = view->rank - 1;
    for (size_t axis = dense; axis-- > 0;)
        if (view->shape[axis] > 1 &&
            (view->shape[dense] == 1 || view->strides[axis] < view->strides[dense]))
            dense = axis;
    return dense;
}

/* How many axes from the end on lie in row-major order without gaps; *ret_run is the number of
 * elements of these. */
static size_t packed_axes(const pe_view *view, uint64_t *ret_run)
{
    size_t count = 0;
    *ret_run = 1;
    for (size_t axis = view->rank; axis-- > 0 && view->strides[axis] == *ret_run; count++)
        *ret_run *= view->shape[axis];
    return count;
}

/* Elements that are read at once along an axis, for a view that is not packed. They lie on the
 * stack, so that reading fails for no other reason than that of the view. */
#define SPAN_BYTES ((size_t)64 << 10)

/* Copy elements at a stride to another one, both in elements of a constant size. */
static inline void spread_elements(unsigned char *dst, uint64_t dst_stride,
                                   const unsigned char *src, uint64_t stride, uint64_t count,
                                   size_t size)
{
    for (uint64_t i = 0; i < count; i++)
        memcpy(dst + i * dst_stride * size, src + i * stride * size, size);
}

/* Read `count` elements at a stride, and spread them in dst. */
static bool read_run(const pe_view *view, uint64_t offset, uint64_t stride, uint64_t count,
                     unsigned char *dst, uint64_t dst_stride, unsigned char *span)
{
    size_t size = pe_element_size(view->element);
    uint64_t at_once = stride * size >= SPAN_BYTES ? 1 : SPAN_BYTES / (stride * size);
    for (uint64_t done = 0; done < count;) {
        uint64_t now = count - done < at_once ? count - done : at_once;
        size_t bytes = (size_t)(((now - 1) * stride + 1) * size);
        if (!view->read(view->context, offset + done * stride * size, span, bytes))
            return false;
        PE_BY_SIZE(size, spread_elements(dst + done * dst_stride * size, dst_stride, span,
                                         stride, now, SIZE))
        done += now;
    }
    return true;
}

/* Advance the index of all axes but one; false after the last one. */
static bool next_index(const pe_view *view, size_t skipped, uint64_t *index)
{
    for (size_t axis = view->rank; axis-- > 0;) {
        if (axis == skipped)
            continue;
        if (++index[axis] < view->shape[axis])
            return true;
        index[axis] = 0;
    }
    return false;
}

/* Read a view whose elements are not packed, run by run along the axis where they lie
 * nearest. */
static bool read_scattered(const pe_view *view, unsigned char *dst)
{
    size_t axis = dense_axis(view), size = pe_element_size(view->element);
    uint64_t index[PE_VIEW_RANK_MAX] = {0};
    pe_view target = *view;
    unsigned char span[SPAN_BYTES];
    bool good = true;
    pe_view_set_row_major(&target);
    for (bool more = true; good && more; more = next_index(view, axis, index)) {
        uint64_t offset = 0, place = 0;
        for (size_t i = 0; i < view->rank; i++) {
            offset += index[i] * view->strides[i];
            place += index[i] * target.strides[i];
        }
        good = read_run(view, view->offset + offset * size, view->strides[axis],
                        view->shape[axis], dst + place * size, target.strides[axis], span);
    }
    return good;
}

bool pe_view_read_elements(const pe_view *view, uint64_t first, uint64_t rows, void *dst)
{
    pe_view part = view->rank > 0 ? pe_view_part(view, 0, first, rows) : *view;
    size_t size = pe_element_size(view->element);
    uint64_t elements = pe_view_elements(&part), run;
    if (elements == 0)
        return true;
    bool good = packed_axes(&part, &run) == part.rank
                    ? view->read(view->context, part.offset, dst, (size_t)(elements * size))
                    : read_scattered(&part, dst);
    if (good && view->swapped && size > 1)
        swap_bytes(dst, size, elements);
    return good;
}

/* ---- conversion ---- */

#define CONVERT(type)                                                                          \
    do {                                                                                       \
        type value;                                                                            \
        memcpy(&value, src, sizeof value);                                                     \
        return (double)value;                                                                  \
    } while (0)

/* The same of 64 bits: NaN if no double has the value. The range is that where the conversion
 * back is defined. */
#define CONVERT_LONG(type, limit)                                                              \
    do {                                                                                       \
        type value;                                                                            \
        memcpy(&value, src, sizeof value);                                                     \
        double wide = (double)value;                                                           \
        return wide < (limit) && (type)wide == value ? wide : (double)NAN;                     \
    } while (0)

static double integer_value(pe_element element, const unsigned char *src)
{
    switch (element) {
    case PE_ELEMENT_I8:
        CONVERT(int8_t);
    case PE_ELEMENT_I16:
        CONVERT(int16_t);
    case PE_ELEMENT_I32:
        CONVERT(int32_t);
    case PE_ELEMENT_I64:
        CONVERT_LONG(int64_t, 0x1p63);
    case PE_ELEMENT_U8:
        CONVERT(uint8_t);
    case PE_ELEMENT_U16:
        CONVERT(uint16_t);
    case PE_ELEMENT_U32:
        CONVERT(uint32_t);
    case PE_ELEMENT_U64:
        CONVERT_LONG(uint64_t, 0x1p64);
    default:
        return *src != 0;
    }
}

bool pe_view_read(const pe_view *view, uint64_t first, uint64_t rows, double *dst)
{
    pe_view part = view->rank > 0 ? pe_view_part(view, 0, first, rows) : *view;
    uint64_t count = pe_view_elements(&part);
    size_t size = pe_element_size(view->element);
    /* the elements go to the end of dst, so that converting them from the front overwrites none
     * that is still needed */
    unsigned char *elements = (unsigned char *)dst + count * (sizeof *dst - size);
    pe_dtype dtype;
    if (!pe_view_read_elements(view, first, rows, elements))
        return false;
    bool real = pe_element_is_real(view->element, &dtype);
    for (uint64_t i = 0; i < count; i++, elements += size)
        dst[i] =
            real ? pe_element_value(dtype, elements) : integer_value(view->element, elements);
    return true;
}
