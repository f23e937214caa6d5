/* The interface between schemes and the code that runs them: the manual for files in schemes/.
 *
 * A scheme is one file that ends in the constant `const pe_scheme pe_scheme_NAME`, and one line
 * in schemes/schemes.def that registers it. */
#ifndef PE_SCHEME_H
#define PE_SCHEME_H

#include "posenc.h"

#define PE_DIM_MAX 1048576 /* the most columns of a table */

/* The values of one request, for the hook that reads them. They are read by the parameter's
 * name; asking for a name that the scheme does not have, or for the value of an absent
 * parameter, is a programming error. */
typedef struct pe_values {
    const pe_scheme *scheme;
    const pe_value *items;
} pe_values;

const pe_value *pe_value_find(const pe_values *values, const char *name);
bool pe_is_present(const pe_values *values, const char *name);

/* The value of a parameter: 0 or false if it is absent. */
int64_t pe_get_integer(const pe_values *values, const char *name);
double pe_get_real(const pe_values *values, const char *name);
bool pe_get_flag(const pe_values *values, const char *name);

int pe_get_choice(const pe_values *values, const char *name); /* index into the choices */
pe_dtype pe_requested_dtype(const pe_values *values);

/* The request's set, NULL if it names none. */
const pe_set *pe_values_set(const pe_values *values);

/* Refuse the value of a parameter, which is shown as the request has it: it must be `allowed`,
 * a format. */
pe_problem *pe_refuse_value(const pe_values *values, const char *name, pe_error *reterr,
                            const char *allowed, ...) __attribute__((format(printf, 4, 5)));

/* The tensors of a request. */
#define PE_SETTLED_MAX 4

typedef struct pe_plan {
    pe_tensor tensors[PE_TENSORS_MAX];
    size_t count;
    uint64_t held;  /* bytes of memory that computing takes besides the tensors, if large */
    uint64_t state; /* the same of what has a limit of its own, and may be some MB */

    /* What computing costs in multiply-adds of a simple loop, about 0.4 ns each, exact in order
     * of magnitude: the preparation, and one element of each tensor. */
    double price, element_prices[PE_TENSORS_MAX];

    /* Values that follow from other ones, such as the sides of a stored table's grid: the
     * request takes them as given. */
    struct pe_settled {
        const char *name; /* of a number */
        double real;
    } settled[PE_SETTLED_MAX];
    size_t settled_count;
} pe_plan;

/* A refusal tells the bytes of `held`, and all machines tell the same: what is counted there
 * has a size of its own, without pointers and size_t. */
#define PE_HELD_SIZE(type, bytes)                                                              \
    _Static_assert(sizeof(type) == (bytes), "a plan counts the same bytes on every machine")

/* Add a tensor, and return it; the first one is the primary tensor. Sizes may be anything, as
 * limits are checked afterwards. A row of the tensor is one index of its first axis. */
const pe_tensor *pe_plan_add(pe_plan *plan, const char *name, pe_dtype dtype, size_t rank,
                             const uint64_t *shape);

/* Make a row of the tensor added last one index of its first `axes` axes together. A stream
 * holds at least one row, so a row must not be large. */
void pe_plan_rows(pe_plan *plan, size_t axes);

/* Settle a number that the request has left open. */
void pe_plan_settle(pe_plan *plan, const char *name, double value);

/* Set the price of an element of the tensor added last, which is 2 before. */
void pe_plan_price(pe_plan *plan, double element_price);

/* Plan tables that the state keeps: about `entries` elements of the first tensor's dtype, but
 * not more than `most` bytes. */
void pe_plan_keep(pe_plan *plan, double entries, uint64_t most);

/* Check that the dtype can hold values up to `magnitude`. `parameter` names the parameter that
 * makes them so large. */
void pe_check_magnitude(pe_dtype dtype, const char *parameter, double magnitude,
                        pe_error *reterr);

