/* Other requests that make the same table as a request that was found: candidates of several
 * kinds, each compared with it, byte by byte. */
#include "identify/candidates.h"
#include "identify/query.h"
#include "identify/search_runner.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES          ((size_t)1 << 16)
#define BYTES_MAX            ((uint64_t)1 << 29) /* that are compared in all */
#define PRICE_MAX            0x1p33 /* of the request; others would take as long to prepare */
#define PROPOSED_ENTRIES_MAX ((uint64_t)1 << 20) /* of a table that other schemes look at */

/* One search for equivalent requests. */
typedef struct equivalence {
    const pe_limits *limits;
    pe_search_runner runner;
    const char *dtype;
    const pe_scheme *scheme;
    const char *query;
    pe_request *request; /* that was found */
    size_t tensor;
    pe_view view; /* of its tensor, without axes of size 1 */
    pe_stream *stream;
    uint64_t left; /* bytes that may still be compared */
    size_t most;   /* requests that are asked for */
    pe_candidates candidates;
    pe_equivalents *found;
    pe_error *reterr;
    unsigned char one[BLOCK_BYTES], other[BLOCK_BYTES];
} equivalence;

/* Read bytes of the exact tensor: a pe_view's function. */
static bool read_exact(void *context, uint64_t offset, void *dst, size_t size)
{
    const equivalence *self = context;
    return pe_stream_read_fully(self->stream, offset, dst, size);
}

static bool may_continue(equivalence *self)
{
    return self->left > 0 && pe_search_may_continue(&self->runner);
}

/* Whether a tensor has the bytes of the one that was found. */
static bool has_bytes(equivalence *self, pe_request *request, size_t tensor)
{
    const uint64_t bytes = pe_request_tensor(self->request, self->tensor)->bytes;
    pe_stream *stream = NULL;
    pe_error error;
    bool same = pe_request_tensor(request, tensor)->bytes == bytes &&
                pe_stream_new(request, tensor, BLOCK_BYTES, &self->runner.own, &stream,
                              &error) == PE_OK;
    for (uint64_t at = 0, size; same && at < bytes; at += size) {
        size = bytes - at < BLOCK_BYTES ? bytes - at : BLOCK_BYTES;
        same = may_continue(self) &&
               pe_stream_read_fully(self->stream, at, self->one, (size_t)size) &&
               pe_stream_read_fully(stream, at, self->other, (size_t)size) &&
               memcmp(self->one, self->other, (size_t)size) == 0;
        self->left -= size < self->left ? size : self->left;
    }
    pe_stream_free(stream);
    return same;
}

static bool has_key(const pe_request *request, const pe_request *other)
{
    return strcmp(pe_request_key(request, &(size_t){0}), pe_request_key(other, &(size_t){0})) ==
           0;
}

/* Whether a query asks for another request that makes the same table. */
static bool is_equivalent(equivalence *self, const pe_scheme *scheme, const char *tensor,
                          const char *query)
{
    pe_request *request =
        may_continue(self) ? pe_parse_query(scheme, query, self->dtype, self->limits) : NULL;
    int index = request ? pe_find_query_tensor(request, tensor, &self->view) : -1;
    bool same = index >= 0 && !has_key(request, self->request) &&
                pe_request_price(request) <= 8 * pe_request_price(self->request) + 0x1p24 &&
                has_bytes(self, request, (size_t)index);
    pe_request_unref(request);
    return same;
}

/* ---- presets ---- */

static bool is_listed(const char *name, const char *const *names, size_t step)
{
    for (; *names; names += step)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* Whether a parameter says which part of a table there is, and in which form, and not which
 * table. */
static bool is_part(const pe_parameter *row)
{
    static const char *const NAMES[] = {"dim",    "heads", "first_head",   "extra_tokens",
                                        "offset", "table", "query_length", "query_offset",
                                        "set",    NULL};
    return row->required || row->counts_rows || row->default_of ||
           is_listed(row->name, NAMES, 1);
}

/* Write the request of a preset for the same part of its table. */
static void write_preset(const equivalence *self, const pe_preset *preset,
                         char dst[PE_IDENTITY_QUERY_MAX])
{
    const pe_scheme_info *info = pe_scheme_describe(self->scheme);
    char before[PE_IDENTITY_QUERY_MAX];
    pe_change_query(self->query, "preset", preset->name, dst);
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        const pe_parameter *row = pe_parameter_at(info, i);
        if (is_part(row) && !is_listed(row->name, preset->values, 2))
            continue;
        memcpy(before, dst, sizeof before);
        pe_change_query(before, row->name, NULL, dst);
    }
}

