/* Splitting projections into heads: all of a file have as many columns. */
#include "files/heads.h"

#include <stdio.h>
#include <string.h>

#define HEAD_WIDTH_MAX 65536 /* columns of a head */

typedef unsigned long long number; /* as it is printed */

/* A projection as a problem calls it. */
static const char *shown_name(const api_projection *projection)
{
    return projection->name ? projection->name : "the array";
}

/* The option that says how many heads a projection has. */
static const char *count_option(const api_projection *projection)
{
    return projection->role == API_ROLE_KEY ? "kv_heads" : "heads";
}

/* The heads of queries or keys that must be there; 0: none are known. Along axis 0, that of
 * weights, no number is a matter of course: a projection that is taken for one head is spoilt,
 * and nothing shows it. */
static uint64_t find_count(const api_convert_request *asked, const api_projection *projection)
{
    const api_head_counts *known = &asked->known;
    const bool is_weight =
        projection->is_kernel ||
        (projection->axis == 0 && (projection->rank > 1 || asked->axis == 0));
    if (projection->role == API_ROLE_KEY && known->kv_heads > 0)
        return known->kv_heads;
    if (projection->role != API_ROLE_KEY && known->heads > 0)
        return known->heads;
    if (is_weight || known->head_dim > 0)
        return 0;
    return known->heads > 0 ? known->heads : 1;
}

/* Write a number, or nothing for 0. */
static void write_number(number value, char dst[24])
{
    dst[0] = '\0';
    if (value > 0)
        snprintf(dst, 24, "%llu", value);
}

/* ---- the width of all heads ---- */

/* Find the width by one projection. False: a problem was added; 0: it does not say. */
static bool measure_head(const api_convert_request *asked, const api_projection *projection,
                         uint64_t *ret_columns, pe_error *reterr)
{
    const char *name = shown_name(projection);
    api_heads part;
    api_head_counts counts;
    char given[24];
    if (projection->role == API_ROLE_QKV) {
        if (!api_qkv_split(&asked->qkv, &asked->known, projection->extent, name, &part, &counts,
                           reterr))
            return false;
        *ret_columns = counts.head_dim;
        return true;
    }
    const uint64_t count = find_count(asked, projection);
    *ret_columns = count > 0 ? projection->extent / count : 0;
    if (count == 0 || (projection->extent % count == 0 && *ret_columns <= HEAD_WIDTH_MAX))
        return true;
    write_number(count, given);
    pe_error_add(
        reterr, PE_OUT_OF_RANGE, count_option(projection), given,
        "a divisor of %llu, the columns of all heads of %.100s, with at most %d of each",
        (number)projection->extent, name, HEAD_WIDTH_MAX);
    return false;
}

/* Refuse because nothing says how wide a head is. */
static bool refuse_unknown(const api_projection *projections, size_t count, pe_error *reterr)
{
    size_t first = 0;
    while (first < count && (projections[first].is_latent || projections[first].is_norm))
        first++;
    if (first == count)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "head_dim", "",
                     "the columns of a head, since %.60s may be of one head or of all",
                     shown_name(&projections[0]))
            ->reason = PE_REASON_MISSING;
    else
        pe_error_add(reterr, PE_OUT_OF_RANGE, count_option(&projections[first]), "",
                     "the heads along axis 0 of %.60s, %s of the config; or head_dim, model or "
                     "config be given",
                     shown_name(&projections[first]),
                     projections[first].role == API_ROLE_KEY ? "num_key_value_heads"
                                                             : "num_attention_heads")
            ->reason = PE_REASON_MISSING;
    return false;
}

bool api_heads_measure(const api_convert_request *asked, const api_projection *projections,
                       size_t count, api_head_width *ret_width, pe_error *reterr)
{
    bool is_needed = false;
    *ret_width = (api_head_width){.columns = asked->known.head_dim};
    for (size_t least_rank = 3; least_rank-- > 1 && ret_width->columns == 0;)
        for (size_t i = 0; i < count && ret_width->columns == 0; i++) {
            const api_projection *projection = &projections[i];
            is_needed = is_needed || !projection->is_latent;
            if (projection->is_norm || projection->is_latent || projection->rank < least_rank)
                continue;
            if (!measure_head(asked, projection, &ret_width->columns, reterr))
                return false;
            ret_width->name = shown_name(projection);
        }
    return ret_width->columns > 0 || !is_needed || refuse_unknown(projections, count, reterr);
}

/* ---- the columns that turn ---- */

