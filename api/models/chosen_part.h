/* The part of a model's plan that tensors of one of its layers belong to. */
#ifndef API_MODELS_CHOSEN_PART_H
#define API_MODELS_CHOSEN_PART_H

#include "models/plan.h"

/* What a request says about the part. */
typedef struct api_part_wish {
    const char *name;   /* of the part or of its component; NULL: not given */
    int64_t layer;      /* -1: not given */
    bool query_factors; /* of the part's queries are asked for */
} api_part_wish;

typedef struct api_chosen_part {
    const api_model_part *part;
    const api_model_part *temperature; /* of its queries; NULL: there is none */
    bool turns_nothing;                /* the layer has queries with a temperature alone */
} api_chosen_part;

/* Find the part, whose scheme is one that is applied to tensors. False: none or several fit,
 * which was added to reterr for "part" or "layer". */
bool api_model_choose_part(const api_model_plan *plan, const api_part_wish *wish,
                           api_chosen_part *ret_chosen, pe_error *reterr);

/* The number that a part states as a fact; NAN: none. */
double api_model_part_fact(const api_model_part *part, const char *name);

#endif
