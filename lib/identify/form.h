/* The forms that a table may have gone through after it was made, and undoing them: a line of
 * forms.def and a file each. What is left when some have been undone is a layer. */
#ifndef PE_FORM_H
#define PE_FORM_H

#include "identify/mapped_view.h"
#include "recognise/observation.h"

/* What a layer's view is beside another one. */
typedef enum pe_other {
    PE_OTHER_NONE,
    PE_OTHER_TENSOR, /* of the same request */
    PE_OTHER_TABLE   /* of another request */
} pe_other;

/* A table on its way back. */
typedef struct pe_layer {
    pe_view view;                  /* without axes of size 1 */
    size_t axes[PE_VIEW_RANK_MAX]; /* which axis of the given table each of its axes was */
    size_t count;
    pe_transform transforms[PE_TRANSFORMS_MAX];
    double bits;  /* of these */
    double turn;  /* the same, by which layers are searched in turn: no form counts
                   * for much more than another */
    size_t depth; /* how often a form was undone */
    uint64_t differing, copies; /* entries of the given table that are not those of the same
                                 * place in the view, which it has so often */
    pe_other is;
    pe_view other;           /* unless that is PE_OTHER_NONE */
    uint16_t *order;         /* of columns, if they are in another one; or NULL */
    bool is_rough;           /* of most columns it is right, and others are anywhere */
    pe_observed_wave *waves; /* of its columns; NULL: none were measured */
    bool examined;
} pe_layer;

#define PE_LAYERS_MAX        64
#define PE_NOISY_COLUMNS_MAX 16384

/* All layers of one table, and what their views read. */
typedef struct pe_layers {
    pe_layer items[PE_LAYERS_MAX];
    size_t count;
    size_t room;  /* bytes of elements that may still be held */
    bool noisy;   /* all other layers have been searched without noise */
    double least; /* bits of the best explanation yet: a layer that has as many is not added */
    struct pe_held_view *held; /* freed with the layers */
    pe_error *reterr;
} pe_layers;

/* Begin with a table as it is given. False, and a problem, if it cannot be read. pe_layers_done
 * frees what is held either way. */
bool pe_layers_begin(pe_layers *layers, const pe_view *view, pe_error *reterr);
void pe_layers_done(pe_layers *layers);

/* Add the problem that a view cannot be read, unless there is another one. Returns false. */
bool pe_layers_refuse(pe_layers *layers);

/* A layer beneath another, whose view is still that one's: for being changed and added. */
pe_layer pe_layer_beneath(const pe_layer *layer);

/* Note a form, whose axis is one of the layer's view; false if there are too many. */
bool pe_layer_note(pe_layer *layer, pe_transform transform);

/* Add a layer to those that are searched, without its axes of size 1, unless it is there, or
 * costs too much. */
void pe_layers_add(pe_layers *layers, const pe_layer *layer);

/* Add the layer of two views that a form splits a layer into, along its axis if that is gone.
 */
void pe_layers_add_two(pe_layers *layers, const pe_layer *layer, pe_transform form, pe_other is,
                       const pe_view views[2]);

/* The same view of row-major elements in memory, which outlive it. */
pe_view pe_view_held(const pe_view *view, void *elements);

/* Memory that is released with the layers; NULL, and a problem, without it. pe_layers_keep
 * takes what there is, and releases it at once if it cannot be kept: NULL then. */
void *pe_layers_hold(pe_layers *layers, size_t size);
void *pe_layers_keep(pe_layers *layers, void *memory, void (*release)(void *memory));

/* Whether forms of a kind have been undone. */
bool pe_layer_has(const pe_layer *layer, pe_transform_kind kind);

/* Whether a form that changes entries has been undone, and not where they lie. */
bool pe_layer_is_of_entries(const pe_layer *layer);

/* Undo a form in all the ways that a layer may have it. False: the view cannot be read, or
 * memory ran out. */
typedef bool pe_form_undo(pe_layers *layers, const pe_layer *layer);

/* Say a form of an identity. */
typedef void pe_form_write(const pe_identity *identity, const pe_transform *form,
                           char dst[PE_FORM_TEXT]);

#define FORM(kind, name, undo, write)                                                          \
    pe_form_undo undo;                                                                         \
    pe_form_write write;
#include "identify/forms.def"
#undef FORM

/* Undo all forms of a layer, each line of the table once. False: as pe_form_undo. */
bool pe_forms_undo(pe_layers *layers, const pe_layer *layer);

/* Whether two tensors are the cosines and sines of a request by the look of it. *ret_read: they
 * could be read. */
bool pe_views_are_turned(const pe_view views[2], bool *ret_read);

/* What was found of a layer with a factor and a constant. */
typedef struct pe_factor_fit {
    const pe_identity *found;
    const pe_limits *limits;
    const pe_runner *runner;
} pe_factor_fit;

/* Add the layer whose factor and constant fit the tensors that were found, if the table's own
 * numbers tell these badly. False: as pe_form_undo. */
bool pe_refit_factor(pe_layers *layers, const pe_layer *layer, const pe_factor_fit *fit);

/* Add the layer whose finite entries have the other sign. False: as pe_form_undo. */
bool pe_undo_other_sign(pe_layers *layers, const pe_layer *layer);

/* The two views of a form of two tensors: one of the columns of each pair. */
pe_view pe_view_half(const pe_view *view, bool alternating, uint64_t which);

/* Entries of a table that are spread over its rows, at most PE_LOOKED_ROWS lines of
 * PE_LOOKED_COLUMNS entries. False: it cannot be read. */
#define PE_LOOKED_ROWS    16
#define PE_LOOKED_COLUMNS 64
bool pe_view_read_sample(const pe_view *view, double *entries, size_t *ret_count);

#endif
