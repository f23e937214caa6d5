/* Which request made a table: recognisers propose, a comparison of every entry decides, and of
 * several explanations the one with the least price is the answer. */
#include "foreign/narrow_view.h"
#include "identify/claims.h"
#include "identify/explanation_search.h"
#include "identify/query.h"

/* Numbers that have more digits than the others do not fit, whatever they were rounded to. */
static void note_others(uint64_t others, pe_identity *identity)
{
    const uint64_t of_second = identity->second.misfits;
    if (identity->status == PE_IDENTITY_UNKNOWN ||
        identity->misfits.count + of_second >= others)
        return;
    identity->status = PE_IDENTITY_NEAR;
    identity->arithmetic = PE_ARITHMETIC_UNKNOWN;
    identity->misfits.count = others - of_second;
}

pe_status pe_identify_table(const pe_view *view, const pe_scheme *only, const char *set_name,
                            const pe_limits *limits, const pe_runner *runner,
                            pe_identity *ret_identity, pe_error *reterr)
{
    pe_search_runner own;
    pe_set *set = NULL;
    pe_narrow_view narrow = {.others = 0};
    pe_error_init(reterr);
    *ret_identity =
        (pe_identity){.arithmetic = PE_ARITHMETIC_UNKNOWN, .element = view->element};
    pe_search_runner_init(&own, runner);
    const pe_view watched = pe_search_wrap_view(&own, view);
    pe_view seen = watched;
    if (pe_narrow_view_find(&watched, &narrow))
        seen = pe_narrow_view_make(&narrow);
    if (pe_find_query_set(limits, set_name, &set, reterr)) {
        const pe_search_terms terms = {limits, only, set_name, set};
        if (pe_search_explanations(&terms, &seen, &own, ret_identity, reterr))
            pe_claims_find(&watched, &own, ret_identity);
    }
    note_others(narrow.others, ret_identity);
    ret_identity->wider = narrow.others;
    ret_identity->element = seen.element;
    ret_identity->is_complex = view->is_complex;
    ret_identity->tf32 = seen.unit > 0;
    if (own.ended) { /* what could not be read or computed since then is no failure */
        pe_error_init(reterr);
        ret_identity->gave_up = true;
    }
    pe_set_unref(set);
    return reterr->status;
}
