/* Finding the heads that are converted. */
#include "files/convert_selection.h"

#include "files/heads.h"
#include "files/name_patterns.h"
#include "files/set_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The axis that is asked for. False, and a problem, if the array has no such one. */
static bool choose_axis(const api_convert_request *asked, size_t rank, const char *name,
                        size_t *ret_axis, pe_error *reterr)
{
    int count = (int)rank, axis = asked->axis < 0 ? asked->axis + count : asked->axis;
    char given[24];
    *ret_axis = (size_t)axis;
    if (axis >= 0 && axis < count)
        return true;
    snprintf(given, sizeof given, "%d", asked->axis);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "axis", given, "an axis of %s, which has %d",
                 name ? name : "the array", count);
    return false;
}

/* Split projections into the parts of the conversion, which has room for them. */
static bool split_projections(const api_convert_request *asked,
                              const api_projection *projections, size_t count,
                              api_conversion *conversion, pe_error *reterr)
{
    api_head_width width;
    if (!api_heads_measure(asked, projections, count, &width, reterr))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!api_heads_split(asked, &width, &projections[i], &conversion->parts[i], reterr))
            return false;
    conversion->count = count;
    return true;
}

/* Begin a conversion with room for so many parts. */
static bool begin_conversion(const api_convert_request *asked, size_t room,
                             api_conversion *ret_conversion, pe_error *reterr)
{
    *ret_conversion = (api_conversion){.from = asked->from, .to = asked->to};
    ret_conversion->parts = calloc(room + 1, sizeof *ret_conversion->parts);
    if (!ret_conversion->parts)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the conversion");
    return ret_conversion->parts != NULL;
}

/* ---- npy ---- */

bool api_convert_npy(const api_convert_request *asked, const api_file *file,
                     api_conversion *ret_conversion, pe_error *reterr)
{
    pe_view view;
    size_t axis;
    if (!api_npy_view(file, &view, reterr) ||
        !choose_axis(asked, view.rank, NULL, &axis, reterr))
        return false;
    const api_projection array = {.role = asked->qkv.kind == API_QKV_NONE ? API_ROLE_QUERY
                                                                          : API_ROLE_QKV,
                                  .rank = view.rank,
                                  .axis = axis,
                                  .extent = view.shape[axis],
                                  .entry = view.strides[axis] * pe_element_size(view.element),
                                  .begin = view.offset,
                                  .end = file->size};
    if (!begin_conversion(asked, 1, ret_conversion, reterr))
        return false;
    if (split_projections(asked, &array, 1, ret_conversion, reterr))
        return true;
    free(ret_conversion->parts);
    return false;
}

/* ---- safetensors ---- */

/* A file of which tensors are chosen. */
typedef struct choosing {
    const api_convert_request *asked;
    uint64_t data, file_size;
    api_names queries, keys, fused;
    api_projection *projections;
    size_t count;
} choosing;

/* Whether a name has one of these pieces, which end with NULL. */
static bool has_piece(const char *name, const char *const *pieces)
{
    while (*pieces && !strstr(name, *pieces))
        pieces++;
    return *pieces != NULL;
}

/* Read where a tensor lies and the shape of it; a norm's weights are numbers of one axis.
 * False: a problem was added. */
static bool read_array(const choosing *self, const json_t *value, api_projection *array,
                       pe_error *reterr)
{
    const json_t *shape = json_object_get(value, "shape");
    const json_t *offsets = json_object_get(value, "data_offsets");
    json_int_t begin = json_integer_value(json_array_get(offsets, 0));
    json_int_t end = json_integer_value(json_array_get(offsets, 1));
    uint64_t before = 1;
    if (begin < 0 || end <= begin || (uint64_t)end > self->file_size - self->data) {
        pe_error_add(reterr, PE_MALFORMED, array->name, "",
                     "a tensor with data_offsets that begin and end within the file's data");
        return false;
    }
    array->rank = json_array_size(shape);
    if (!choose_axis(self->asked, array->rank, array->name, &array->axis, reterr))
        return false;
    const size_t last = array->is_norm ? array->rank - 1 : array->axis;
    for (size_t i = 0; i <= last; i++) {
        json_int_t extent = json_integer_value(json_array_get(shape, i));
        array->extent = extent > 0 ? (uint64_t)extent : 0;
        if (array->extent == 0 || __builtin_mul_overflow(before, array->extent, &before))
            before = 0;
    }
    array->begin = self->data + (uint64_t)begin;
    array->end = self->data + (uint64_t)end;
    if (array->is_norm)
        array->extent = before;
    if (before > 0 && (uint64_t)(end - begin) % before == 0) {
        array->entry = (uint64_t)(end - begin) / before;
        return true;
    }
    pe_error_add(reterr, PE_MALFORMED, array->name, "",
                 "a tensor with a shape of integers from 1 on that fits its data_offsets");
    return false;
}

