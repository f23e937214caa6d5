/* Finding the heads that are converted. */
#include "files/convert_selection.h"

#include "files/heads.h"
#include "files/name_patterns.h"
#include "files/related_tensors.h"
#include "files/set_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The axis that is asked for, or the last one. False, and a problem, if the array has none. */
static bool choose_axis(int asked, size_t rank, const char *name, size_t *ret_axis,
                        pe_error *reterr)
{
    const int count = (int)rank;
    char given[24];
    *ret_axis = (size_t)(asked < 0 ? asked + count : asked);
    if (asked >= -count && asked < count)
        return true;
    snprintf(given, sizeof given, "%d", asked);
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
        !choose_axis(asked->axis, view.rank, NULL, &axis, reterr))
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

/* Whether a name ends in such a word. */
static bool ends_with_word(const char *name, const char *word)
{
    for (const char *at = name; (at = strpbrk(at, "./"));)
        name = ++at;
    return strcmp(name, word) == 0;
}

/* Read where a tensor lies and its shape; a norm's weights are numbers of one axis, and so are
 * the rows of a kernel whose heads have an axis of their own. False: a problem was added. */
static bool read_array(const choosing *self, const json_t *value, api_projection *array,
                       pe_error *reterr)
{
    const json_t *shape = json_object_get(value, "shape");
    uint64_t before = 1, merged = 1, begin, end;
    if (!api_set_offsets(value, self->file_size - self->data, &begin, &end) || begin == end) {
        pe_error_add(reterr, PE_MALFORMED, array->name, "",
                     "a tensor with data_offsets that begin and end within the file's data");
        return false;
    }
    array->rank = json_array_size(shape);
    if (!choose_axis(array->is_kernel ? -1 : self->asked->axis, array->rank, array->name,
                     &array->axis, reterr))
        return false;
    const bool is_split = array->split_rank > 0 && array->rank >= array->split_rank;
    const size_t last = array->is_norm ? array->rank - 1 : array->axis;
    const size_t first = array->is_norm ? 0 : last - is_split;
    for (size_t i = 0; i <= last; i++) {
        json_int_t extent = json_integer_value(json_array_get(shape, i));
        if (i == first)
            merged = before;
        array->columns = is_split && extent > 0 ? (uint64_t)extent : 0;
        if (extent <= 0 || __builtin_mul_overflow(before, (uint64_t)extent, &before))
            before = 0;
    }
    array->extent = merged > 0 ? before / merged : 0;
    array->begin = self->data + begin;
    array->end = self->data + end;
    if (before > 0 && (end - begin) % before == 0) {
        array->entry = (end - begin) / before;
        return true;
    }
    pe_error_add(reterr, PE_MALFORMED, array->name, "",
                 "a tensor with a shape of integers from 1 on that fits its data_offsets");
    return false;
}

/* Refuse a tensor of query, key and value whose order is not known. */
static bool refuse_fused(const api_convert_request *asked, const char *name, pe_error *reterr)
{
    pe_error_add(reterr, PE_OUT_OF_RANGE, "qkv", "",
                 "the order of the heads in %.100s, which holds query, key and value: stacked, "
                 "grouped, by_head or a list such as q4,k,v%s",
                 name, asked->config ? "" : "; or model or config be given")
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

/* Whether a name is in any list. */
static bool is_in_a_list(const choosing *self, const char *name)
{
    return api_names_have(&self->queries, name) || api_names_have(&self->keys, name) ||
           api_names_have(&self->fused, name);
}

/* Find out whether a tensor is converted, and as what. False: a problem was added. */
static bool choose_tensor(const choosing *self, const char *name, bool *ret_is_chosen,
                          api_projection *projection, pe_error *reterr)
{
    static const char *const NORMS[] = {"q_norm.",       "k_norm.",       "q_layernorm.",
                                        "k_layernorm.",  "norm_q.",       "norm_k.",
                                        "norm_added_q.", "norm_added_k.", NULL};
    static const char *const LATENTS[] = {"kv_a_proj_with_mqa.", "wkv_a.", "attn_kv_a_mqa.",
                                          NULL};
    static const char *const GENERAL[] = {"query.kernel", "query/kernel", "key.kernel",
                                          "key/kernel", NULL};
    const api_convert_request *asked = self->asked;
    const bool *defaults = asked->by_default, is_other = is_of_another_kind(asked, name);
    const bool is_query = !(is_other && defaults[0]) && api_names_have(&self->queries, name);
    const bool is_key = !(is_other && defaults[1]) && api_names_have(&self->keys, name);
    const bool is_fused = !(is_other && defaults[2]) && api_names_have(&self->fused, name);
    const bool is_kernel = !asked->has_axis && ends_with_word(name, "kernel");
    const bool is_ordered = is_fused && asked->qkv.kind != API_QKV_NONE;
    *ret_is_chosen = is_query || is_key || is_ordered;
    *projection = (api_projection){.name = name,
                                   .role = is_query ? API_ROLE_QUERY : API_ROLE_KEY,
                                   .is_kernel = is_kernel,
                                   .split_rank = is_kernel || has_piece(name, GENERAL) ? 3 : 0,
                                   .is_norm = has_piece(name, NORMS),
                                   .is_latent = !is_query && has_piece(name, LATENTS)};
    if (is_ordered)
        projection->role = API_ROLE_QKV;
    else if (is_query && is_key && asked->known.kv_heads > 0 &&
             asked->known.heads != asked->known.kv_heads) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "tensors", "",
                     "without %.80s, which kv_tensors has, with kv_heads heads", name);
        return false;
    } else if (*ret_is_chosen ? is_fused || strstr(name, "qkv") : is_fused && defaults[0])
        return refuse_fused(asked, name, reterr);
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

