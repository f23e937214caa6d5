/* Proposing multimodal rotary tables of the published models. In a picture time stands still:
 * the rows in which the first column does not change say where pictures are, and how many cells
 * they have. */
#include "recognise/recognisers.h"

#include "waves/presets.h"

#include <stdio.h>
#include <string.h>

#define GRIDS_MAX 4
#define MERGED    2 /* patches that become one along height and width */

typedef unsigned long long number;

/* A text and the grid after it. */
typedef struct part {
    uint64_t text, cells, frames; /* cells of a frame */
} part;

typedef struct sequence {
    part parts[GRIDS_MAX];
    size_t count;
    uint64_t rest; /* rows of text after the last grid */
} sequence;

/* Read where the first column stands still. False: there is no grid, or there are too many. */
static bool read_sequence(const pe_observation *seen, sequence *ret)
{
    const uint64_t rows = seen->sampled;
    uint64_t text = 0, row = 0;
    *ret = (sequence){.count = 0};
    while (row < rows) {
        uint64_t run = 1;
        while (row + run < rows &&
               pe_observation_is_same(seen, pe_observation_entry(seen, row + run, 0),
                                      pe_observation_entry(seen, row, 0)))
            run++;
        row += run;
        if (run == 1) {
            text++;
            continue;
        }
        part *before = ret->count > 0 ? &ret->parts[ret->count - 1] : NULL;
        if (before && text == 0 && before->cells == run) {
            before->frames++;
            continue;
        }
        if (ret->count == GRIDS_MAX)
            return false;
        ret->parts[ret->count++] = (part){text, run, 1};
        text = 0;
    }
    ret->rest = text;
    return ret->count > 0;
}

/* Write the texts and grids, if all grids have so many rows of cells. False: they cannot. */
static bool write_runs(const sequence *own, uint64_t height, char *dst, size_t size)
{
    char texts[96] = "", grids[128] = "";
    for (size_t i = 0; i < own->count; i++) {
        const part *at = &own->parts[i];
        size_t texts_end = strlen(texts), grids_end = strlen(grids);
        if (at->cells % height != 0)
            return false;
        snprintf(texts + texts_end, sizeof texts - texts_end, "%llu,", (number)at->text);
        snprintf(grids + grids_end, sizeof grids - grids_end, "%s%llu,%llu,%llu",
                 i > 0 ? "," : "", (number)at->frames, (number)(MERGED * height),
                 (number)(MERGED * (at->cells / height)));
    }
    int length = snprintf(dst, size, "text=%s%llu&grids=%s", texts, (number)own->rest, grids);
    return length > 0 && (size_t)length < size;
}

/* Propose a sequence with the settings of each model. */
static void propose_models(const pe_observation *seen, pe_proposals *proposals,
                           const char *prompt)
{
    const char *tensor = pe_observation_entry(seen, 0, 0) > 0.5 ? "cos" : "sin";
    for (size_t i = 0; i < PE_MROPE_PRESET_COUNT; i++)
        for (int full = 0; full < 2; full++) {
            const char *name = pe_mrope_presets[i].name;
            uint64_t dim = seen->columns * (full ? 1 : 2);
            dim *= strncmp(name, "glm", 3) == 0 ? 2 : 1; /* half of its columns turn */
            pe_propose_request(proposals, tensor, "preset=%s&%s&dim=%llu%s", name, prompt,
                               (number)dim, full ? "&table=full" : "");
        }
}

void pe_recognise_mrope(pe_observation *seen, pe_proposals *proposals)
{
    sequence own;
    char prompt[224];
    if (seen->view.rank != 2 || seen->sampled < 4 || seen->sampled < seen->rows ||
        seen->columns < 8 || pe_observation_is_constant(seen) || !read_sequence(seen, &own))
        return;
    proposals->angle = (double)seen->rows;
    for (uint64_t height = 1; height <= own.parts[0].cells; height++)
        if (own.parts[0].cells % height == 0 && write_runs(&own, height, prompt, sizeof prompt))
            propose_models(seen, proposals, prompt);
}
