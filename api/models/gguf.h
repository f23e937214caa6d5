/* The head of a GGUF file, in which llama.cpp keeps what a config.json says.
 * Source: https://github.com/ggml-org/ggml, docs/gguf.md. */
#ifndef API_MODELS_GGUF_H
#define API_MODELS_GGUF_H

#include "api.h"

#include <jansson.h>

/* Whether bytes begin as a GGUF file does. */
bool api_gguf_begins(const char *bytes, size_t size);

/* The metadata of a GGUF file as an object: "general.architecture", "llama.rope.freq_base" …,
 * numbers as reals, without the lists of the tokenizer. A tensor of rotary factors that is
 * within the bytes is a list under its name, else null under it. `"cut"` is true where the
 * bytes end before the list of tensors does, so that a tensor may have been missed: only the
 * head is read, and the first megabytes of a file are enough. NULL with a problem in reterr. */
json_t *api_gguf_read(const char *bytes, size_t size, pe_error *reterr);

#endif