#define NAME_ROOM 1024 /* a longer name goes with no weight */
#define CUTS_MAX  8    /* places at which a name is cut, from its end on */

/* Find the weight that a tensor goes with by its name, "x.weight" for "x.lora_B.weight", and
 * what it is to it. Behind an underscore it must be known: "query_positions" is nothing of
 * "query". False: it goes with none that is in a list. */
static bool find_weight(const choosing *self, const json_t *header, const char *name,
                        char dst[NAME_ROOM], api_relation *ret_relation)
{
    static const char *const ENDS[] = {"", "weight", "kernel"};
    size_t cuts = 0, end = strlen(name);
    if (end >= NAME_ROOM - sizeof "weight" || is_in_a_list(self, name))
        return false;
    memcpy(dst, name, end + 1);
    while (end-- > 1 && cuts < CUTS_MAX) {
        const bool is_word = name[end] == '_';
        if (!is_word && name[end] != '.' && name[end] != '/')
            continue;
        cuts++;
        *ret_relation = api_relation_find(name + end + 1);
        const size_t ends = is_word ? 1 : 3;
        for (size_t i = 0; i < 2 * ends; i++) { /* first those that the file has */
            dst[end] = i % ends > 0 ? name[end] : '\0';
            memcpy(dst + end + 1, ENDS[i % ends], strlen(ENDS[i % ends]) + 1);
            if ((!is_word || *ret_relation != API_RELATION_UNKNOWN) && strcmp(dst, name) != 0 &&
                is_in_a_list(self, dst) && (i >= ends || json_object_get(header, dst)))
                return true;
        }
    }
    return false;
}

/* Refuse a tensor that goes with a weight, but not row by row as far as is known. */
static bool refuse_related(const char *name, const char *weight, pe_error *reterr)
{
    pe_error_add(reterr, PE_OUT_OF_RANGE, "tensors", "",
                 "without %.70s: %.80s is not known to have an entry for each of its rows, as "
                 "scales of blocks or packed numbers have not; merge it, or convert before "
                 "quantising",
                 weight, name);
    return false;
}

/* Whether a tensor has one number. */
static bool is_one_number(const json_t *value)
{
    const json_t *shape = json_object_get(value, "shape");
    bool is_one = json_is_array(shape);
    for (size_t i = 0; i < json_array_size(shape); i++)
        is_one = is_one && json_integer_value(json_array_get(shape, i)) == 1;
    return is_one;
}

/* Choose and read what goes with a weight that is converted: what has its rows moves with it,
 * one number and what has no rows stay. False: a problem was added. */
static bool choose_related(const choosing *self, const json_t *header, const char *name,
                           const char *weight, api_relation relation, bool *ret_is_chosen,
                           api_projection *projection, pe_error *reterr)
{
    const json_t *value = json_object_get(header, name), *whole;
    char packed[NAME_ROOM + sizeof "_packed"];
    if (!choose_tensor(self, weight, ret_is_chosen, projection, reterr))
        return false;
    *ret_is_chosen = *ret_is_chosen && relation != API_RELATION_INPUTS && !is_one_number(value);
    if (!*ret_is_chosen)
        return true;
    if (relation == API_RELATION_UNKNOWN)
        return refuse_related(name, weight, reterr);
    api_projection rows = *projection;
    projection->name = name;
    if (projection->split_rank > 0 && ends_with_word(name, "bias"))
        projection->split_rank = 2;
    snprintf(packed, sizeof packed, "%s_packed", weight);
    if (!(whole = json_object_get(header, weight)))
        whole = json_object_get(header, packed);
    if (!read_array(self, value, projection, reterr) ||
        (whole && !read_array(self, whole, &rows, reterr)))
        return false;
    return (whole ? rows.extent == projection->extent : relation == API_RELATION_ROWS) ||
           refuse_related(name, weight, reterr);
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
        api_relation relation;
        bool is_chosen;
        if (strcmp(name, API_SET_METADATA) == 0)
            continue;
        if (find_weight(self, header, name, weight, &relation)
                ? !choose_related(self, header, name, weight, relation, &is_chosen, projection,
                                  reterr)
                : !choose_tensor(self, name, &is_chosen, projection, reterr) ||
                      (is_chosen && !read_array(self, value, projection, reterr)))
            return false;
        self->count += is_chosen;
    }
    return true;
}

/* Refuse a file of which nothing is converted: the first names that were looked for, and the
 * nearest that was found. */
static bool refuse_nothing(const choosing *self, const json_t *header, pe_error *reterr)
{
    const api_names *const lists[] = {&self->queries, &self->keys, &self->fused};
    const char *nearest = NULL, *name;
    json_t *value;
    for (size_t i = 0; i < 3 && !nearest; i++)
        nearest = api_names_nearest(lists[i], header);
    json_object_foreach((json_t *)(uintptr_t)header, name, value) nearest =
        nearest || strcmp(name, API_SET_METADATA) == 0 ? nearest : name;
    pe_error_add(reterr, PE_OUT_OF_RANGE, "tensors", "",
                 "names of tensors of the file%s: it has %.60s, and no %.25s, %.25s, %.25s or "
                 "the like; or none=allow be given",
                 self->asked->config ? ", beside a config not those of towers" : "",
                 nearest ? nearest : "none", lists[0]->text, lists[1]->text, lists[2]->text);
    return false;
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
    if (good && self->count == 0 && !asked->allows_none)
        good = refuse_nothing(self, header, reterr);
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
