/* What applying an encoding may be asked. */
#include "files/applied.h"

/* In the order of pe_dtype. */
static const char *const DTYPES[] = {"f32", "f64", "f16", "bf16", NULL};

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
                                "others; by default the scheme's are the last ones"},
    [API_APPLY_RESULT] = {.name = "result",
                          .type = PE_TEXT,
                          .help = "the only result that is computed, for schemes with "
                                  "several; an npy file has one"},
    [API_APPLY_AGAINST] = {.name = "against",
                           .type = PE_TEXT,
                           .help = "of a safetensors file: the tensor with a result of yours; "
                                   "the answer is its comparison with the exact one, in "
                                   "JSON, and dtype is that of this tensor by default"},
};
