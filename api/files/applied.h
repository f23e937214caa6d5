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
    API_APPLY_RESULT,
    API_APPLY_AGAINST,
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
    api_applied *all; /* of the last one: what all belong to */
} api_applied_tensor;

/* Hold a request's body, of npy or safetensors. NULL without memory. */
api_applied *api_applied_new(const api_request *request, bool is_npy);
void api_applied_free(api_applied *applied);

/* Find the tensors that the scheme is applied to: those of a file with the names of its
 * inputs, or the only one. Other tensors are refused. `result` is the only result that is
 * asked for, or NULL; `against` is the tensor that the
 * only result is compared with, or NULL. False: a problem was added to reterr. */
bool api_applied_find(api_applied *applied, const pe_scheme *scheme, const char *result,
                      const char *against, pe_error *reterr);

/* The element type of the tensor `against`; PE_ELEMENT_COUNT without one. */
pe_element api_applied_element(const api_applied *applied);

/* Open the results. */
bool api_applied_open(api_applied *applied, pe_request *request,
                      const pe_apply_options *options, const pe_runner *runner,
                      pe_error *reterr);

/* The multiply-adds of all results, as pe_request_price. */
uint64_t api_applied_footprint(const api_applied *applied, const pe_request *request,
                               const pe_apply_options *options);
double api_applied_price(const api_applied *applied, const pe_request *request,
                         const pe_apply_options *options);

/* Compare the only result with the tensor `against`. */
bool api_applied_compare(api_applied *applied, pe_tolerance tolerance, const pe_runner *runner,
                         pe_comparison *ret_comparison, pe_error *reterr);

/* The result that is compared. */
const api_applied_tensor *api_applied_result(const api_applied *applied);

/* The file with the results, which takes `applied` over. The request must hold its body until
 * this one has been read. NULL without memory. */
api_body *api_body_applied(api_applied *applied);

#endif
