/* What a conversion may be asked. */
#include "files/selection.h"

#define HEADS_MAX 1048576

static const char *const PAIRINGS[] = {
    [PE_PAIRING_HALF] = "half", [PE_PAIRING_INTERLEAVED] = "interleaved", NULL};

const pe_parameter api_convert_options[API_CONVERT_OPTIONS] = {
    [API_CONVERT_FROM] = {.name = "from",
                          .type = PE_CHOICE,
                          .required = true,
                          .choices = PAIRINGS,
                          .help = "the pairing of the file: half pairs column c of a head "
                                  "with c + dim/2, interleaved 2i with 2i + 1"},
    [API_CONVERT_TO] = {.name = "to",
                        .type = PE_CHOICE,
                        .required = true,
                        .choices = PAIRINGS,
                        .help = "the pairing of the answer"},
    [API_CONVERT_HEADS] = {.name = "heads",
                           .type = PE_INTEGER,
                           .minimum = 1,
                           .maximum = HEADS_MAX,
                           .help = "heads along the axis, of queries; along axis 0 they must "
                                   "be given, along others 1 unless given"},
    [API_CONVERT_KV_HEADS] = {.name = "kv_heads",
                              .type = PE_INTEGER,
                              .minimum = 1,
                              .maximum = HEADS_MAX,
                              .help = "heads of keys, in kv_tensors; by default as many as "
                                      "heads"},
    [API_CONVERT_ROTARY_DIM] = {.name = "rotary_dim",
                                .type = PE_INTEGER,
                                .minimum = 2,
                                .maximum = 65536,
                                .multiple_of = 2,
                                .unit = "columns",
                                .help = "columns of a head that are turned, the first ones; "
                                        "the others stay; by default all"},
    [API_CONVERT_AXIS] = {.name = "axis",
                          .type = PE_INTEGER,
                          .minimum = -8,
                          .maximum = 7,
                          .default_text = "0",
                          .help = "the axis along which the heads' columns lie: 0 of a weight "
                                  "[heads·dim, in] and its bias, -1 of a table, a query or a "
                                  "key"},
    [API_CONVERT_TENSORS] = {.name = "tensors",
                             .type = PE_TEXT,
                             .default_text = "*q_proj.weight,*q_proj.bias",
                             .help = "of a safetensors file: names of the tensors with "
                                     "`heads` heads, joined by commas; * stands for any text"},
    [API_CONVERT_KV_TENSORS] = {.name = "kv_tensors",
                                .type = PE_TEXT,
                                .default_text = "*k_proj.weight,*k_proj.bias",
                                .help = "the same of those with `kv_heads` heads; whatever "
                                        "is in neither list stays as it is"},
};
