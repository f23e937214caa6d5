/* Names of what goes with a weight. A LoRA's update is B·A: B has the weight's rows, A its
 * columns. DoRA's magnitudes are of rows, as are IA3's factors and LoHa's first factors. */
#include "files/related_tensors.h"

#include <stdio.h>
#include <string.h>

/* What wrappers of a module put before the names of its tensors. */
static const char *const WRAPPERS[] = {
    "base_layer.", "linear.", "original_module.", "modules_to_save.default.",
    "adapter.",    "weight",  "kernel",           ".",
    "_",           "/"};

static const char *const WORDS[] = {
    [API_RELATION_ROWS] = " bias lora_B lora_b lora_up lora.up lora_magnitude_vector magnitude "
                          "dora_scale ia3_l vera_lambda_b hada_w1_a hada_w2_a linear_out diff "
                          "diff_b packed ",
    [API_RELATION_SCALES] = " scale scale_inv scales biases zero_point SCB ",
    [API_RELATION_INPUTS] = " lora_A lora_a lora_down lora.down lora_E vera_lambda_d hada_w1_b "
                            "hada_w2_b linear_in alpha g_idx shape input_scale "
                            "pre_quant_scale extra_state layer_norm_weight layer_norm_bias "};

/* The name without the first wrapper that it begins with; itself if there is none. */
static const char *unwrap(const char *rest)
{
    for (size_t i = 0; i < sizeof WRAPPERS / sizeof *WRAPPERS; i++)
        if (strncmp(rest, WRAPPERS[i], strlen(WRAPPERS[i])) == 0)
            return rest + strlen(WRAPPERS[i]);
    return rest;
}

api_relation api_relation_find(const char *rest)
{
    char word[32];
    for (const char *inner = unwrap(rest); inner != rest; inner = unwrap(rest))
        rest = inner;
    const size_t first = strncmp(rest, "lora.", 5) == 0 ? 5 : 0;
    snprintf(word, sizeof word, " %.*s ", (int)(first + strcspn(rest + first, "./")), rest);
    for (int relation = API_RELATION_ROWS; *rest && relation <= API_RELATION_INPUTS; relation++)
        if (strstr(WORDS[relation], word))
            return (api_relation)relation;
    return *rest ? API_RELATION_UNKNOWN : API_RELATION_ROWS;
}