/* Refuse columns that turn but are no part of a head. */
static bool refuse_columns(const api_convert_request *asked, const char *name, uint64_t width,
                           pe_error *reterr)
{
    char given[24];
    if (asked->rotary_offset == 0) {
        write_number(asked->rotary_dim, given);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "rotary_dim", given,
                     "at most %llu, the columns of a head of %.100s", (number)width, name);
        return false;
    }
    snprintf(given, sizeof given, "%lld", (long long)asked->rotary_offset);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "rotary_offset", given,
                 "such that an even number of columns turn, among the %llu of a head of %.100s",
                 (number)width, name);
    return false;
}

/* Find the paired columns of heads that are so wide. False: a problem was added. */
static bool pair_columns(const api_convert_request *asked, const api_projection *projection,
                         uint64_t width, api_heads *part, pe_error *reterr)
{
    const char *name = shown_name(projection);
    const int64_t offset = asked->rotary_offset;
    const uint64_t back = offset < 0 ? (uint64_t)-offset : 0;
    char given[24];
    part->width = width;
    part->first = offset >= 0 ? (uint64_t)offset : back <= width ? width - back : width;
    part->turned = asked->rotary_dim;
    if (part->turned == 0 && part->first < width)
        part->turned = width - part->first;
    if (back > width || part->first + part->turned > width || part->turned == 0)
        return refuse_columns(asked, name, width, reterr);
    if (part->turned % 2 == 0)
        return true;
    const uint64_t head_dim = asked->known.head_dim;
    if (width % 2 == 0)
        return refuse_columns(asked, name, width, reterr);
    write_number(head_dim > 0 ? head_dim : find_count(asked, projection), given);
    pe_error_add(reterr, PE_OUT_OF_RANGE, head_dim > 0 ? "head_dim" : count_option(projection),
                 given, "such that an even number of the %llu columns of a head of %.100s turn",
                 (number)width, name);
    return false;
}

/* The last columns of the only key that MLA has, behind the latent. */
static bool split_latent(const api_convert_request *asked, const api_projection *projection,
                         api_heads *part, pe_error *reterr)
{
    api_convert_request last = *asked;
    if (asked->latent > 0 && projection->extent != asked->latent) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, asked->config, "",
                     "that of a model with %llu rows in %.100s, which has %llu",
                     (number)asked->latent, shown_name(projection), (number)projection->extent);
        return false;
    }
    if (asked->rotary_dim > 0)
        last.rotary_offset = -(int64_t)asked->rotary_dim;
    return pair_columns(&last, projection, projection->extent, part, reterr);
}

/* Whether the columns that turn are known of a projection of MLA: they are the last ones. */
static bool has_offset(const api_convert_request *asked, const api_projection *projection,
                       pe_error *reterr)
{
    const char *name = projection->name;
    if (asked->has_offset || !name ||
        !(projection->is_latent || strstr(name, "q_b_proj.") || strstr(name, "wq_b.") ||
          strstr(name, "attn_q_b.")))
        return true;
    pe_error_add(reterr, PE_OUT_OF_RANGE, "rotary_offset", "",
                 "minus qk_rope_head_dim of the config, since of a head of %.60s the last "
                 "columns turn; or model or config be given",
                 name)
        ->reason = PE_REASON_MISSING;
    return false;
}

/* ---- heads ---- */

/* Refuse a projection whose heads are not those of the request, or not as wide as others. */
static void refuse_heads(const api_convert_request *asked, const api_head_width *width,
                         const api_projection *projection, uint64_t count, pe_error *reterr)
{
    const char *option = count_option(projection), *name = shown_name(projection);
    const number extent = projection->extent, columns = width->columns;
    char given[24], fitting[48] = "another number";
    if (extent % columns == 0)
        snprintf(fitting, sizeof fitting, "%llu", extent / columns);
    write_number(count > 0 ? count : columns, given);
    if (asked->config)
        pe_error_add(reterr, PE_OUT_OF_RANGE, asked->config, "",
                     "that of a model with %s heads of %llu columns in %.60s, which has %llu "
                     "columns of heads; or tensors and kv_tensors name others",
                     count > 0 ? given : "some", columns, name, extent);
    else if (projection->columns > 0 && projection->columns != columns)
        pe_error_add(reterr, PE_OUT_OF_RANGE, count > 0 ? option : "head_dim", given,
                     "such that a head has the %llu columns of the last axis of %.60s, which "
                     "is [..., heads, dim], not %llu",
                     (number)projection->columns, name, columns);
    else if (count > 0 && width->name)
        pe_error_add(reterr, PE_OUT_OF_RANGE, option, given,
                     "%s, so that a head of %.60s has as many columns as one of %.60s: %llu, "
                     "not %llu",
                     fitting, name, width->name, columns, extent / count);
    else if (count > 0)
        pe_error_add(
            reterr, PE_OUT_OF_RANGE, option, given,
            "%s, so that a head of %.60s has %llu of its %llu columns, as head_dim says",
            fitting, name, columns, extent);
    else
        pe_error_add(reterr, PE_OUT_OF_RANGE, "head_dim", given,
                     "a divisor of %llu, the columns of all heads of %.100s", extent, name);
}

