/* Splitting tensors that hold query, key and value, by rule. */
#include "files/fused_qkv.h"

#include <stdio.h>
#include <string.h>

#define COUNT_MAX 1048576

/* ---- reading the option ---- */

/* Read a run of a list, such as "q4". False: it is none, or its letter was there before. */
static bool read_run(const char **at, api_qkv *qkv)
{
    static const char LETTERS[] = "qkv";
    const char *letter = **at ? strchr(LETTERS, **at) : NULL;
    uint64_t count = 0;
    if (!letter || qkv->counts[letter - LETTERS] > 0)
        return false;
    if (*letter == 'v')
        qkv->before = qkv->counts[0] + qkv->counts[1];
    const char *digits = ++*at;
    for (; **at >= '0' && **at <= '9' && count <= COUNT_MAX; ++*at)
        count = count * 10 + (uint64_t)(**at - '0');
    qkv->counts[letter - LETTERS] = *at == digits ? 1 : count;
    return *at == digits || (count > 0 && count <= COUNT_MAX);
}

static bool read_list(const char *text, api_qkv *qkv)
{
    qkv->kind = API_QKV_LIST;
    for (size_t place = 0; place < 3; place++) {
        if (!read_run(&text, qkv) || *text != (place < 2 ? ',' : '\0'))
            return false;
        text++;
    }
    return true;
}

bool api_qkv_read(const char *text, api_qkv *ret_qkv, pe_error *reterr)
{
    *ret_qkv = (api_qkv){.text = text};
    if (!text)
        return true;
    if (strcmp(text, "stacked") == 0)
        ret_qkv->kind = API_QKV_STACKED;
    else if (strcmp(text, "grouped") == 0)
        ret_qkv->kind = API_QKV_GROUPED;
    else if (!read_list(strcmp(text, "by_head") == 0 ? "q,k,v" : text, ret_qkv)) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "qkv", text,
                     "stacked, grouped, by_head, or a list of q, k and v in their order, each "
                     "with how many heads, such as q4,k,v");
        return false;
    }
    return true;
}

/* ---- counting heads ---- */

/* Complete the counts of a list, which is repeated. False: nothing says how often. */
static bool count_list(const api_qkv *qkv, const api_head_counts *known, uint64_t rows,
                       api_head_counts *counts)
{
    const uint64_t *runs = qkv->counts, period = runs[0] + runs[1] + runs[2];
    uint64_t times;
    if (known->heads > 0)
        times = known->heads / runs[0];
    else if (known->kv_heads > 0)
        times = known->kv_heads / runs[1];
    else if (known->head_dim > 0)
        times = rows / known->head_dim / period;
    else
        return false;
    counts->heads = times * runs[0];
    counts->kv_heads = times * runs[1];
    counts->head_dim = times > 0 ? rows / (times * period) : 0;
    return true;
}

/* Complete the counts where there are as many values as keys. False: too little is known. */
static bool count_words(const api_head_counts *known, uint64_t rows, api_head_counts *counts)
{
    const uint64_t all = known->head_dim > 0 ? rows / known->head_dim : 0;
    *counts = *known;
    if (known->heads > 0 && known->kv_heads > 0)
        counts->head_dim = rows / (known->heads + 2 * known->kv_heads);
    else if (all > 0 && known->heads > 0)
        counts->kv_heads = all > known->heads ? (all - known->heads) / 2 : 0;
    else if (all > 0 && known->kv_heads > 0)
        counts->heads = all > 2 * known->kv_heads ? all - 2 * known->kv_heads : 0;
    else
        return false;
    return true;
}

/* Refuse for want of a number: which one depends on those that are there. */
static bool refuse_unknown(const api_head_counts *known, const char *name, pe_error *reterr)
{
    const bool is_key = known->heads > 0;
    pe_error_add(reterr, PE_OUT_OF_RANGE, is_key ? "kv_heads" : "heads", "",
                 "the heads of %s in %.60s, %s of the config; or model or config be given",
                 is_key ? "keys" : "queries", name,
                 is_key ? "num_key_value_heads" : "num_attention_heads")
        ->reason = PE_REASON_MISSING;
    return false;
}

/* Whether what is known holds for the counts that follow from the rows. */
static bool counts_agree(const api_head_counts *known, const api_head_counts *counts)
{
    return (known->heads == 0 || known->heads == counts->heads) &&
           (known->kv_heads == 0 || known->kv_heads == counts->kv_heads) &&
           (known->head_dim == 0 || known->head_dim == counts->head_dim);
}

/* A number, or words for one that is not known. */
static const char *write_count(uint64_t number, const char *unknown, char dst[24])
{
    if (number == 0)
        return unknown;
    snprintf(dst, 24, "%llu", (unsigned long long)number);
    return dst;
}

static bool refuse_rows(const api_qkv *qkv, const api_head_counts *known, uint64_t rows,
                        const char *name, pe_error *reterr)
{
    char heads[24], kv_heads[24], head_dim[24];
    pe_error_add(reterr, PE_OUT_OF_RANGE, "qkv", qkv->text,
                 "such that the %llu rows of %.60s are %s heads of queries, %s of keys and as "
                 "many of values, of %s columns",
                 (unsigned long long)rows, name, write_count(known->heads, "so many", heads),
                 write_count(known->kv_heads, "so many", kv_heads),
                 write_count(known->head_dim, "any number of", head_dim));
    return false;
}

bool api_qkv_split(const api_qkv *qkv, const api_head_counts *known, uint64_t rows,
                   const char *name, api_heads *ret_part, api_head_counts *ret_counts,
                   pe_error *reterr)
{
    api_head_counts counts;
    const bool is_list = qkv->kind == API_QKV_LIST;
    if (!(is_list ? count_list(qkv, known, rows, &counts) : count_words(known, rows, &counts)))
        return refuse_unknown(known, name, reterr);
    uint64_t runs[3] = {counts.heads, counts.kv_heads, counts.kv_heads};
    if (qkv->kind == API_QKV_GROUPED && counts.kv_heads > 0 &&
        counts.heads % counts.kv_heads == 0) {
        runs[0] = counts.heads / counts.kv_heads;
        runs[1] = runs[2] = 1;
    } else if (qkv->kind == API_QKV_GROUPED)
        return refuse_rows(qkv, known, rows, name, reterr);
    if (is_list)
        memcpy(runs, qkv->counts, sizeof runs);
    const uint64_t period = runs[0] + runs[1] + runs[2];
    const uint64_t times = runs[0] > 0 ? counts.heads / runs[0] : 0;
    if (counts.head_dim == 0 || times == 0 || counts.kv_heads == 0 ||
        rows / counts.head_dim != times * period || rows % counts.head_dim != 0 ||
        !counts_agree(known, &counts))
        return refuse_rows(qkv, known, rows, name, reterr);
    ret_part->width = counts.head_dim;
    ret_part->period = period;
    ret_part->still = is_list ? qkv->before : runs[0] + runs[1];
    ret_part->stills = runs[2];
    *ret_counts = counts;
    return true;
}