/* Check that a list, if it is present, has `wanted` items; `what` says what these are, as in
 * "one for each axis". False: a problem was added. */
bool pe_check_count(const pe_values *values, const char *name, size_t wanted, const char *what,
                    pe_error *reterr);

/* Rows [first, first + rows) of a tensor, which has pe_tensor.rows. */
typedef struct pe_window {
    size_t tensor;
    uint64_t first, rows;
} pe_window;

/* The pace of a preparation whose loops may take long. */
typedef struct pe_pace {
    const pe_runner *runner; /* or NULL */
    const pe_scheme *scheme;
    pe_error *reterr;
    double total;   /* price of the whole request */
    double done;    /* of the work so far */
    double unasked; /* of the work since the last question */
    void *kept;     /* what pe_keep gave first: the state */
} pe_pace;

struct pe_scheme {
    pe_scheme_info info;

    /* The size of the scheme's state, a struct of its own: first what is asked for, then what
     * all rows share. */
    size_t state_size;

    /* Read the values into the state, which is all zero, check the rules between them, and plan
     * the tensors and what they cost. If it adds a problem to reterr, state and plan are
     * ignored. Allocates nothing.
     *
     * No other hook sees the values. The state that was read belongs to the request, as the
     * plan does: nobody changes them, so that any threads may use them, and they outlive what
     * is made of them. The state owns nothing yet. It may point to the lists, texts and sets of
     * values and to tensors of the plan, but not to the values, nor to itself. */
    void (*read)(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr);

    /* Complete a copy of the state by what all rows share, such as frequencies, in memory of
     * pe_keep. The copy stays where it is. False if memory ran out or a problem was added to
     * pace->reterr. NULL: there is nothing to add, and `fill` is handed the state that was
     * read. */
    bool (*prepare)(void *state, pe_pace *pace);

    /* Write a window of a tensor. It cannot fail, and a window has the same bits as that part
     * of the whole tensor. Several threads may call it with the same state at once. State and
     * rows take at most a few dozen MB, whatever the parameters, so that a table of any size
     * can be computed block by block. */
    void (*fill)(const void *state, pe_window window, void *dst);

    /* How far entries may be off that were computed in some arithmetic: pe_tolerance.bounded.
     * Entries of PE_ERRORS_OF_ANGLES are those of waves: with the dtype PE_LOSS, `fill` writes
     * a * |angle| * (8 + 3 * |ln w|) of each, and 0 of entries that have no angle. */
    enum { PE_ERRORS_OF_PRODUCTS, PE_ERRORS_OF_ANGLES, PE_ERRORS_OF_SUMS } errors;

    /* What the scheme does to tensors of a model: PE_APPLIES(…), or nothing. */
    const pe_application *applications;
    size_t application_count;

    /* Presets whose models do something else with the tables: name, what, …, NULL; or NULL. */
    const char *const *applied_otherwise;
};

/* The hooks of a scheme whose file calls them read, prepare and fill, and whose state is of
 * this type. */
#define PE_HOOKS(type)                                                                         \
    .state_size = sizeof(type), .read = read, .prepare = prepare, .fill = fill

/* Frequent applications. */
#define PE_ADDITION(its_axes)                                                                  \
    {                                                                                          \
        .kind = PE_APPLY_ADD, .input = "x", .axes = (its_axes), .result = "x",                 \
        .tensors = {"encoding"}, .formula = "x + scale * encoding"                             \
    }
#define PE_WEIGHTED_ADDITION(its_axes)                                                         \
    {                                                                                          \
        .kind = PE_APPLY_ADD, .input = "x", .axes = (its_axes), .result = "x",                 \
        .tensors = {"encoding"}, .is_rational = true, .formula = "x + scale * encoding"        \
    }
