/* Tables in files that a request brings: npy, safetensors, and raw elements. */
#ifndef API_TABLE_FILE_H
#define API_TABLE_FILE_H

#include "store.h"

/* The bytes of a file, wherever they are. */
typedef struct api_file {
    /* Copy `size` bytes from `offset` on. False: they cannot be read. */
    bool (*read)(void *context, uint64_t offset, void *dst, size_t size);
    void *context;
    uint64_t size;
} api_file;

/* The table of an npy file (NumPy's format, versions 1 to 3), whose shape and order become the
 * view's; complex numbers become a last axis of two. Axes: at most PE_VIEW_RANK_MAX. False: the
 * file is no such table, which was added to reterr. */
bool api_npy_view(const api_file *file, pe_view *ret_view, pe_error *reterr);

/* The tensor of a safetensors file that is called `name`; where that is NULL the only one, or
 * the one that is called `otherwise`, which may be NULL. Other tensors may be anything. The
 * name goes to ret_name. False: there is no such tensor, or it cannot be read. */
bool api_safetensors_view(const api_file *file, const char *name, const char *otherwise,
                          pe_view *ret_view, char ret_name[API_SET_NAME_MAX + 1],
                          pe_error *reterr);

/* Raw elements of that type and shape, little-endian and row-major. */
bool api_raw_view(const api_file *file, pe_element element, size_t rank, const uint64_t *shape,
                  pe_view *ret_view, pe_error *reterr);

#endif
