/* What two plans have in common, and where they differ: the question after a conversion or a
 * fine-tune. */
#ifndef API_MODELS_DIFFERENCE_H
#define API_MODELS_DIFFERENCE_H

#include "models/plan.h"

/* The options of a comparison. */
enum { API_MODEL_COMPARE_STRICT, API_MODEL_COMPARE_AGAINST, API_MODEL_COMPARE_OPTIONS };
extern const pe_parameter api_model_compare_options[API_MODEL_COMPARE_OPTIONS];

/* The work of comparing, in multiply-adds; ret_bytes: what it holds beside the document, the
 * two tables of a part. */
double api_model_difference_price(const api_model_plan *first, const api_model_plan *second,
                                  uint64_t *ret_bytes);

/* A document that lists in which parts, layers, arguments and pairings two plans differ, and by
 * how much the tables that follow do, at which of some positions. ret_equal: in nothing. Parts
 * belong together by their names. `runner` is asked while tables are computed. NULL without
 * memory, with a problem in reterr. */
json_t *api_model_difference(const api_model_plan *first, const api_model_plan *second,
                             const pe_runner *runner, bool *ret_equal, pe_error *reterr);

/* The layers that use a part, by its index. */
json_t *model_list_layers(const api_model_plan *plan, size_t part);

/* The text of an argument as JSON writes it. */
json_t *model_argument_value(const pe_argument *argument);

#endif
