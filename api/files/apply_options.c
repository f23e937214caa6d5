/* What applying an encoding may be asked. */
#include "files/applied.h"

/* In the order of pe_dtype. */
static const char *const DTYPES[] = {"f32", "f64", "f16", "bf16", NULL};

/* In the order of pe_qkv and pe_output_layout, from their second member on. */
static const char *const PACKED[] = {"stacked", "grouped", NULL};
static const char *const LAYOUTS[] = {"half", "interleaved", NULL};

#define HEADS_MAX 1048576

const pe_parameter api_apply_options[API_APPLY_OPTIONS] = {
    [API_APPLY_DTYPE] = {.name = "dtype",
                         .type = PE_CHOICE,
                         .choices = DTYPES,
                         .help = "of the results; by default that of each input"},
    [API_APPLY_SCALE] = {.name = "scale",
                         .type = PE_REAL,
                         .default_text = "1",
                         .minimum = -0x1p60,
                         .maximum = 0x1p60,
                         .help = "factor of what is added, for schemes that add"},
    [API_APPLY_INVERSE] = {.name = "inverse",
                           .type = PE_BOOLEAN,
                           .default_text = "false",
                           .help = "true: turn the other way, for schemes that rotate"},
    [API_APPLY_AXES] = {.name = "axes",
                        .type = PE_TEXT,
                        .help = "names of all axes of the tensors, joined by commas, as in "
                                "batch,length,heads,dim: those that the scheme knows, and any "
                                "others; names of what lies in one axis are in parentheses, "
                                "as in length,(heads,dim); by default the scheme's are the "
                                "last ones"},
    [API_APPLY_INPUTS] = {.name = "inputs",
                          .type = PE_TEXT,
                          .help =
                              "of a safetensors file: names of the tensors that are inputs, "
                              "joined by commas, in the order of the scheme's; by default "
                              "they are called as the scheme calls them"},
    [API_APPLY_RESULT] = {.name = "result",
                          .type = PE_TEXT,
                          .help = "the only result that is computed, for schemes with "
                                  "several; an npy file has one"},
    [API_APPLY_AGAINST] = {.name = "against",
                           .type = PE_TEXT,
                           .help =
                               "of a safetensors file: the tensor with a result of yours, or "
                               "those of all results, joined by commas; the answer is "
                               "their comparison with the exact ones, in JSON, and dtype is "
                               "that of the first by default"},
    [API_APPLY_HEADS] = {.name = "heads",
                         .type = PE_INTEGER,
                         .minimum = 1,
                         .maximum = HEADS_MAX,
                         .help = "for schemes that rotate: heads of queries, which lie in the "
                                 "last axis unless axes names them"},
    [API_APPLY_KV_HEADS] = {.name = "kv_heads",
                            .type = PE_INTEGER,
                            .minimum = 1,
                            .maximum = HEADS_MAX,
                            .help = "heads of keys, and of values, with heads; by default as "
                                    "many"},
    [API_APPLY_QKV] = {.name = "qkv",
                       .type = PE_CHOICE,
                       .choices = PACKED,
                       .help = "queries, keys and values lie in the last axis, and values stay "
                               "as they are; stacked: all queries, all keys, all values; "
                               "grouped: for each key its queries, the key and the value"},
    [API_APPLY_ROTARY_OFFSET] = {.name = "rotary_offset",
                                 .type = PE_INTEGER,
                                 .minimum = -65536,
                                 .maximum = 65536,
                                 .unit = "columns",
                                 .help = "the first column of a head that is turned, and dim "
                                         "are; -dim for the last ones, as DeepSeek has them; "
                                         "the others stay as they are; without it a head has "
                                         "dim columns"},
    [API_APPLY_OUTPUT_LAYOUT] = {.name = "output_layout",
                                 .type = PE_CHOICE,
                                 .choices = LAYOUTS,
                                 .help = "the layout of the results, for code that gives "
                                         "another one than it takes; by default that of the "
                                         "scheme"},
    [API_APPLY_QUERY_FACTORS] = {.name = "query_factors",
                                 .type = PE_BOOLEAN,
                                 .default_text = "false",
                                 .help =
                                     "true: queries are also multiplied by the factors that "
                                     "temperature and softmax_factor ask for"},
    [API_APPLY_ROTATION] = {.name = "rotation",
                            .type = PE_BOOLEAN,
                            .default_text = "true",
                            .help = "false: nothing is turned, as in layers without rotation; "
                                    "only with query_factors"},
};
