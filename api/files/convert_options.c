/* What a conversion may be asked. */
#include "files/convert_selection.h"

#define HEADS_MAX 1048576

static const char *const PAIRINGS[] = {
    [PE_PAIRING_HALF] = "half", [PE_PAIRING_INTERLEAVED] = "interleaved", NULL};

static const char *const NOTHING[] = {"refuse", "allow", NULL};

/* Of weights and norms: whatever else their modules have goes with them. */
#define QUERIES                                                                                \
    "*q_proj.weight,*wq.weight,*attn_q.weight,*query.kernel,*query/kernel,*q_proj.kernel,"     \
    "*q_proj/kernel,*wq.kernel,*wq/kernel,*q_b_proj.weight,*wq_b.weight,*attn_q_b.weight,"     \
    "*to_q.weight,*attention.self.query.weight,*q_norm.weight,*norm_q.weight,"                 \
    "*norm_added_q.weight,*q_layernorm.weight"
#define KEYS                                                                                   \
    "*k_proj.weight,*wk.weight,*attn_k.weight,*key.kernel,*key/kernel,*k_proj.kernel,"         \
    "*k_proj/kernel,*wk.kernel,*wk/kernel,*kv_a_proj_with_mqa.weight,*wkv_a.weight,"           \
    "*attn_kv_a_mqa.weight,*to_k.weight,*attention.self.key.weight,*k_norm.weight,"            \
    "*norm_k.weight,*norm_added_k.weight,*k_layernorm.weight"
#define FUSED                                                                                  \
    "*qkv_proj.weight,*query_key_value.weight,*Wqkv.weight,*wqkv.weight,*attn_qkv.weight,"     \
    "*c_attn.weight,*W_pack.weight,*linear_qkv.weight"

const pe_parameter api_convert_options[API_CONVERT_OPTIONS] = {
    [API_CONVERT_FROM] = {.name = "from",
                          .type = PE_CHOICE,
                          .choices = PAIRINGS,
                          .help = "the pairing of the file: half pairs column c of a head "
                                  "with c + dim/2, interleaved 2i with 2i + 1; required, "
                                  "unless a config says it"},
    [API_CONVERT_TO] = {.name = "to",
                        .type = PE_CHOICE,
                        .required = true,
                        .choices = PAIRINGS,
                        .help = "the pairing of the answer"},
    [API_CONVERT_HEADS] = {.name = "heads",
                           .type = PE_INTEGER,
                           .minimum = 1,
                           .maximum = HEADS_MAX,
                           .help = "heads along the axis, of queries; along axis 0 they, "
                                   "head_dim or a config must be given, along others 1 unless "
                                   "given"},
    [API_CONVERT_KV_HEADS] = {.name = "kv_heads",
                              .type = PE_INTEGER,
                              .minimum = 1,
                              .maximum = HEADS_MAX,
                              .help = "heads of keys, in kv_tensors; by default as many as "
                                      "heads, if queries of the same file have as many columns "
                                      "in each, or as head_dim says"},
    [API_CONVERT_HEAD_DIM] = {.name = "head_dim",
                              .type = PE_INTEGER,
                              .minimum = 2,
                              .maximum = 65536,
                              .unit = "columns",
                              .help = "columns of a head of queries and of keys, in place of "
                                      "heads and kv_heads"},
    [API_CONVERT_ROTARY_DIM] = {.name = "rotary_dim",
                                .type = PE_INTEGER,
                                .minimum = 2,
                                .maximum = 65536,
                                .multiple_of = 2,
                                .unit = "columns",
                                .help = "columns of a head that are turned, the others stay; "
                                        "by default all from rotary_offset on"},
    [API_CONVERT_ROTARY_OFFSET] = {.name = "rotary_offset",
                                   .type = PE_INTEGER,
                                   .minimum = -65536,
                                   .maximum = 65536,
                                   .unit = "columns",
                                   .help = "the first column of a head that is turned, by "
                                           "default 0; below 0 from the end: -64 for the last "
                                           "64 columns, as DeepSeek has them"},
    [API_CONVERT_AXIS] = {.name = "axis",
                          .type = PE_INTEGER,
                          .minimum = -8,
                          .maximum = 7,
                          .default_text = "0",
                          .help = "the axis along which the heads' columns lie: 0 of a weight "
                                  "[heads·dim, in] and its bias, -1 of a table, a query or a "
                                  "key; of JAX's kernels [in, heads·dim] and [in, heads, dim] "
                                  "the last, unless it is given"},
    [API_CONVERT_MODEL] = {.name = "model",
                           .type = PE_TEXT,
                           .help = "name of a model that /v1/models lists: heads, kv_heads, "
                                   "head_dim, the columns that turn, qkv and from are its, "
                                   "and what is given must agree"},
    [API_CONVERT_CONFIG] = {.name = "config",
                            .type = PE_TEXT,
                            .help = "the same from the text of a config.json; without both "
                                    "from config or config.json in the __metadata__ of a "
                                    "safetensors file"},
    [API_CONVERT_QKV] = {.name = "qkv",
                         .type = PE_TEXT,
                         .help = "how tensors of query, key and value hold them: stacked (all "
                                 "queries, all keys, all values), grouped (for each key its "
                                 "queries, the key, the value), by_head (query, key and value "
                                 "of each head), or a list of runs of heads that repeats, such "
                                 "as q4,k,v; values stay"},
    [API_CONVERT_TENSORS] = {.name = "tensors",
                             .type = PE_TEXT,
                             .default_text = QUERIES,
                             .help = "of a safetensors file: names of the tensors with "
                                     "`heads` heads, joined by commas; * stands for any text"},
    [API_CONVERT_KV_TENSORS] = {.name = "kv_tensors",
                                .type = PE_TEXT,
                                .default_text = KEYS,
                                .help = "the same of those with `kv_heads` heads"},
    [API_CONVERT_QKV_TENSORS] = {.name = "qkv_tensors",
                                 .type = PE_TEXT,
                                 .default_text = FUSED,
                                 .help =
                                     "the same of those with both and values; what else a "
                                     "module has (bias, lora_B, scales of rows …) goes with "
                                     "its weight, and other tensors stay as they are"},
    [API_CONVERT_NONE] = {.name = "none",
                          .type = PE_CHOICE,
                          .default_text = "refuse",
                          .choices = NOTHING,
                          .help = "a safetensors file in which no tensor is to be converted: "
                                  "refuse it, or allow it to pass as it is, as for a loop over "
                                  "shards"},
};