#define PE_ROTATION(name, cosines, sines)                                                      \
    {                                                                                          \
        .kind = PE_APPLY_ROTATE, .input = (name), .axes = "length,dim", .result = (name),      \
        .tensors = {(cosines), (sines)}, .entry_axes = "length,pair",                          \
        .formula = "(x, y) -> (x cos - y sin, x sin + y cos) for the two columns of each "     \
                   "pair; inverse=true: (x cos + y sin, y cos - x sin)"                        \
    }
#define PE_BIAS(tensor)                                                                        \
    {                                                                                          \
        .kind = PE_APPLY_ADD, .input = "scores", .axes = "heads,queries,keys",                 \
        .result = "scores", .tensors = {(tensor)}, .is_rational = true,                        \
        .formula = "scores + scale * " tensor                                                  \
    }

#define PE_FACTOR(name, tensor)                                                                \
    {                                                                                          \
        .kind = PE_APPLY_MULTIPLY, .input = (name), .axes = "heads,queries,keys",              \
        .result = (name), .tensors = {(tensor)}, .formula = name " * " tensor                  \
    }

#define PE_APPLIES(...)                                                                        \
    .applications = (const pe_application[]){__VA_ARGS__},                                     \
    .application_count =                                                                       \
        sizeof((const pe_application[]){__VA_ARGS__}) / sizeof(pe_application)

/* How many rows may be computed for a price; at least one. */
uint64_t pe_rows_of_price(double row_price, double price);

/* Memory for `count` items of `size` bytes, which begins at a cache line and lives as long as
 * the state that is prepared: nobody else frees it. NULL if memory ran out. */
void *pe_keep(pe_pace *pace, size_t count, size_t size);
void *pe_keep_zeros(pe_pace *pace, size_t count, size_t size);

/* Free what pe_keep gave first, pace->kept, and all that it gave afterwards. It may be NULL. */
void pe_kept_free(void *state);

#define PE_QUESTION_PRICE 0x1p22 /* of the work between two questions: some milliseconds */

/* Count work that is about to be done, and ask the runner whether to go on if it has not been
 * asked for a few milliseconds. False: PE_CANCELLED was added to reterr. */
bool pe_pace_may_continue(pe_pace *pace, double price);

/* Tell the runner, if there is one, the share that is done (limited to 0 … 1), and ask it
 * whether to continue. If not, adds PE_CANCELLED to reterr and returns false. */
bool pe_may_continue(const pe_runner *runner, const pe_scheme *scheme, double done,
                     pe_error *reterr);

/* Two rows of a parameter table for trained tensors: `set`, and `seed`,
 * for random tensors. The text `tensors` lists the tensors of the set. */
#define PE_TRAINED_PARAMETERS(tensors)                                                         \
    {.name = "set",                                                                            \
     .old_name = "parameters",                                                                 \
     .type = PE_STORED,                                                                        \
     .help = "name of a set of trained tensors: " tensors},                                    \
    {                                                                                          \
        .name = "seed", .type = PE_INTEGER, .unless = "set", .default_text = "0",              \
        .maximum = 9007199254740992.0, .help = "seed of the random tensors"                    \
    }

#define PE_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Initialise a list of a pe_scheme or its info and the count, as in PE_LIST(parameter,
 * PARAMETERS). A list longer than its PE_LIST_MAX_… does not compile. Code that copies lists
 * has arrays of these sizes. */
#define PE_LIST_MAX_parameter   44
#define PE_LIST_MAX_preset      44
#define PE_LIST_MAX_tensor      PE_TENSORS_MAX
#define PE_LIST_MAX_application PE_TENSORS_MAX
#define PE_LIST(field, array)                                                                  \
    .field##s = (array), .field##_count = PE_COUNT_UP_TO(array, PE_LIST_MAX_##field)
#define PE_COUNT_UP_TO(array, most)                                                            \
    (PE_COUNT(array) + 0 * sizeof(struct {                                                     \
                           _Static_assert(PE_COUNT(array) <= (most), "the list is too long");  \
                           char unused;                                                        \
                       }))

#endif