/* Refuse a tensor of query, key and value whose order is not known. */
static bool refuse_fused(const char *name, pe_error *reterr)
{
    pe_error_add(reterr, PE_OUT_OF_RANGE, "qkv", "",
                 "the order of the heads in %.100s, which holds query, key and value: stacked, "
                 "grouped, by_head or a list such as q4,k,v; or model or config be given",
                 name)
        ->reason = PE_REASON_MISSING;
    return false;
}

/* Whether a tensor has heads of another kind than the model's text: those of the indexer of
 * DeepSeek 3.2 and, beside a config, which says the text's alone, of towers. */
static bool is_of_another_kind(const api_convert_request *asked, const char *name)
{
    static const char *const INDEXERS[] = {".indexer.", NULL};
    static const char *const TOWERS[] = {
        "vision_tower.", "vision_model.",  "vision_encoder.", "visual.",
        "audio_tower.",  "audio_encoder.", "image_encoder.",  NULL};
    return has_piece(name, INDEXERS) || (asked->config && has_piece(name, TOWERS));
}

/* Find out whether a tensor is converted, and as what. False: a problem was added. */
static bool choose_tensor(const choosing *self, const char *name, bool *ret_is_chosen,
                          api_projection *projection, pe_error *reterr)
{
    static const char *const NORMS[] = {
        "q_norm.", "k_norm.", "q_layernorm.", "k_layernorm.", "norm_q.", "norm_k.", NULL};
    static const char *const LATENTS[] = {"kv_a_proj_with_mqa.", "wkv_a.", NULL};
    const api_convert_request *asked = self->asked;
    const bool *defaults = asked->by_default, is_other = is_of_another_kind(asked, name);
    const bool is_query = !(is_other && defaults[0]) && api_names_have(&self->queries, name);
    const bool is_key = !(is_other && defaults[1]) && api_names_have(&self->keys, name);
    const bool is_fused = !(is_other && defaults[2]) && api_names_have(&self->fused, name);
    *ret_is_chosen = is_query || is_key;
    *projection = (api_projection){.name = name,
                                   .role = is_query ? API_ROLE_QUERY : API_ROLE_KEY,
                                   .is_norm = has_piece(name, NORMS),
                                   .is_latent = !is_query && has_piece(name, LATENTS)};
    if (is_fused && asked->qkv.kind != API_QKV_NONE) {
        projection->role = API_ROLE_QKV;
        *ret_is_chosen = true;
        return true;
    }
    if (*ret_is_chosen ? is_fused || strstr(name, "qkv") : is_fused && defaults[0])
        return refuse_fused(name, reterr);
    return true;
}

/* Compares parts by their bytes, for qsort. */
static int by_begin(const void *one, const void *other)
{
    uint64_t a = ((const api_heads *)one)->begin, b = ((const api_heads *)other)->begin;
    return (a > b) - (a < b);
}

/* Sort the parts; false, and a problem, if two overlap. */
static bool sort_parts(api_conversion *conversion, pe_error *reterr)
{
    qsort(conversion->parts, conversion->count, sizeof *conversion->parts, by_begin);
    for (size_t i = 1; i < conversion->count; i++)
        if (conversion->parts[i].begin < conversion->parts[i - 1].end) {
            pe_error_add(reterr, PE_MALFORMED, "data_offsets", "",
                         "those of tensors that do not overlap");
            return false;
        }
    return true;
}

#define NAME_ROOM 256 /* a longer name is not that of scales */

