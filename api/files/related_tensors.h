/* What else a module has beside its weight, by the names that adapters and quantisers use. */
#ifndef API_RELATED_TENSORS_H
#define API_RELATED_TENSORS_H

typedef enum api_relation {
    API_RELATION_UNKNOWN,
    API_RELATION_ROWS,   /* an entry for each row of the weight, which may be in another file */
    API_RELATION_SCALES, /* an entry for each row, or for each block of them */
    API_RELATION_INPUTS  /* nothing that follows the rows */
} api_relation;

/* What a tensor is to a weight, by the rest of its name: "lora_B.default.weight", "_scale". */
api_relation api_relation_find(const char *rest);

#endif
