/* The form of a table with noise, as one that was trained a little has it: what is left is
 * known to fewer digits. */
#include "identify/form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS      256                           /* of which the noise is estimated */
#define LEAST     4.0                           /* of the noise, in units in the last place */
#define MOST      0.1                           /* of the root of the mean square of entries */
#define ORDER     6                             /* of differences, in which slow waves vanish */
#define DEVIATION (0.6745 * 30.397368307141328) /* the median of their sizes, of noise of 1 */

static int smaller_first(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

/* The difference of the sixth order of numbers a distance apart. */
static double find_difference(const double *entry, size_t apart)
{
    static const double WEIGHTS[ORDER + 1] = {1, -6, 15, -20, 15, -6, 1};
    double sum = 0;
    for (size_t i = 0; i <= ORDER; i++)
        sum += WEIGHTS[i] * entry[i * apart];
    return sum;
}

/* Estimate the noise of a matrix by the differences down its smoothest column.
 * *ret_size: the root of the mean square of its entries. False: it cannot be read. */
static bool estimate_noise(const pe_view *view, double *ret_noise, double *ret_size)
{
    const uint64_t rows = view->shape[0] < ROWS ? view->shape[0] : ROWS;
    const size_t columns = (size_t)view->shape[1];
    double *entries = malloc((size_t)rows * columns * sizeof *entries), bends[ROWS];
    const bool read = entries && pe_view_read(view, 0, rows, entries);
    double squares = 0;
    *ret_noise = INFINITY;
    for (size_t c = 0; read && c < columns; c++) {
        for (size_t row = 0; row + ORDER < rows; row++) {
            const double *entry = entries + row * columns + c;
            squares += entry[0] * entry[0];
            bends[row] = fabs(find_difference(entry, columns));
        }
        qsort(bends, (size_t)rows - ORDER, sizeof *bends, smaller_first);
        *ret_noise = fmin(*ret_noise, bends[(rows - ORDER) / 2] / DEVIATION);
    }
    *ret_size = sqrt(squares / (double)((rows - ORDER) * columns));
    free(entries);
    return read;
}

bool pe_undo_noise(pe_layers *layers, const pe_layer *layer)
{
    const double unit = pe_observation_unit(&layer->view);
    pe_layer beneath = pe_layer_beneath(layer);
    double noise = 0, size = 0;
    if (layer->is != PE_OTHER_NONE || layer->view.rank != 2 || layer->view.shape[0] < 12 ||
        layer->view.shape[1] > PE_NOISY_COLUMNS_MAX || isfinite(layers->least) ||
        pe_layer_has(layer, PE_TRANSFORM_NOISE))
        return true;
    if (!estimate_noise(&layer->view, &noise, &size))
        return false;
    if (!(noise > LEAST * unit * size && noise < MOST * size) ||
        !pe_layer_note(&beneath, (pe_transform){.kind = PE_TRANSFORM_NOISE, .value = noise}))
        return true;
    beneath.view.unit = 8 * noise;
    beneath.view.grain = 6 * noise;
    pe_layers_add(layers, &beneath);
    return true;
}

void pe_write_noise(const pe_identity *identity, const pe_transform *form,
                    char dst[PE_FORM_TEXT])
{
    (void)form;
    snprintf(dst, PE_FORM_TEXT, "but for noise of %.1e (root mean square)", identity->noise);
}
