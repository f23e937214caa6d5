#include "identify/slope_computation.h"

#include "numerics/dtype.h"
#include "numerics/elementary.h"
#include "requests/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAMILIES   2 /* powers of a rounded base, exact slopes */
#define CANDIDATES 3 /* the float that is meant, and its neighbours */

typedef struct head {
    double exact;
    float slopes[FAMILIES][CANDIDATES];
    bool fits[FAMILIES][CANDIDATES];
} head;

typedef struct computation {
    pe_dtype dtype; /* of the table */
    uint64_t heads, entries;
    head *all; /* [heads] */
} computation;

/* ---- slopes ---- */

/* Set the slopes that each head may have. Slopes fall along powers of a base, and rise where
 * the next base begins. Where a head has too few entries to say its slope, it must be the float
 * that is meant. */
static void set_slopes(computation *self, const double *exact)
{
    uint64_t first = 0;
    for (uint64_t h = 0; h < self->heads; h++) {
        head *own = &self->all[h];
        first = h > 0 && exact[h] > exact[h - 1] ? h : first;
        double power = rint(pe_log_double(exact[h]) / pe_log_double(exact[first]));
        double base = (double)(float)exact[first];
        const float meant[FAMILIES] = {(float)pe_power_double(base, power), (float)exact[h]};
        own->exact = exact[h];
        for (size_t family = 0; family < FAMILIES; family++) {
            float slope = meant[family];
            const float near[CANDIDATES] = {slope, nextafterf(slope, 0), nextafterf(slope, 1)};
            memcpy(own->slopes[family], near, sizeof near);
            for (size_t i = 0; i < CANDIDATES; i++)
                own->fits[family][i] = i == 0 || self->entries > 2 * self->heads;
        }
    }
}

static bool are_slopes(const double *exact, uint64_t heads)
{
    for (uint64_t h = 0; h < heads; h++)
        if (!(exact[h] > 0x1p-100 && exact[h] < 1))
            return false;
    return true;
}

/* Read the exact slopes. False: there is none, or they cannot be read. */
static bool read_slopes(computation *self, pe_request *wide)
{
    pe_stream *stream = NULL;
    pe_error error;
    size_t tensor = 0;
    while (tensor < pe_request_tensor_count(wide) &&
           strcmp(pe_request_tensor(wide, tensor)->name, "slopes") != 0)
        tensor++;
    if (tensor == pe_request_tensor_count(wide))
        return false;
    self->heads = pe_request_tensor(wide, tensor)->elements;
    double *exact = malloc((size_t)self->heads * sizeof *exact);
    self->all = malloc((size_t)self->heads * sizeof *self->all);
    bool good = exact && self->all &&
                pe_stream_new(wide, tensor, PE_STREAM_FAST, NULL, &stream, &error) == PE_OK &&
                pe_stream_read_fully(stream, 0, exact, (size_t)self->heads * sizeof *exact) &&
                are_slopes(exact, self->heads);
    if (good)
        set_slopes(self, exact);
    pe_stream_free(stream);
    free(exact);
    return good;
}

/* ---- entries ---- */

/* Turn down the slopes of a head that do not give an entry. False: none is left. */
static bool check_entry(const computation *self, head *own, double found, double exact)
{
    float distance = (float)rint(exact / own->exact);
    bool any = false;
    if (!isfinite(exact))
        return found == exact;
    for (size_t family = 0; family < FAMILIES; family++)
        for (size_t i = 0; i < CANDIDATES; i++) {
            unsigned char element[sizeof(double)];
            double product = (double)(own->slopes[family][i] * distance);
            pe_round_row(self->dtype, &product, 1, element);
            own->fits[family][i] =
                own->fits[family][i] && pe_element_value(self->dtype, element) == found;
            any = any || own->fits[family][i];
        }
    return any;
}

/* Whether all heads have a slope of the same family. */
static bool is_family(const computation *self, size_t family)
{
    for (uint64_t h = 0; h < self->heads; h++) {
        const bool *fits = self->all[h].fits[family];
        if (!fits[0] && !fits[1] && !fits[2])
            return false;
    }
    return true;
}

/* Check the entries of some lines, as long as there are slopes that give them. */
static bool check_lines(const computation *self, uint64_t first, uint64_t count,
                        const double *found, const double *exact)
{
    uint64_t each = self->entries / self->heads;
    for (uint64_t i = 0; i < count; i++)
        if (!check_entry(self, &self->all[(first + i) / each], found[i], exact[i]))
            return false;
    return true;
}

static bool check_entries(const computation *self, pe_request *wide, pe_stream *stream,
                          const pe_view *flat, const pe_runner *runner, bool *ret_fits,
                          pe_error *reterr)
{
    uint64_t lines = flat->shape[0], columns = flat->shape[1];
    double *found = malloc((size_t)columns * sizeof *found);
    double *exact = malloc((size_t)columns * sizeof *exact);
    bool good = found && exact;
    *ret_fits = good;
    good = pe_request_begin(wide, runner, reterr) && good;
    for (uint64_t line = 0; good && *ret_fits && line < lines; line++) {
        good = (line % 64 != 0 || line == 0 ||
                pe_may_continue(runner, wide->values.scheme, (double)line / (double)lines,
                                reterr)) &&
               pe_view_read(flat, line, 1, found) &&
               pe_stream_read_fully(stream, line * columns * sizeof *exact, exact,
                                    (size_t)columns * sizeof *exact);
        *ret_fits = good && check_lines(self, line * columns, columns, found, exact);
    }
    pe_request_end(wide, runner);
    free(found);
    free(exact);
    return good;
}

bool pe_slope_computation(pe_request *wide, size_t tensor, pe_observation *seen,
                          const pe_runner *runner, bool *ret_fits, pe_error *reterr)
{
    computation self = {.entries = pe_request_tensor(wide, tensor)->elements};
    pe_stream *stream = NULL;
    bool good = true, fits = false;
    *ret_fits = false;
    if (pe_element_is_real(seen->view.element, &self.dtype) && self.dtype != PE_F64 &&
        read_slopes(&self, wide) && self.entries % self.heads == 0) {
        good = pe_stream_new(wide, tensor, PE_STREAM_FAST, runner, &stream, reterr) == PE_OK &&
               check_entries(&self, wide, stream, &seen->flat, runner, &fits, reterr);
        *ret_fits = fits && (is_family(&self, 0) || is_family(&self, 1));
    }
    pe_stream_free(stream);
    free(self.all);
    if (!good && reterr->count == 0)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the comparison");
    return good;
}