/* Whether the config may have so many heads: an npy file's array is of a query or a key, or of
 * one head, and where the config does not count keys each has as many queries. */
static bool is_of_config(const api_convert_request *asked, const api_projection *projection,
                         uint64_t heads)
{
    const uint64_t *array = asked->array_heads;
    if (projection->name)
        return !asked->config || projection->role != API_ROLE_KEY ||
               asked->known.kv_heads > 0 || asked->known.heads % heads == 0;
    return array[0] == 0 || heads == 1 || heads == array[0] ||
           (array[1] > 0 ? heads == array[1] : array[0] % heads == 0);
}

/* Whether the heads of a projection are those of the request, and all as wide. */
static bool divides_into_heads(const api_convert_request *asked, const api_head_width *width,
                               const api_projection *projection, pe_error *reterr)
{
    uint64_t count = find_count(asked, projection);
    if (count == 0 && asked->known.head_dim == 0) /* a key, beside queries: as many heads */
        count = asked->known.heads;
    if (projection->extent % width->columns == 0 &&
        (projection->columns == 0 || projection->columns == width->columns) &&
        is_of_config(asked, projection, projection->extent / width->columns) &&
        (count == 0 || count == projection->extent / width->columns))
        return true;
    refuse_heads(asked, width, projection, count, reterr);
    return false;
}

/* Whether a norm's weights are of one head or of all. */
static bool is_whole_norm(const api_convert_request *asked, const api_head_width *width,
                          const api_projection *projection, pe_error *reterr)
{
    const uint64_t count = find_count(asked, projection);
    if (projection->extent == width->columns ||
        (projection->extent % width->columns == 0 &&
         (count == 0 || projection->extent / width->columns == count)))
        return true;
    pe_error_add(reterr, PE_OUT_OF_RANGE,
                 projection->role == API_ROLE_KEY ? "kv_tensors" : "tensors", "",
                 "without %.60s: its %llu numbers are neither one head of %llu columns nor all",
                 projection->name, (number)projection->extent, (number)width->columns);
    return false;
}

/* Split query, key and value; the config and the request must mean the same. */
static bool split_qkv(const api_convert_request *asked, const api_head_width *width,
                      const api_projection *projection, api_heads *part, pe_error *reterr)
{
    const char *name = shown_name(projection);
    api_head_counts known = asked->known, counts;
    api_heads other;
    known.head_dim = width->columns;
    if (!api_qkv_split(&asked->qkv, &known, projection->extent, name, part, &counts, reterr))
        return false;
    if (asked->config_qkv.kind == API_QKV_NONE)
        return true;
    if (!api_qkv_split(&asked->config_qkv, &counts, projection->extent, name, &other, &counts,
                       reterr))
        return false;
    if (other.period == part->period && other.still == part->still &&
        other.stills == part->stills)
        return true;
    pe_error_add(reterr, PE_OUT_OF_RANGE, "qkv", asked->qkv.text,
                 "%s, as the config has %.60s, or left out", asked->config_qkv.text, name);
    return false;
}

bool api_heads_split(const api_convert_request *asked, const api_head_width *width,
                     const api_projection *projection, api_heads *ret_part, pe_error *reterr)
{
    *ret_part = (api_heads){.begin = projection->begin,
                            .end = projection->end,
                            .entry = projection->entry,
                            .period = 1};
    if (!has_offset(asked, projection, reterr))
        return false;
    if (projection->is_latent)
        return split_latent(asked, projection, ret_part, reterr);
    if (projection->role == API_ROLE_QKV
            ? !split_qkv(asked, width, projection, ret_part, reterr)
        : projection->is_norm ? !is_whole_norm(asked, width, projection, reterr)
                              : !divides_into_heads(asked, width, projection, reterr))
        return false;
    return pair_columns(asked, projection, width->columns, ret_part, reterr);
}
