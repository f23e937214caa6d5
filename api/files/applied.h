/* A file of tensors as it becomes when an encoding is applied to them. */
#ifndef API_APPLIED_H
#define API_APPLIED_H

#include "bytes/body.h"
#include "files/table_file.h"

typedef enum api_apply_option {
    API_APPLY_DTYPE,
    API_APPLY_SCALE,
    API_APPLY_INVERSE,
    API_APPLY_AXES,
    API_APPLY_INPUTS,
    API_APPLY_RESULT,
    API_APPLY_AGAINST,
    API_APPLY_ROTATIONS, /* what follows is of schemes that rotate alone */
    API_APPLY_HEADS = API_APPLY_ROTATIONS,
    API_APPLY_KV_HEADS,
    API_APPLY_QKV,
    API_APPLY_ROTARY_OFFSET,
    API_APPLY_OUTPUT_LAYOUT,
    API_APPLY_QUERY_FACTORS,
    API_APPLY_ROTATION,
    API_APPLY_OPTIONS
} api_apply_option;

/* What a request may give besides the scheme's parameters. */
extern const pe_parameter api_apply_options[API_APPLY_OPTIONS];

/* The results of a request's body. */
typedef struct api_applied api_applied;

/* A result, and what it is called in the answer. */
typedef struct api_applied_tensor {
    char name[API_SET_NAME_MAX + 1];
    pe_apply *apply;
    char against[API_SET_NAME_MAX + 1]; /* the tensor that it is compared with */
    pe_view compared;                   /* which is this one */
    api_applied *all;                   /* of the last one: what all belong to */
} api_applied_tensor;

/* The tensor of a file that has the positions of rows. */
#define API_APPLY_POSITIONS "position_ids"

/* Hold a request's body, of npy or safetensors. NULL without memory. */
api_applied *api_applied_new(const api_request *request, bool is_npy);
void api_applied_free(api_applied *applied);

/* Read the header of a safetensors file, before what follows is asked. False: a problem was
 * added to reterr. */
bool api_applied_load(api_applied *applied, pe_error *reterr);

/* The text of the config.json in the file's metadata, or NULL. */
const char *api_applied_config(const api_applied *applied);

/* Take the positions of rows out of the file; *ret_positions is NULL if there are none. It
 * lives as long as `applied`. False: they cannot be read, which was added to reterr. */
bool api_applied_find_positions(api_applied *applied, const pe_view **ret_positions,
                                pe_error *reterr);

/* What a request says about the tensors of its file. All may be NULL. */
typedef struct api_applied_names {
    const char
        *inputs; /* tensors that are inputs, joined by commas, as the scheme lists them */
    const char *result;  /* the only result that is asked for */
    const char *against; /* tensors that the results are compared with, joined by commas */
} api_applied_names;

/* Find the tensors that the scheme is applied to: those of a file with the names of its inputs,
 * or the only one. Other tensors are refused. False: a problem was added to reterr. */
bool api_applied_find(api_applied *applied, const pe_scheme *scheme,
                      const api_applied_names *names, pe_error *reterr);

size_t api_applied_count(const api_applied *applied);
const api_applied_tensor *api_applied_get(const api_applied *applied, size_t index);

/* Open the results. */
bool api_applied_open(api_applied *applied, pe_request *request,
                      const pe_apply_options *options, const pe_runner *runner,
                      pe_error *reterr);

/* The bytes that all results hold, and their multiply-adds, as pe_request_price; and those
 * before the first one. */
uint64_t api_applied_footprint(const api_applied *applied, const pe_request *request,
                               const pe_apply_options *options);
double api_applied_price(const api_applied *applied, const pe_request *request,
                         const pe_apply_options *options);
double api_applied_opening_price(const api_applied *applied, const pe_apply_options *options);

/* The file with the results, which takes `applied` over. The request must hold its body until
 * this one has been read. NULL without memory. */
api_body *api_body_applied(api_applied *applied);

#endif
