/* Tables in files that a request brings: npy, safetensors, and raw elements. */
#ifndef API_TABLE_FILE_H
#define API_TABLE_FILE_H

#include "replies/table_post.h"

/* The bytes of a file, wherever they are. */
typedef struct api_file {
    /* Copy `size` bytes from `offset` on. False: they cannot be read. */
    bool (*read)(void *context, uint64_t offset, void *dst, size_t size);
    void *context;
    uint64_t size;
} api_file;

/* Bytes in memory as a file, which reads the segment where it stands. */
api_file api_segment_file(const api_segment *segment);

/* The table of an npy file (NumPy's format, versions 1 to 3), whose shape and order become the
 * view's; complex numbers become a last axis of two. Axes: at most PE_VIEW_RANK_MAX. False: the
 * file is no such table, which was added to reterr. */
bool api_npy_view(const api_file *file, pe_view *ret_view, pe_error *reterr);

/* The head of an npy file that is written (version 1.0), of row-major elements of a type that
 * is called as numpy's `descr` has it. Returns its length, after which the elements are
 * aligned. */
#define API_FILE_ALIGNMENT 64
size_t api_npy_write_head(const char *type, const uint64_t *shape, size_t rank,
                          char dst[PE_TABLE_HEADROOM]);

/* The tensor of a safetensors file that is called `name`; where that is NULL the only one, or
 * the one that is called `otherwise`, which may be NULL. Other tensors may be anything. The
 * name goes to ret_name. False: there is no such tensor, or it cannot be read. */
bool api_safetensors_view(const api_file *file, const char *name, const char *otherwise,
                          pe_view *ret_view, char ret_name[API_SET_NAME_MAX + 1],
                          pe_error *reterr);

/* Raw elements of that type and shape, little-endian and row-major. */
bool api_raw_view(const api_file *file, pe_element element, size_t rank, const uint64_t *shape,
                  pe_view *ret_view, pe_error *reterr);

/* Which table of a file is read, and as what. */
typedef struct api_table_wish {
    api_table_format format;
    const char *name, *otherwise; /* of its tensor, see api_safetensors_view */
    pe_dtype dtype;               /* of numbers in a text that says none */
    uint64_t most;                /* numbers in a text */
} api_table_wish;

/* A table in a text, whose numbers are read into memory: the view reads *ret_numbers, whose
 * data the caller frees after it, also on failure.
 *
 * JSON: the tensor of a document as /v1/encodings gives it, with its dtype, or nested arrays of
 * numbers. CSV: a line for each row; a vector if these have one number each. */
bool api_json_view(const api_file *file, const api_table_wish *wish, api_segment *ret_numbers,
                   pe_view *ret_view, char ret_name[API_SET_NAME_MAX + 1], pe_error *reterr);
bool api_csv_view(const api_file *file, const api_table_wish *wish, api_segment *ret_numbers,
                  pe_view *ret_view, pe_error *reterr);

/* The table of a file of any format but that of raw elements, of which nothing is read. */
bool api_table_file_view(const api_file *file, const api_table_wish *wish,
                         api_segment *ret_numbers, pe_view *ret_view,
                         char ret_name[API_SET_NAME_MAX + 1], pe_error *reterr);

/* The dtype of a name. */
bool api_find_dtype(const char *name, pe_dtype *ret_dtype);

/* Give a view in row-major order another shape of as many elements. False, and a problem, if
 * they are not as many. */
bool api_reshape_view(pe_view *view, size_t rank, const uint64_t *shape, pe_error *reterr);

#endif