/* Note the presets that make the same part of the table. */
static void find_presets(equivalence *self)
{
    const pe_scheme_info *info = pe_scheme_describe(self->scheme);
    const char *tensor = pe_request_tensor(self->request, self->tensor)->name;
    for (size_t i = 0; i < info->preset_count; i++) {
        char query[PE_IDENTITY_QUERY_MAX];
        const pe_preset *preset = &info->presets[i];
        write_preset(self, preset, query);
        pe_request *request = pe_parse_query(self->scheme, query, self->dtype, self->limits);
        bool same =
            request && (has_key(request, self->request) ||
                        (self->stream && is_equivalent(self, self->scheme, tensor, query)));
        if (same && self->found->preset_count < PE_COUNT(self->found->presets))
            self->found->presets[self->found->preset_count++] = preset->name;
        pe_request_unref(request);
    }
}

/* ---- other requests ---- */

/* Note a request if it makes the same table and is none of those that are noted. */
static void try_request(equivalence *self, const pe_scheme *scheme, const char *tensor,
                        const char *query)
{
    pe_equivalents *found = self->found;
    if (found->same_count == self->most)
        return;
    for (size_t i = 0; i < found->same_count; i++)
        if (found->same[i].scheme == scheme && strcmp(found->same[i].query, query) == 0 &&
            strcmp(found->same[i].tensor, tensor) == 0)
            return;
    if (!is_equivalent(self, scheme, tensor, query))
        return;
    pe_same_request *same = &found->same[found->same_count++];
    same->scheme = scheme;
    snprintf(same->tensor, sizeof same->tensor, "%s", tensor);
    snprintf(same->query, sizeof same->query, "%s", query);
}

/* Try what recognisers propose for the exact table, the least price first; a large one leaves
 * less open. False without memory. */
static bool try_proposals(equivalence *self)
{
    if (pe_view_elements(&self->view) > PROPOSED_ENTRIES_MAX)
        return true;
    pe_candidates *candidates = &self->candidates;
    pe_observation seen;
    if (!pe_observation_begin(&seen, &self->view))
        return false;
    seen.runner = &self->runner.own;
    if (pe_request_set(self->request)) {
        seen.set = pe_request_set(self->request);
        seen.set_name = pe_value_find(&self->request->values, "set")->text;
    }
    const bool good = pe_candidates_collect(candidates, NULL, &seen);
    for (size_t i = 0; good && i < candidates->count && may_continue(self); i++)
        try_request(self, candidates->items[i].scheme, candidates->items[i].proposal->tensor,
                    candidates->items[i].proposal->query);
    pe_observation_end(&seen);
    pe_candidates_done(candidates);
    return good;
}

/* ---- the whole ---- */

/* View the tensor that was found. */
static bool view_exact(equivalence *self)
{
    const pe_tensor *tensor = pe_request_tensor(self->request, self->tensor);
    pe_view view = {.read = read_exact,
                    .context = self,
                    .element = pe_get_element(tensor->dtype),
                    .rank = tensor->rank};
    memcpy(view.shape, tensor->shape, tensor->rank * sizeof *tensor->shape);
    pe_view_set_row_major(&view);
    view = pe_search_wrap_view(&self->runner, &view);
    self->view = pe_view_squeezed(&view);
    return pe_stream_new(self->request, self->tensor, BLOCK_BYTES, &self->runner.own,
                         &self->stream, self->reterr) == PE_OK;
}

static void search_requests(equivalence *self, const pe_identity *identity)
{
    size_t count = pe_request_tensor_count(self->request);
    while (self->tensor < count &&
           strcmp(pe_request_tensor(self->request, self->tensor)->name, identity->tensor) != 0)
        self->tensor++;
    const bool dear = pe_request_price(self->request) > PRICE_MAX;
    if (self->tensor == count || (!dear && !view_exact(self)))
        return;
    find_presets(self);
    if (dear)
        return;
    if (self->most > 0 && !try_proposals(self))
        pe_error_add(self->reterr, PE_NO_MEMORY, "", "", "memory for requests that are alike");
}

pe_status pe_find_equivalents(const pe_identity *identity, pe_dtype dtype, size_t most,
                              const pe_limits *limits, const pe_runner *runner,
                              pe_equivalents *ret_equivalents, pe_error *reterr)
{
    pe_error_init(reterr);
    memset(ret_equivalents, 0, sizeof *ret_equivalents);
    if (identity->status == PE_IDENTITY_UNKNOWN)
        return PE_OK;
    equivalence *self = calloc(1, sizeof *self);
    if (self) {
        self->limits = limits;
        pe_search_runner_init(&self->runner, runner);
        self->dtype = pe_dtype_name(dtype);
        self->scheme = identity->scheme;
        self->query = identity->query;
        self->left = BYTES_MAX;
        self->most = most < PE_EQUIVALENTS_MAX ? most : PE_EQUIVALENTS_MAX;
        self->found = ret_equivalents;
        self->reterr = reterr;
        self->request = pe_parse_query(identity->scheme, identity->query, self->dtype, limits);
    }
    if (self && self->request)
        search_requests(self, identity);
    else
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for requests that are alike");
    if (self) {
        if (self->runner.ended) /* what was found until then holds */
            pe_error_init(reterr);
        pe_stream_free(self->stream);
        pe_request_unref(self->request);
    }
    free(self);
    return reterr->status;
}