/* The name of the weight that a tensor holds the scales of: "x.weight" of "x.weight_scale_inv".
 * False: it holds none. */
static bool find_weight(const char *name, char dst[NAME_ROOM])
{
    static const char *const ENDS[] = {"_scale", "_scale_inv"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        const size_t end = strlen(ENDS[i]);
        if (length < NAME_ROOM && length > end && strcmp(name + length - end, ENDS[i]) == 0) {
            snprintf(dst, NAME_ROOM, "%.*s", (int)(length - end), name);
            return true;
        }
    }
    return false;
}

/* Choose the scales of a quantised weight that is converted: one for each row moves with it,
 * one for all stays, and of blocks none could move. False: a problem was added. */
static bool choose_scales(const choosing *self, const json_t *header, const char *name,
                          const char *weight, bool *ret_is_chosen, api_projection *projection,
                          pe_error *reterr)
{
    const json_t *shape = json_object_get(json_object_get(header, name), "shape");
    const json_t *whole = json_object_get(json_object_get(header, weight), "shape");
    bool is_one = true;
    if (!choose_tensor(self, weight, ret_is_chosen, projection, reterr))
        return false;
    for (size_t i = 0; i < json_array_size(shape); i++)
        is_one = is_one && json_integer_value(json_array_get(shape, i)) == 1;
    *ret_is_chosen = *ret_is_chosen && !is_one;
    projection->name = name;
    if (!*ret_is_chosen || (self->asked->axis == 0 &&
                            json_equal(json_array_get(shape, 0), json_array_get(whole, 0))))
        return true;
    pe_error_add(
        reterr, PE_OUT_OF_RANGE, "tensors", "",
        "without that of %.80s, whose scales are of blocks of rows, which a conversion "
        "would tear apart: convert before quantising",
        name);
    return false;
}

/* Choose and read all tensors that are converted. False: a problem was added. */
static bool choose_tensors(choosing *self, const json_t *header, pe_error *reterr)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)header, name, value)
    {
        api_projection *projection = &self->projections[self->count];
        char weight[NAME_ROOM];
        bool is_chosen;
        if (strcmp(name, API_SET_METADATA) == 0)
            continue;
        if (!(find_weight(name, weight)
                  ? choose_scales(self, header, name, weight, &is_chosen, projection, reterr)
                  : choose_tensor(self, name, &is_chosen, projection, reterr)) ||
            (is_chosen && !read_array(self, value, projection, reterr)))
            return false;
        self->count += is_chosen;
    }
    return true;
}

/* Read the lists of names, and choose by them. */
static bool choose_listed(choosing *self, const json_t *header, pe_error *reterr)
{
    const api_convert_request *asked = self->asked;
    const struct {
        const char *list;
        api_convert_option option;
        api_names *names;
    } LISTS[] = {{asked->tensors, API_CONVERT_TENSORS, &self->queries},
                 {asked->kv_tensors, API_CONVERT_KV_TENSORS, &self->keys},
                 {asked->qkv_tensors, API_CONVERT_QKV_TENSORS, &self->fused}};
    bool good = true;
    for (size_t i = 0; i < 3 && good; i++)
        good = api_names_read(LISTS[i].list, api_convert_options[LISTS[i].option].name,
                              LISTS[i].names, reterr);
    good = good && choose_tensors(self, header, reterr);
    for (size_t i = 0; i < 3; i++)
        api_names_done(LISTS[i].names);
    return good;
}

bool api_convert_safetensors(const api_convert_request *asked, const json_t *header,
                             uint64_t data, uint64_t file_size, api_conversion *ret_conversion,
                             pe_error *reterr)
{
    const size_t members = json_object_size(header);
    choosing self = {.asked = asked, .data = data, .file_size = file_size};
    if (!begin_conversion(asked, members, ret_conversion, reterr))
        return false;
    self.projections = calloc(members + 1, sizeof *self.projections);
    if (!self.projections)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the conversion");
    const bool good =
        self.projections && choose_listed(&self, header, reterr) &&
        split_projections(asked, self.projections, self.count, ret_conversion, reterr) &&
        sort_parts(ret_conversion, reterr);
    free(self.projections);
    if (!good)
        free(ret_conversion->parts);
    return good;
}
