/* Names of the axes of an input, several of which may lie in one axis of its own. */
#ifndef PE_APPLY_AXES_H
#define PE_APPLY_AXES_H

#include "posenc.h"

#define PE_AXIS_NAME_SIZE 32 /* longer ones are refused */

/* Names, which lie in a text that they are cut out of; "" is that of an axis without a name. */
typedef struct pe_axis_names {
    size_t count, of; /* names; axes of the input */
    struct {
        const char *text;
        size_t length;
        size_t in; /* the input's axis that this one lies in */
    } at[PE_VIEW_RANK_MAX];
} pe_axis_names;

/* Split names joined by commas, up to the end or a bar; those of axes that lie in one are in
 * parentheses. False: there are too many, or one is empty, too long or has other characters. */
bool pe_axes_split(const char *text, pe_axis_names *ret_names);

/* The place of a name, or `count`. */
size_t pe_axes_find(const pe_axis_names *names, const char *name);
size_t pe_axes_find_same(const pe_axis_names *names, const pe_axis_names *of, size_t index);

/* Name the axes of an input: as the options ask for, else the last ones as `list`, the rule's
 * for this request, has them; those without a name have an empty one. False: a problem was
 * added to reterr. */
bool pe_axes_name(const pe_application *rule, const char *list, const pe_view *input,
                  const pe_apply_options *options, pe_axis_names *ret_names, pe_error *reterr);

/* Check that no other axis may be that of the positions, which comes before the columns: none
 * that has its extent, and is called heads or nothing. False: a problem was added to reterr,
 * which has both readings. */
bool pe_axes_are_clear(const pe_application *rule, const char *list, const pe_axis_names *names,
                       const uint64_t *extents, pe_error *reterr);

/* Divide the axes of an input in which several lie: `known` has the extent of each name, or 0;
 * ret_extents gets all. False: a problem was added to reterr. */
bool pe_axes_divide(const pe_application *rule, const pe_axis_names *names,
                    const pe_view *input, const uint64_t *known, uint64_t *ret_extents,
                    pe_error *reterr);

/* Add that the shape of an input must be another one. Returns false. */
bool pe_axes_refuse_shape(pe_error *reterr, const pe_view *input, const char *allowed, ...)
    __attribute__((format(printf, 3, 4)));

#endif
