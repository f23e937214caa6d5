/* posenc: positional encodings, exact to the last bit.
 *
 * This header is the library's whole public interface, and its manual. It is C11, and C++ may
 * include it. A caller
 *
 *   1. finds a scheme in the registry                   pe_scheme_find
 *   2. turns arguments into a checked request           pe_request_new
 *   3. computes the request's tensors as a table        pe_table_compute
 *      or gets the table from a shared cache            pe_cache_get
 *      or reads a tensor too large to hold as a stream  pe_stream_new
 *   4. reads the tensors                                pe_table_data, pe_stream_read
 *
 * The sections below are: status and errors, element types, schemes, arguments, tensors and
 * sets, requests, runners, tables, streams, the cache, foreign tables, comparing,
 * pairings, identifying, explaining, applying, memory.
 *
 * These rules hold throughout:
 *
 *   - Every function may be called from any thread. Immutable objects may be shared by threads,
 *     and the cache has its own lock. Other objects belong to one thread at a time.
 *   - A function that can fail in more than one way returns a pe_status and describes the
 *     failure in `reterr`, which it never reads. On failure no other output is changed.
 *   - Objects with `_ref` and `_unref` are reference-counted: they start with one reference,
 *     `_ref` adds one and returns its argument, and the last `_unref` frees the object.
 *   - `_free` and `_unref` accept NULL.
 *   - The library never logs, prints, exits, or reads the environment or the clock. It depends
 *     only on the C library. No result depends on locale, compiler, instruction set or threads.
 *   - Sizes are checked against limits before memory is allocated. */
#ifndef POSENC_H
#define POSENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The release. Every other place that names it reads this line. */
#define PE_VERSION "1.0.0"

/* ---- status and errors ---- */

typedef enum pe_status {
    PE_OK,
    PE_MALFORMED,    /* an unknown, repeated or missing name, or a value of the wrong kind */
    PE_OUT_OF_RANGE, /* well-formed, but outside a range or against a rule between parameters */
    PE_TOO_LARGE,    /* well-formed and legal, but over a size limit of this process */
    PE_CANCELLED,    /* the caller's runner ended a computation */
    PE_NO_MEMORY,    /* memory ran out; the same call may succeed later */
} pe_status;

typedef struct pe_parameter pe_parameter;
typedef struct pe_scheme pe_scheme;

/* Why a parameter is wrong. A caller that shows problems to others may word them by this. */
typedef enum pe_reason {
    PE_REASON_RULE,      /* against a rule, which `allowed` states */
    PE_REASON_UNKNOWN,   /* the scheme has no parameter of this name */
    PE_REASON_REPEATED,  /* given more than once */
    PE_REASON_MISSING,   /* required, but not given */
    PE_REASON_CONFLICT,  /* of no use with another parameter or choice, and so refused */
    PE_REASON_KIND,      /* written as another kind than its type asks for */
    PE_REASON_VALUE,     /* its text is no value of its type */
    PE_REASON_CHOICE,    /* its text is none of the choices */
    PE_REASON_RANGE,     /* outside its range, or not a multiple of what it must be */
    PE_REASON_NO_SET,    /* no set has this name */
    PE_REASON_TOO_LARGE, /* over a size limit of this process */
    PE_REASON_NO_MEMORY,
    PE_REASON_CANCELLED,
} pe_reason;

/* How an argument was written, where the caller's notation can tell: then the kind must fit the
 * parameter's type. The text of a list is its items joined by commas. */
typedef enum pe_kind {
    PE_KIND_ANY,
    PE_KIND_NUMBER,
    PE_KIND_STRING,
    PE_KIND_BOOLEAN,
    PE_KIND_LIST,
    PE_KIND_NULL /* explicitly not given: only its name must be one that is known */
} pe_kind;

/* One wrong parameter. The texts are valid UTF-8 if the arguments were, cut where too long. */
typedef struct pe_problem {
    pe_reason reason;
    const pe_parameter *row; /* the parameter's row of its table, or NULL */
    pe_kind kind;            /* how it was written */
    bool alone;              /* one is missing, and only one argument came: of a URL without
                              * quotes a shell keeps no more */
    char parameter[64];
    char given[96];        /* what was given, empty if nothing was */
    char allowed[256];     /* a phrase that completes "the parameter must be ..." */
    char did_you_mean[64]; /* a likely spelling, empty if there is none */
} pe_problem;

#define PE_PROBLEM_LIMIT 16

/* All that is wrong with one request; `dropped` counts problems beyond PE_PROBLEM_LIMIT. */
typedef struct pe_error {
    pe_status status;
    const pe_scheme *scheme;  /* whose request it is, or NULL */
    const char *const *names; /* the `names` of its pe_limits */
    size_t count, dropped;
    pe_problem problems[PE_PROBLEM_LIMIT];
} pe_error;

void pe_error_init(pe_error *error);

/* Add one problem and return it, so that a caller may add to it. `allowed` is a printf format.
 * The reason is that of the status, PE_REASON_RULE for PE_MALFORMED and PE_OUT_OF_RANGE.
 * The gravest status wins, in the order in which pe_status lists them (PE_MALFORMED above
 * PE_OUT_OF_RANGE above PE_TOO_LARGE), PE_NO_MEMORY above all. */
pe_problem *pe_error_add(pe_error *error, pe_status status, const char *parameter,
                         const char *given, const char *allowed, ...)
    __attribute__((format(printf, 5, 6)));

/* Add the problems of another error. */
void pe_error_append(pe_error *error, const pe_error *other);

/* Refuse a name that is none of the choices, suggesting the nearest. */
pe_problem *pe_error_add_choice(pe_error *error, const char *parameter, const char *given,
                                const char *const *choices, size_t count);

/* Suggest `name` in place of what was given; NULL suggests nothing. */
void pe_problem_suggest(pe_problem *problem, const char *name);

/* The candidate nearest to `given` in spelling, NULL if none is near enough to suggest. */
const char *pe_find_nearest_name(const char *given, const char *const *candidates,
                                 size_t count);

/* Name number `index` that other libraries have for a scheme or parameter; NULL after the last.
 */
const char *pe_alias_at(const char *name, size_t index);

/* ---- element types ---- */

typedef enum pe_dtype {
    PE_F32,
    PE_F64,
    PE_F16,
    PE_BF16,
    PE_I32,
    PE_DTYPE_COUNT,
    PE_DD,  /* two doubles whose sum is the element: of pe_request_with_dtype, and nowhere else
             */
    PE_LOSS /* doubles: what an entry loses where its angle is rounded; see lib/scheme.h */
} pe_dtype;

const char *pe_dtype_name(pe_dtype dtype); /* "f32" … */
size_t pe_dtype_size(pe_dtype dtype);      /* bytes of one element */

/* The most bytes that pe_print_element writes, including the NUL. */
#define PE_PRINT_MAX 32

/* Print an element (native byte order, any alignment) as the shortest decimal that reads back
 * as the same element; of several shortest ones, the closest. Reals always have a point or an
 * exponent ("1.0", "-0.0", "1e-07"); NaN and infinities are printed as "null". Returns the
 * length without the NUL. */
size_t pe_print_element(char *dst, pe_dtype dtype, const void *element);

/* The same for a double that is an argument: integers have no point. */
size_t pe_print_number(char *dst, double number);

/* x^p with the same bits on every machine, for a normal x > 0 and |p| <= 2^20; of any others,
 * as people send them, what pow gives. */
double pe_power_double(double x, double p);

/* Print `count` consecutive elements separated by commas, without a NUL. `dst` has room for
 * count * PE_PRINT_MAX bytes; all of them may be written to. Returns the length. */
size_t pe_print_row(char *dst, pe_dtype dtype, const void *elements, size_t count);

/* Convert `count` elements (native byte order, any alignment) to double, exactly. */
void pe_read_row(double *dst, pe_dtype dtype, const void *elements, size_t count);

/* The reverse: round doubles to the nearest elements, ties to even; zeros keep their sign. For
 * PE_I32 they are integers of its range. `dst` is aligned to elements. */
void pe_write_row(void *dst, pe_dtype dtype, const double *numbers, size_t count);

/* Read all of text[0, length) as a number in JSON's grammar, which allows no blank, plus sign,
 * leading zero, hex, NaN or infinity, whatever the locale. *ret_number is the nearest double,
 * or ±HUGE_VAL for a number beyond the range of double. Returns false if the text is no such
 * number. text[length] must exist and must not continue the number: a NUL or a separator. */
bool pe_parse_number(const char *text, size_t length, double *ret_number);

/* Whether a number that pe_parse_number has read has the digits before the point that the text
 * has, and a fraction if that has one. A double does not keep 9007199254740993 or
 * 8999999999999991.2. Beyond 2^53 an integer may be rounded, as fractions are. */
bool pe_number_is_kept(const char *text, size_t length, double number);

/* ---- schemes ---- */

typedef enum pe_type {
    PE_INTEGER, /* |value| <= 2^53 */
    PE_REAL,    /* the double nearest to the text; of options also one of the choices */
    PE_BOOLEAN,
    PE_CHOICE,       /* one of a list of names */
    PE_REAL_LIST,    /* at least one real, at most pe_limits.list_length */
    PE_INTEGER_LIST, /* as PE_REAL_LIST, of integers */
    PE_STORED,       /* the name of a set of trained tensors */
    PE_TEXT,         /* a name or another text, of options alone: see pe_options */
    PE_TEXT_LIST,    /* texts joined by commas, of options alone */
} pe_type;

/* What one choice means for a parameter that depends on it. */
typedef struct pe_case {
    const char *choice;
    bool required;
    const char *default_text;
} pe_case;

/* One row of a scheme's parameter table. Parsing, validation, defaults, help, documentation and
 * tests all read these rows. Members that a row does not set mean "no". */
struct pe_parameter {
    const char *name;
    const char *old_name; /* by which it may still be given; NULL: none */
    pe_type type;
    bool required;
    bool one_for_all;   /* of a list: one number is for all, and need not be in a list */
    bool counts_rows;   /* it sets the number of rows, and is blamed where there are too many */
    const char *unless; /* the parameter that replaces this one: where that is given, this one
                         * is neither required nor legal */
    const char *stored; /* the tensor of the set whose axis `stored_axis` has this value:
                         * where a set is given, this one is neither required nor defaulted,
                         * and a given value must agree */
    size_t stored_axis;
    const char *when;     /* the choice parameter, above this one, that this one depends on */
    const pe_case *cases; /* the choices with which this one is legal; each says whether it is
                           * required and what its default is, instead of this row; the last
                           * case has no name */
    const char *default_text; /* the default, as the text of an argument */
    /* A default that is computed from parameters above this one:
     * default_of * default_times - default_less. A negative result is refused. */
    const char *default_of, *default_times, *default_less;
    double minimum, maximum;         /* the range of a number, or of each item of a list */
    bool open_minimum, open_maximum; /* whether the bound itself is outside the range */
    int64_t multiple_of;             /* 0: any */
    size_t list_length;              /* the most items of a list; 0: pe_limits.list_length */
    const char *const *choices;      /* PE_CHOICE, and PE_REAL of options: NULL-terminated */
    const char *unit;                /* NULL: a plain number or name */
    const char *help;                /* one line: what the parameter is */
};

/* A named set of parameter values, which explicit ones override. `values` holds name, text,
 * name, text, …, NULL. */
#define PE_PRESET_VALUES 17
typedef struct pe_preset {
    const char *name, *help;
    const char *values[PE_PRESET_VALUES];
} pe_preset;

/* A tensor of a scheme, for documentation; the shapes of one request are in pe_tensor. */
typedef struct pe_tensor_help {
    const char *name, *shape, *help;
} pe_tensor_help;

/* What a scheme says of itself. A pe_scheme is immutable; its functions are in lib/scheme.h. */
typedef struct pe_scheme_info {
    const char *name;     /* "sinusoidal" */
    const char *title;    /* "Sinusoidal position encoding" */
    const char *summary;  /* one sentence */
    const char *family;   /* where it acts: "absolute": on embeddings, by position; "rotary": it
                           * turns queries and keys; "relative": on attention, by the distance
                           * of query and key; "grid": on the cells of a picture */
    const char *keywords; /* what people look for it by, separated by ", ": models, libraries'
                           * and papers' words; see pe_alias_at */
    const char *formula;  /* plain text, with the frequency rule and sign convention */
    const char *convention;         /* the library or paper whose reading is the default */
    const char *reference;          /* "arXiv:1706.03762, section 3.5" */
    const char *example;            /* a small legal query: "length=4&dim=8" */
    unsigned revision;              /* raised whenever a bit of any result changes */
    const pe_parameter *parameters; /* the scheme's own */
    size_t parameter_count;
    const pe_preset *presets;
    size_t preset_count;
    const pe_tensor_help *tensors; /* the first one is the primary tensor */
    size_t tensor_count;
    const char *similarity_of; /* NULL; or the scheme whose rows this similarity compares */
} pe_scheme_info;

size_t pe_scheme_count(void);
const pe_scheme *pe_scheme_at(size_t index);       /* in the order of schemes.def */
const pe_scheme *pe_scheme_find(const char *name); /* NULL if there is none */

/* The name of the parameter whose old name this is; another name is returned as it is. */
const char *pe_scheme_current_name(const pe_scheme *scheme, const char *name);
const pe_scheme_info *pe_scheme_describe(const pe_scheme *scheme);

/* The scheme that compares the rows of another scheme's primary tensor. It takes the parameters
 * of that scheme, and "metric" and "rows"; it refuses requests whose primary tensor is not a
 * real matrix. `name` is that of the other scheme; NULL if there is none. Similarities are not
 * counted by pe_scheme_count, nor found by pe_scheme_find. */
const pe_scheme *pe_similarity_find(const char *name);

/* The parameters that every scheme takes besides its own. */
const pe_parameter *pe_common_parameters(size_t *ret_count);

/* All parameters of a scheme: its own, then the common ones. */
size_t pe_all_parameter_count(const pe_scheme_info *info);
const pe_parameter *pe_parameter_at(const pe_scheme_info *info, size_t index);

/* The parameter of a name; NULL if the scheme has none. */
const pe_parameter *pe_parameter_find(const pe_scheme_info *info, const char *name);

/* ---- arguments ---- */

/* One argument of a request. One without a text was given but could not be read: the request
 * fails, and the caller reports why. */
typedef struct pe_argument {
    const char *name;
    const char *text;
    pe_kind kind;
    bool repeated; /* given several times, as a list may be: its texts are joined by commas */
} pe_argument;

/* Refuse an argument whose name was given before. */
void pe_error_add_repetition(pe_error *error, const pe_argument *argument);

/* ---- tensors and sets ---- */

#define PE_RANK_MAX    4
#define PE_TENSORS_MAX 8 /* of one request; a scheme documents no more either */
typedef struct pe_tensor {
    const char *name;
    pe_dtype dtype;
    size_t rank;
    uint64_t shape[PE_RANK_MAX];
    uint64_t elements, bytes;
    uint64_t
        rows; /* the units it is computed in: a row is one index of its first axis or axes */
} pe_tensor;

/* A set of trained tensors, which a request may refer to by the set's name. Immutable and
 * reference-counted. */
typedef struct pe_set pe_set;

typedef struct pe_set_tensor {
    pe_tensor tensor;
    const void *data; /* row-major, native byte order, any alignment; all elements finite */
} pe_set_tensor;

/* Create a set. The array `tensors` is copied; the tensors' names and data lie in `memory`,
 * which the set frees in the end. `digest` identifies every bit of the set. NULL if memory ran
 * out; then `memory` still belongs to the caller. */
#define PE_DIGEST_SIZE 65 /* with its NUL */
pe_set *pe_set_new(const char *digest, const pe_set_tensor *tensors, size_t count,
                   void *memory);
pe_set *pe_set_ref(pe_set *set);
void pe_set_unref(pe_set *set);
const char *pe_set_digest(const pe_set *set);

/* List the tensors of a set, or find one by name; NULL if there is none. */
size_t pe_set_tensor_count(const pe_set *set);
const pe_set_tensor *pe_set_tensor_at(const pe_set *set, size_t index);
const pe_set_tensor *pe_set_tensor_find(const pe_set *set, const char *name);

/* The value of one element of a tensor, which must have a real dtype. */
double pe_set_element(const pe_set_tensor *tensor, uint64_t index);

/* Where requests find sets by name. `find` sets *ret_set to a new reference, or to NULL if
 * there is no set of that name, and returns PE_OK; or it returns PE_NO_MEMORY. */
typedef struct pe_sets {
    void *context;
    pe_status (*find)(void *context, const char *name, pe_set **ret_set);
} pe_sets;

/* ---- requests ---- */

/* What the process allows a request, and where it finds sets. `names` are those of arguments
 * that the caller itself takes: they can be suggested for a misspelt name. */
typedef struct pe_limits {
    uint64_t elements;        /* of all tensors of one request together */
    uint64_t table_bytes;     /* held while computing, beside the tensors */
    size_t list_length;       /* items of one list parameter */
    const pe_sets *sets;      /* NULL if there are no sets */
    const char *const *names; /* NULL-terminated; NULL if there are none */
} pe_limits;

/* The value of a parameter after presets and defaults have been applied. */
typedef struct pe_value {
    bool present;    /* if false, the other members mean nothing */
    int64_t integer; /* PE_INTEGER; PE_BOOLEAN: 0 or 1; PE_CHOICE: the choice's index; PE_REAL:
                      * 0 of a number, or 1 + the choice's index */
    double real;     /* PE_REAL and PE_INTEGER */
    const double *items; /* lists */
    size_t count;
    const char *text;  /* PE_STORED: the set's name; PE_TEXT and PE_TEXT_LIST */
    const pe_set *set; /* PE_STORED */
} pe_value;

/* What arguments say by a table of the caller's own: up to PE_OPTIONS_MAX rows, which are read
 * as those of a scheme are. Of PE_STORED only the name is read, and a list has a `list_length`.
 * The rows must outlive the options and the problems. */
#define PE_OPTIONS_MAX 24
typedef struct pe_options pe_options;

/* Read all arguments by the rows, refuse those that are none of them, and apply the defaults.
 * Each wrong or missing one is a problem in reterr. NULL without memory, which is a problem,
 * too; the functions below take that as options of which none is given. */
pe_options *pe_options_read(const pe_parameter *rows, size_t row_count,
                            const pe_argument *arguments, size_t count, pe_error *reterr);

/* The same of a list that has other arguments as well: those of the rows are taken out of it.
 */
pe_options *pe_options_take(const pe_parameter *rows, size_t row_count, pe_argument *arguments,
                            size_t *count, pe_error *reterr);
void pe_options_free(pe_options *options);

/* The value of a row: what is given, or the default. Absent, and then all zeros, if neither is,
 * or if what is given is wrong. It lives as long as the options. */
const pe_value *pe_options_value(const pe_options *options, size_t row);

/* The text of a row as it was given, which lives as long as the options; NULL if none was. */
const char *pe_options_text(const pe_options *options, size_t row);

/* Refuse a row, if it was given: it must be `allowed`, a format. Returns the problem, or NULL.
 */
pe_problem *pe_options_refuse(const pe_options *options, size_t row, pe_error *reterr,
                              const char *allowed, ...) __attribute__((format(printf, 4, 5)));

/* The default of a row that is no list and no text; absent if it has none. */
pe_value pe_default_value(const pe_parameter *row);

/* The case of a row for a choice of the parameter `when`; NULL if it is not legal with that. */
const pe_case *pe_parameter_case(const pe_parameter *row, const char *choice);

/* A checked request: a scheme, the values of all its parameters, and the shapes of its tensors.
 * Immutable and reference-counted. */
typedef struct pe_request pe_request;

/* Check `arguments` (in any order) against the scheme's parameter table and rules, apply the
 * preset and the defaults, and plan the tensors. All wrong arguments are reported, not only the
 * first; rules between parameters are checked only if every argument by itself is right. No
 * tensor is computed, and nothing is allocated whose size grows with the tensors. The request
 * keeps no pointer to the arguments. Fails with PE_MALFORMED, PE_OUT_OF_RANGE, PE_TOO_LARGE or
 * PE_NO_MEMORY. */
pe_status pe_request_new(const pe_scheme *scheme, const pe_argument *arguments, size_t count,
                         const pe_limits *limits, pe_request **ret_request, pe_error *reterr);
pe_request *pe_request_ref(pe_request *request);
void pe_request_unref(pe_request *request);

const pe_scheme *pe_request_scheme(const pe_request *request);

/* The canonical text of the request: scheme, revision, and every present parameter in the order
 * of the table, with shortest numbers. Requests with equal keys have equal bits. Valid as long
 * as the request. */
const char *pe_request_key(const pe_request *request, size_t *ret_length);

/* The value of parameter `index`, which counts as pe_parameter_at does. */
const pe_value *pe_request_value(const pe_request *request, size_t index);

/* The set that the request refers to, NULL if it refers to none. */
const pe_set *pe_request_set(const pe_request *request);

/* The name of the preset that the request applied; NULL if none. The key has its values, not
 * its name. Lives as long as the scheme. */
const char *pe_request_preset(const pe_request *request);

/* Whether the scheme and the shape of a tensor of the request tell which request it is: each
 * parameter shows in the shape or has its default. */
bool pe_request_is_usual(const pe_request *request, const pe_tensor *tensor);

/* The tensors of the request; tensor 0 is the primary one. */
size_t pe_request_tensor_count(const pe_request *request);
const pe_tensor *pe_request_tensor(const pe_request *request, size_t index);

/* Choose the tensors that are computed, bit i for tensor i: all of them unless this is called.
 * The bytes, the price and the table of the request are those of the chosen tensors; its key
 * and the list of its tensors stay. Only while nobody else refers to the request. */
void pe_request_choose(pe_request *request, unsigned tensors);
uint64_t pe_request_bytes(const pe_request *request); /* of the chosen tensors together */

/* At most as many bytes does computing the tensors take besides them: what schemes prepare. */
uint64_t pe_request_held(const pe_request *request);

/* The same request with its real tensors in another dtype, to be read as streams. Only of
 * schemes that are applied may it be PE_DD, for computing with the entries further: each is
 * within 2^-90 of itself, or of the largest term where it is a sum; numbers of few bits are
 * exact; below 2^-960 an entry is within 2^-1074. Fails with PE_NO_MEMORY, or as the check of a
 * request with that dtype does. */
pe_status pe_request_with_dtype(pe_request *request, pe_dtype dtype, pe_request **ret_request,
                                pe_error *reterr);

/* The multiply-adds that computing the request takes, exact in order of magnitude; and those of
 * the preparation alone, which a stream does before its first byte. One takes about 0.4 ns. */
double pe_request_price(const pe_request *request);
double pe_request_preparation_price(const pe_request *request);

/* Check a price, one of the two above, against a limit. If it is above, add a PE_TOO_LARGE that
 * says the price, the limit and which parameters to reduce, and return false. */
bool pe_request_check_price(const pe_request *request, double price, uint64_t limit,
                            pe_error *reterr);

/* ---- runners ---- */

/* Memory that is used again: see pe_cache_pool. */
typedef struct pe_pool pe_pool;

/* Threads, cancellation and memory that a caller provides for long computations. Any function
 * may be NULL. */
typedef struct pe_runner {
    void *context;
    pe_pool *pool; /* what large blocks are taken from; NULL: the system */
    /* Call task(job, part) for all parts 0 … count-1, in any order and on any threads, and
     * return when all calls have returned. NULL: the calling thread does everything. */
    void (*run)(void *context, void (*task)(void *job, size_t part), void *job, size_t count);
    /* Called on the thread that computes a table or opens a stream: with 0 before it begins,
     * then every few milliseconds with the share that is done, between 0 and 1. Returning false
     * cancels the computation, which fails with PE_CANCELLED. Called with 1 at the end, however
     * it ended; then the result is ignored. What a caller asks for may take several
     * computations, and work between them: there it is called without a scheme. */
    bool (*go_on)(void *context, const pe_scheme *scheme, double done);
    /* Asked by a cache where go_on has ended a preparation, on the same thread afterwards:
     * whether that was since the caller no longer needs the table. Others that wait for it
     * compute anew then. NULL: no, and they fail as well. */
    bool (*is_abandoned)(void *context);
} pe_runner;

/* ---- tables ---- */

/* The tensors of one request, each row-major, in native byte order and 64-byte aligned.
 * Immutable and reference-counted. */
typedef struct pe_table pe_table;

/* Compute the chosen tensors of a request. `runner` may be NULL. Fails with PE_NO_MEMORY,
 * PE_CANCELLED, or PE_OUT_OF_RANGE if the scheme's preparation finds that the values cannot be
 * computed. */
pe_status pe_table_compute(const pe_request *request, const pe_runner *runner,
                           pe_table **ret_table, pe_error *reterr);
pe_table *pe_table_ref(pe_table *table);
void pe_table_unref(pe_table *table);

/* The tensors, as those of the request, which may have been freed. Of one that was not chosen
 * there is no data: NULL. */
size_t pe_table_tensor_count(const pe_table *table);
const pe_tensor *pe_table_tensor(const pe_table *table, size_t index);
const void *pe_table_data(const pe_table *table, size_t index);

/* The PE_TABLE_HEADROOM bytes right before a tensor's data, for a file header that must be
 * contiguous with it. They may be written while others read the tensor, but by one thread at a
 * time; the builder of one attachment of a cache entry is one thread. */
#define PE_TABLE_HEADROOM 256
unsigned char *pe_table_headroom(pe_table *table, size_t index);

/* Bytes of memory that the table takes, including headroom and bookkeeping. */
size_t pe_table_footprint(const pe_table *table);

/* ---- streams ---- */

/* The bytes of one tensor, computed block by block as they are read: for tensors that are too
 * large to hold. A stream takes a few MB, whatever the tensor's size. One thread at a time. */
typedef struct pe_stream pe_stream;

/* At most as many bytes does a stream hold, and opening it takes. */
uint64_t pe_stream_footprint(const pe_request *request, size_t tensor, size_t block_bytes);

/* Open a stream of a tensor, which holds a reference to the request. A block has about
 * `block_bytes`, and at least one row. Large blocks (PE_STREAM_FAST) are computed faster per
 * byte, small ones make a single read wait less. A block takes about a millisecond at most, or
 * some milliseconds where a single row takes half of one, unless a row takes longer than these.
 * Fails as pe_table_compute does. The runner is used during this call only. */
#define PE_STREAM_FAST ((size_t)4 << 20)
pe_status pe_stream_new(pe_request *request, size_t tensor, size_t block_bytes,
                        const pe_runner *runner, pe_stream **ret_stream, pe_error *reterr);
void pe_stream_free(pe_stream *stream);

uint64_t pe_stream_size(const pe_stream *stream); /* bytes */

/* The multiply-adds of the blocks that so many bytes take: of a read, with 1, as
 * pe_request_price.
 */
double pe_stream_price(const pe_stream *stream, uint64_t bytes);

/* Announce that bytes from `end` on will not be read, so that no rows are computed for them. */
void pe_stream_end_at(pe_stream *stream, uint64_t end);

/* Read up to `size` bytes from `offset` on. Returns how many were read: 0 only at the end of
 * the tensor, and fewer than `size` there, where more would take longer than about a
 * millisecond, and where a large read would end within a row. Continuing where the last read
 * ended is fast; another offset costs the computation of a block. */
size_t pe_stream_read(pe_stream *stream, uint64_t offset, void *dst, size_t size);

/* Read all of these bytes, however long that takes; false if the stream ends before. */
bool pe_stream_read_fully(pe_stream *stream, uint64_t offset, void *dst, size_t size);

/* ---- the cache ---- */

/* A least-recently-used cache of tables with a budget in bytes. The key of an entry is
 * pe_request_key with the chosen tensors: it serves requests of this key for any of them.
 * Entries are reference-counted: eviction does not wait for readers, and readers keep their
 * tables. If several threads miss the same key, one computes and the others wait for its result
 * (single flight). */
typedef struct pe_cache pe_cache;
typedef struct pe_entry pe_entry;

/* How an entry was got: it was there, it was computed by this call, or this call waited for
 * another thread that computed it. */
typedef enum pe_outcome { PE_HIT, PE_MISS, PE_COALESCED } pe_outcome;

typedef struct pe_cache_stats {
    uint64_t hits, misses, coalesced, evictions, computed;
    uint64_t bytes, budget, entries;
    uint64_t idle; /* memory kept for the next table; bytes + idle never exceed the budget */
} pe_cache_stats;

/* Create a cache. NULL if memory ran out. With a budget of 0 nothing is kept. */
pe_cache *pe_cache_new(uint64_t budget_bytes);

/* Set the runner of all computations, whose context must outlive the cache: before the first
 * pe_cache_get. It is copied, and takes memory from the cache's own pool. */
void pe_cache_set_runner(pe_cache *cache, const pe_runner *runner);

/* The pool of a cache: large blocks that its entries have released, and others that were taken
 * from it, as far as the budget has room for them. They serve the next table, stream or text.
 * Lives as long as the cache. */
pe_pool *pe_cache_pool(pe_cache *cache);

/* Free the cache, once all calls have returned. Entries that are still held stay valid. */
void pe_cache_free(pe_cache *cache);

/* Get an entry that serves the request: find it, wait for another thread that computes it, or
 * compute it. Fails as pe_table_compute does; failures are not kept. */
pe_status pe_cache_get(pe_cache *cache, const pe_request *request, pe_entry **ret_entry,
                       pe_outcome *ret_outcome, pe_error *reterr);

/* The same without computing and without blocking. PE_IN_FLIGHT: another thread is computing
 * the entry. An entry that is found counts once it is used, since the caller may have to look
 * it up again: as coalesced if an earlier look-up for the same purpose returned PE_IN_FLIGHT
 * (`awaited`), else as a hit. */
typedef enum pe_lookup { PE_FOUND, PE_IN_FLIGHT, PE_ABSENT } pe_lookup;
pe_lookup pe_cache_try_get(pe_cache *cache, const pe_request *request, pe_entry **ret_entry);
void pe_cache_count_use(pe_cache *cache, bool awaited);

/* A failure is not kept, but all callers that waited for a computation share its failure. A
 * caller that does not block notes the moment when its request comes. When it asks again, it
 * learns whether a computation of the key has failed since then, and need not try again. Only
 * the last few failures are known; an abandoned computation (pe_runner) is not one of them.
 * Moments are above 0; since 0 nothing has failed. */
uint64_t pe_cache_moment(pe_cache *cache);
bool pe_cache_find_failure(pe_cache *cache, const pe_request *request, uint64_t since,
                           pe_error *reterr);

/* A shortcut leads from a text straight to the object of an attachment: a text for which the
 * caller would always get this object, such as a whole HTTP request target. The cache keeps
 * about a thousand shortcuts; they are removed with their entry.
 *
 * pe_cache_find_shortcut returns the object and a new reference to its entry, and counts a hit;
 * or it returns NULL. */
void *pe_cache_find_shortcut(pe_cache *cache, const char *text, size_t length,
                             pe_entry **ret_entry);
void pe_cache_add_shortcut(pe_cache *cache, pe_entry *entry, void *object, const char *text,
                           size_t length);

void pe_cache_read_stats(pe_cache *cache, pe_cache_stats *ret_stats);

pe_table *pe_entry_table(pe_entry *entry); /* not a new reference */
void pe_entry_unref(pe_entry *entry);

/* An object that was built from an entry's table, such as a finished reply. It is kept and
 * evicted with the entry, and counted in the budget. */
typedef struct pe_attachment {
    void *object;
    size_t bytes;                  /* memory that it takes besides the table */
    void (*destroy)(void *object); /* must not call the cache, which may be locked */
} pe_attachment;

/* Builds an attachment. For one id and variant of an entry, one thread at a time calls it;
 * other attachments may be built meanwhile, and it may look for them. False if it failed; then
 * nothing is kept. */
typedef bool (*pe_attachment_builder)(pe_table *table, void *context,
                                      pe_attachment *ret_attachment);

/* Get the object of the attachment with this id and variant, a text that is copied; both are
 * the caller's choice. If there is none, it is built, unless `build` is NULL; while another
 * thread builds it, this one waits for the result and shares it. NULL if there is none (yet) or
 * building failed. The object is valid as long as the caller holds the entry. */
void *pe_entry_attachment(pe_cache *cache, pe_entry *entry, unsigned id, const char *variant,
                          pe_attachment_builder build, void *context);

/* ---- foreign tables ---- */

/* Element types of tables that come from elsewhere. */
typedef enum pe_element {
    PE_ELEMENT_F32,
    PE_ELEMENT_F64,
    PE_ELEMENT_F16,
    PE_ELEMENT_BF16,
    PE_ELEMENT_I8,
    PE_ELEMENT_I16,
    PE_ELEMENT_I32,
    PE_ELEMENT_I64,
    PE_ELEMENT_U8,
    PE_ELEMENT_U16,
    PE_ELEMENT_U32,
    PE_ELEMENT_U64,
    PE_ELEMENT_BOOL, /* a byte, which is 0 or not */
    PE_ELEMENT_COUNT
} pe_element;

const char *pe_element_name(pe_element element); /* "f32" …, "bool" */
size_t pe_element_size(pe_element element);      /* bytes */

/* Whether it is one of the real dtypes, and which. */
bool pe_element_is_real(pe_element element, pe_dtype *ret_dtype);

/* The element type of a dtype's entries. */
pe_element pe_get_element(pe_dtype dtype);

/* A table from elsewhere, such as an uploaded file. Strides count elements, so Fortran order is
 * a matter of strides. A complex table has one more axis of two reals. */
#define PE_VIEW_RANK_MAX 6
typedef struct pe_view {
    /* Copy `size` bytes from `offset` on. False: they cannot be read. */
    bool (*read)(void *context, uint64_t offset, void *dst, size_t size);
    void *context;
    uint64_t offset; /* of the element [0, …, 0], in bytes */
    pe_element element;
    bool swapped; /* bytes of an element come in the other order than this machine's */
    double unit;  /* in the last place at 1, of numbers that were rounded to fewer digits than
                   * their elements have; else 0 */
    double grain; /* what numbers may be off by besides, that were rounded to decimals, or
                   * beside a constant; else 0 */
    double factor, constant; /* by which numbers were multiplied, and then moved, when they were
                              * rounded to their unit; 0: by none */
    double angle_unit; /* relative, of the angles of which elements are the sines or cosines, if
                        * these were rounded to 16 bits; else 0 */
    bool is_divided;   /* a factor was undone, which rounds numbers: none is told bit for bit */
    bool is_complex;   /* the last axis has two reals, the parts of a number */
    size_t rank;       /* 0: one element */
    uint64_t shape[PE_VIEW_RANK_MAX], strides[PE_VIEW_RANK_MAX];
} pe_view;

/* Set the strides of row-major order. */
void pe_view_set_row_major(pe_view *view);

uint64_t pe_view_elements(const pe_view *view); /* 0 if it would not fit 64 bits */

/* Views of the same elements: without axes of size 1; with two axes exchanged; with a part of
 * one axis; with one index of an axis, which goes. */
pe_view pe_view_squeezed(const pe_view *view);
pe_view pe_view_transposed(const pe_view *view, size_t axis, size_t other);
pe_view pe_view_part(const pe_view *view, size_t axis, uint64_t first, uint64_t count);
pe_view pe_view_at(const pe_view *view, size_t axis, uint64_t index);

/* Read rows [first, first + rows) of the first axis, row-major and in native byte order: as
 * elements, or converted to double (64-bit integers that no double has become NaN). False: the
 * view's read function has failed. At most 64 KiB of the stack are taken. */
bool pe_view_read_elements(const pe_view *view, uint64_t first, uint64_t rows, void *dst);
bool pe_view_read(const pe_view *view, uint64_t first, uint64_t rows, double *dst);

/* ---- comparing ---- */

#define PE_COMPARE_PLACES  64 /* columns, and blocks of rows */
#define PE_COMPARE_ROWS    8
#define PE_COMPARE_SAMPLES 8
#define PE_COMPARE_BINS    66

/* Where two tables differ most: an element's number in row-major order, and both values. */
typedef struct pe_deviation {
    double error; /* of what is looked for */
    uint64_t place;
    double found, exact;
} pe_deviation;

/* A part of a table: a column, a block of rows, or some indices of another axis. */
typedef struct pe_compared_part {
    uint64_t first, count; /* columns, rows or indices */
    uint64_t differing;
    double max_abs, max_ulps;
} pe_compared_part;

/* A row with differing entries, and the first of them. */
typedef struct pe_compared_row {
    uint64_t row, differing;
    size_t samples;
    uint64_t columns[PE_COMPARE_SAMPLES];
    double found[PE_COMPARE_SAMPLES], exact[PE_COMPARE_SAMPLES];
} pe_compared_row;

/* What a comparison found. Entries differ if their values do: zeros of either sign are equal,
 * and so are infinities of one sign. NaN equals NaN. An entry that is NaN or infinite where the
 * other is not counts as differing and as not finite, and has no error. Errors are |found -
 * exact|, as doubles. An ulp is the distance of floats of the request's dtype at max(|exact|,
 * its least normal number); of the integers, 1. */
typedef struct pe_comparison {
    uint64_t entries, differing, not_finite;
    uint64_t signs;   /* equal entries whose bits differ: zeros of the other sign */
    uint64_t outside; /* entries that are further off than the tolerances */
    uint64_t masked;  /* numbers that stand for -infinity, as pe_tolerance.any_mask has it */
    pe_deviation absolute, ulps;
    double one;     /* absolute.error in units in the last place of numbers just below 1 */
    double squares; /* the sum of the squares of errors */
    double entry_squares; /* the same of the exact entries that differ, */
    double bound_squares; /* and of their bounds, where these are known */
    uint64_t
        repeated; /* how often the view has the table: along axes that it is constant along */
    uint64_t first_not_finite;
    /* bins[0]: no error; bins[1 + k]: an error of up to 2^(k-1) ulps that is in no bin before;
     * the last one: more, or not finite */
    uint64_t bins[PE_COMPARE_BINS];
    size_t column_count, block_count, row_count;
    pe_compared_part columns[PE_COMPARE_PLACES]; /* the worst ones, worst first */
    pe_compared_part blocks[PE_COMPARE_PLACES];  /* of all rows, in order */
    pe_compared_row rows[PE_COMPARE_ROWS];       /* the first ones that differ */
    /* of each axis of the exact table, all parts in order; and how many */
    pe_compared_part axes[PE_VIEW_RANK_MAX][PE_COMPARE_PLACES];
    size_t axis_parts[PE_VIEW_RANK_MAX];
} pe_comparison;

/* An entry is outside if its error is above absolute + relative * |exact|, above `ulps` ulps
 * and, if `bounded`, above what computing in `arithmetic`, a real dtype, may lose. With u, the
 * unit roundoff of that (2^-24 of PE_F32), the entry a * cos(angle) or a * sin(angle) and angle
 * = position * w, this bound is
 *
 *     u * (a * |angle| * (8 + 3 * |ln w|) + 12 * |entry|) + one ulp of the dtype of the table:
 *
 * the position, w = base^(-2i/dim) and their product are rounded, which are 8 roundings with
 * those of scalings, and so is the exponent of w, whose error is multiplied by ln w. Those of
 * fourier all have the angle of the largest coordinate, since others are often as far off.
 * Other entries are products of a few numbers, and have the last two terms alone. */
typedef struct pe_tolerance {
    double absolute, ulps, relative;
    bool bounded;
    pe_dtype arithmetic;
    bool any_mask; /* where the exact entry is -infinity, numbers that are at least 50 below 0
                    * and the finite exact entries of its row (along the last axis) are equal to
                    * it
                    */
    bool decides;  /* it was asked for; else entries need not be within it */
} pe_tolerance;

/* Whether pe_tolerance.bounded is known of a scheme: not if its entries are sums whose terms
 * may cancel. */
bool pe_scheme_is_bounded(const pe_scheme *scheme);

/* Compare every entry of a tensor of a request with a view of the same shape, axes of size 1
 * aside; it may have more axes, along which it is constant, as a batch of one table is. Memory
 * is that of a stream and a few MB. The runner is asked between blocks whether to go on. Fails
 * as pe_stream_new does, with PE_OUT_OF_RANGE for "shape", and with PE_MALFORMED for "body" if
 * the view cannot be read. */
pe_status pe_compare_table(pe_request *request, size_t tensor, const pe_view *view,
                           pe_tolerance tolerance, const pe_runner *runner,
                           pe_comparison *ret_comparison, pe_error *reterr);

/* ---- pairings ---- */

/* Which two of `width` columns a rotation turns together: column c and c + width/2, as GPT-NeoX
 * and Llama do, or columns 2i and 2i + 1, as the paper does (arXiv:2104.09864, equation 34). */
typedef enum pe_pairing { PE_PAIRING_HALF, PE_PAIRING_INTERLEAVED } pe_pairing;

/* The column of `from` that becomes `column` of `to`, for column < width, an even number: the
 * half of a pair that stands there. The rows of a projection that makes these columns move the
 * same way. */
uint64_t pe_pairing_source(pe_pairing from, pe_pairing to, uint64_t width, uint64_t column);

/* ---- identifying ---- */

typedef enum pe_identity_status {
    PE_IDENTITY_UNKNOWN, /* no request was found */
    PE_IDENTITY_NEAR,    /* a request was found; some entries, or the arithmetic, do not fit */
    PE_IDENTITY_MATCH,   /* every entry is what a named arithmetic of the formula gives */
    PE_IDENTITY_EXACT,   /* every entry has the bits of the exact table */
} pe_identity_status;

/* How a table that is not exact was computed. */
typedef enum pe_arithmetic {
    PE_ARITHMETIC_EXACT,
    PE_ARITHMETIC_F64, /* in float64 and rounded once: every entry is within the bound of that
                        */
    PE_ARITHMETIC_F32, /* as `computation` says, such as float32 positions times float32
                        * frequencies, rounded to float32;
                        * sines and cosines of that within one float, times a float32 amplitude,
                        * rounded to the dtype */
    PE_ARITHMETIC_F32_LIKE, /* every entry is as near as float32 arithmetic would bring it, but
                             * no such frequencies give all entries: NEAR */
    PE_ARITHMETIC_UNKNOWN,  /* entries are further off than that */
} pe_arithmetic;

#define PE_IDENTITY_QUERY_MAX   8192
#define PE_IDENTITY_COLUMNS_MAX 4096 /* of a matrix that is tried in another order */
#define PE_COMPUTATION_FAR      0.1  /* an error that shows */

/* What is known of a computation in float32. */
typedef struct pe_computation {
    const char *text;   /* formats of positions and frequencies; NULL: nothing is known */
    uint64_t first_off; /* the first row with an entry that is off by more than
                         * PE_COMPUTATION_FAR; 0: none, or row 0 */
} pe_computation;

/* Forms that a table went through since it was the tensor of a request, the last one first. */
typedef enum pe_transform_kind {
    PE_TRANSFORM_REPEATED,  /* `axis` has the same table `count` times */
    PE_TRANSFORM_TILED,     /* the first `first` indices of `axis` come `count` times in turn */
    PE_TRANSFORM_EACH,      /* each index of `axis` comes `count` times in a row */
    PE_TRANSFORM_FLATTENED, /* the first `count` axes are the rows */
    PE_TRANSFORM_CHANNELS_FIRST, /* the columns are the axis `axis`, before the others */
    PE_TRANSFORM_HEADS_LAST,     /* the heads are the axis `axis`, behind the others */
    PE_TRANSFORM_TRANSPOSED,     /* rows and columns are exchanged */
    PE_TRANSFORM_COLUMNS,        /* the columns are in another order, as of pe_identity; if
                                  * `value` is 1, their halves are exchanged */
    PE_TRANSFORM_PAIR,           /* `axis` has two tensors, of its indices 0 and 1 */
    PE_TRANSFORM_PARTS,  /* `axis` has two tables of unlike requests, at its indices 0 and 1 */
    PE_TRANSFORM_HALVES, /* the halves of the last axis are two tensors */
    PE_TRANSFORM_ALTERNATING, /* its even and its odd indices are two tensors */
    PE_TRANSFORM_MATRICES,    /* the last two axes are matrices [[cos, -sin], [sin, cos]]; the
                               * transposed ones if the second tensor has the other sign */
    PE_TRANSFORM_ANGLES,      /* the cosines and the sines of its entries are two tensors */
    PE_TRANSFORM_OPPOSITE, /* the halves of the last axis are the table, the first one with the
                            * other sign */
    PE_TRANSFORM_MASKED,   /* keys after the query, or beyond a window of `first` keys (0: none;
                            * on both sides if `count` is 1), have `value`; if `constant` is not
                            * 0, it was added to theirs */
    PE_TRANSFORM_MASKED_KEYS,  /* the last `count` indices of `axis`, from `first` on, have
                                * `value`, or, if that is no number, less than -1000 */
    PE_TRANSFORM_ZERO_ROWS,    /* `count` rows from row `first` on are zero */
    PE_TRANSFORM_ZERO_COLUMNS, /* the same of the last indices of another axis */
    PE_TRANSFORM_OTHER_ROWS,   /* the first `count` rows are no rows of the tensor */
    PE_TRANSFORM_DECIMALS,     /* entries were rounded to `count` decimal places, or, if that is
                                * 0, to multiples of `value` */
    PE_TRANSFORM_NOISE,        /* what is left over is noise, about as strong as `value` */
    PE_TRANSFORM_FACTOR,       /* the tensor times `value`, plus `constant` */
    PE_TRANSFORM_KINDS
} pe_transform_kind;

typedef struct pe_transform {
    pe_transform_kind kind;
    size_t axis; /* of the table that was given */
    uint64_t first, count;
    double value, constant;
} pe_transform;

#define PE_TRANSFORMS_MAX 6

/* The other tensor of a table that has two of them: of the same request, or of another. */
typedef struct pe_second {
    const pe_scheme *scheme;
    char query[PE_IDENTITY_QUERY_MAX];
    char tensor[32];           /* "": there is none */
    bool negative;             /* the table has it with the other sign */
    pe_identity_status status; /* of this tensor */
    uint64_t misfits;
    double largest; /* error */
} pe_second;

/* What an explanation takes to be written down, in bits; the one with the least is the answer.
 */
typedef struct pe_price {
    double request; /* parameters that differ from the defaults, but for those that the shape
                     * decides */
    double forms;
    double misfits; /* of the arithmetic, and of entries that do not fit */
} pe_price;

/* What is claimed of a table that no request was found for, the most telling ones first. A row
 * is a line along the last axis; axes are those of the view without axes of size 1. */
typedef enum pe_claim_kind {
    PE_CLAIM_CONSTANT,   /* all entries are `value` */
    PE_CLAIM_FEW_ROWS,   /* it has `count` rows, fewer than four */
    PE_CLAIM_NOT_FINITE, /* `count` of `total` entries, the first one at `place` */
    PE_CLAIM_DIAGONALS,  /* those of `axis` and the next one are constant, and rows are not */
    PE_CLAIM_WAVES,      /* `count` of `total` columns are waves, some about a constant, of
                          * `least` to `most` radians per row */
    PE_CLAIM_EQUAL_ROWS, /* `count` of `total` rows are different */
    PE_CLAIM_EQUAL_COLUMNS, /* the same of columns */
    PE_CLAIM_SMOOTH,        /* neighbouring rows have the correlation `value` */
    PE_CLAIM_RANDOM,        /* no structure is seen: of mean `least` and deviation `most` */
    PE_CLAIM_KINDS
} pe_claim_kind;

typedef struct pe_claim {
    pe_claim_kind kind;
    uint64_t rows; /* it is about the first so many ones; 0: about all */
    uint64_t count, total, place;
    size_t axis;
    double value, least, most;
} pe_claim;

#define PE_MISFITS_MAX 32

/* Where entries of a table do not fit what was found: rows and columns of which most do not,
 * how many, and the first ones; and others, by their numbers in row-major order, not all of
 * them. A row is a line along the last axis. */
typedef struct pe_misfits {
    uint64_t count; /* entries in all */
    uint64_t far;   /* of these, such as are off by many times what is allowed */
    uint64_t row_count, column_count;
    uint64_t zeros;     /* entries of the table that are 0, whether they fit or not */
    uint64_t vain;      /* others, not exact, that 0 would fit as well */
    uint64_t zero_rows; /* how many of the rows that do not fit are all zero in the table */
    size_t entry_count;
    uint64_t rows[PE_MISFITS_MAX], columns[PE_MISFITS_MAX], entries[PE_MISFITS_MAX];
} pe_misfits;

/* What made a table. */
typedef struct pe_identity {
    pe_identity_status status;
    const pe_scheme *scheme;           /* of the request; NULL: none */
    char query[PE_IDENTITY_QUERY_MAX]; /* its arguments, "length=4&dim=8" */
    char tensor[32];
    bool is_complex; /* the table has complex numbers, whose parts are an axis of transforms */
    bool transposed; /* the table is the tensor with its axes exchanged */
    /* Of a table that has the tensor's columns in another order: column c of the tensor is
     * column columns[c] of the table, whose axes are exchanged first if it is transposed.
     * column_count is the number of columns then; 0: they are in the tensor's order. */
    uint64_t column_count;
    uint16_t columns[PE_IDENTITY_COLUMNS_MAX];
    /* The type of the table's numbers, by which they were compared: that of its elements, or a
     * shorter one that all of them were rounded to before they were stored. */
    pe_element element;
    bool tf32;      /* they are float32 numbers of 11 digits, NVIDIA's TF32 */
    uint64_t wider; /* few of them are not, which do not fit then */
    pe_price price;
    pe_arithmetic arithmetic;
    pe_computation computation; /* PE_ARITHMETIC_F32; its texts are not freed */
    pe_misfits misfits;         /* entries further off than its arithmetic would bring them */
    pe_comparison comparison;   /* with the exact tensor in the table's dtype */
    size_t proposed, compared;  /* requests that were looked at, and those compared in full */
    bool gave_up;               /* the runner ended the search */
    /* what was measured of the columns of a matrix: how many are waves, and the frequency of
     * the first of these in radians per row */
    uint64_t waves;
    double frequency;
    size_t transform_count;
    pe_transform transforms[PE_TRANSFORMS_MAX]; /* axes are those of the view that was given */
    size_t rank; /* of the table without its transforms, which has the tensor's shape but for
                  * axes of size 1 */
    uint64_t shape[PE_VIEW_RANK_MAX];
    pe_second second;
    /* Above 0: the table differs in most entries, by noise of this root of the mean square;
     * then it is PE_IDENTITY_NEAR. */
    double noise;
    /* Of PE_IDENTITY_UNKNOWN what holds of the table; of others that it is constant. */
    size_t claim_count;
    pe_claim claims[PE_CLAIM_KINDS];
    bool may_be_trained; /* nothing says that a formula made it */
} pe_identity;

/* The name of a form, and what it is of the table: "axis 0 has it 4 times". */
#define PE_FORM_TEXT 160
const char *pe_form_name(const pe_transform *form);
void pe_form_text(const pe_identity *identity, const pe_transform *form,
                  char dst[PE_FORM_TEXT]);

/* Whether tables of a scheme are recognised, some at least: those of a formula or a set. */
bool pe_scheme_is_recognised(const pe_scheme *scheme);

/* Find the request that made a table. `only` is the one scheme to look for, NULL for all.
 * Schemes propose requests by what is seen of the table, and of it with forms undone; each is
 * compared entry by entry, and the explanation with the least pe_price is the answer. Trained
 * numbers are known only if `set_name` is not NULL: those of this set of limits->sets, of whose
 * tensors the table may have rows, or what was interpolated between them. A search that the
 * runner ends is no failure. Fails with PE_NO_MEMORY, with PE_OUT_OF_RANGE for "set" if there
 * is no such set, and with PE_MALFORMED for "body" if the view cannot be read. */
pe_status pe_identify_table(const pe_view *view, const pe_scheme *only, const char *set_name,
                            const pe_limits *limits, const pe_runner *runner,
                            pe_identity *ret_identity, pe_error *reterr);

#define PE_EQUIVALENTS_MAX 8

/* A request that makes the same table as another one. */
typedef struct pe_same_request {
    const pe_scheme *scheme;
    char tensor[32], query[PE_IDENTITY_QUERY_MAX];
} pe_same_request;

/* What makes the same table as a request that was found. */
typedef struct pe_equivalents {
    size_t preset_count, same_count;
    const char *presets[PE_EQUIVALENTS_MAX]; /* with whose values the request is the same */
    pe_same_request same[PE_EQUIVALENTS_MAX];
} pe_equivalents;

/* Find what else makes the exact table of an identity that is PE_IDENTITY_MATCH or better; of
 * one that is PE_IDENTITY_NEAR only the presets. `dtype` is the table's, PE_F32 if it has
 * integers; at most `most` other requests. All that is found has been compared byte by byte,
 * and it need not be all there is: other schemes look at tables of up to 2^20 entries, and
 * 512 MB are compared at most. What the runner ends is no failure. Fails with PE_NO_MEMORY, and
 * as pe_stream_new does. */
pe_status pe_find_equivalents(const pe_identity *identity, pe_dtype dtype, size_t most,
                              const pe_limits *limits, const pe_runner *runner,
                              pe_equivalents *ret_equivalents, pe_error *reterr);

/* ---- explaining ---- */

#define PE_CHANGES_MAX 6

/* A parameter that another request has. */
typedef struct pe_change {
    char name[48], value[PE_PRINT_MAX]; /* no value: left out */
} pe_change;

/* What is wrong with a table that was compared with another one than it is. */
typedef struct pe_explanation {
    bool found;
    const char *kind;   /* "shift", "tensor" …, as the sentence says; a constant */
    char sentence[640]; /* for people */
    /* The request that makes the table, but for what the sentence says besides; empty: the
     * table is compared with the one that it was meant for. */
    char query[PE_IDENTITY_QUERY_MAX], tensor[32];
    size_t change_count;
    pe_change changes[PE_CHANGES_MAX]; /* of the request that was given */
    double factor;                     /* the table is that times this */
    uint64_t first_row, rows; /* of the table that was sent, which were compared: its others
                               * have no counterpart */
    /* after the change: entries in all, those that differ, the largest error */
    uint64_t entries, differing;
    double max_abs;
    size_t tried; /* requests of which some rows were computed */
} pe_explanation;

/* Find out why a table does not fit a tensor of a request. A request of `query`,
 * "length=4&dim=8" without dtype, is changed in the ways in which requests are usually wrong,
 * to what its scheme proposes for the table, and in two ways at once, where one leaves less
 * than none. Each is looked at in a few rows; the first one that fits there is compared in
 * full. It counts only if all entries are then within the tolerance or within what float32
 * arithmetic may lose (pe_tolerance.bounded). The shape of the view may be another one. Takes
 * some MB, and as long as computing the table a few times. A search that the runner ends is no
 * failure. Fails with PE_NO_MEMORY, and with PE_MALFORMED for "body" if the view cannot be
 * read. */
pe_status pe_explain_mismatch(pe_request *request, const char *query, size_t tensor,
                              const pe_view *view, const pe_tolerance *tolerance,
                              const pe_limits *limits, const pe_runner *runner,
                              pe_explanation *ret_explanation, pe_error *reterr);

/* At most as many bytes does explaining take, and as many multiply-adds. */
uint64_t pe_explain_footprint(const pe_request *request, size_t tensor);
double pe_explain_price(const pe_request *request, size_t tensor);

/* ---- applying ---- */

typedef enum pe_application_kind {
    PE_APPLY_ADD,      /* input + scale · entry */
    PE_APPLY_MULTIPLY, /* input · entry */
    PE_APPLY_ROTATE,   /* pairs of columns are turned */
    PE_APPLY_CONTRACT, /* sums over the last axis of products with entries, for each of their
                        * rows */
    PE_APPLY_COMBINE,  /* sums of rows of entries, times the numbers of the last axis */
    PE_APPLY_GATHER,   /* as PE_APPLY_CONTRACT, with rows of a table by their indices */
} pe_application_kind;

/* What a scheme does to one tensor of a model. Axes are names joined by commas. Those of the
 * input and of the result are the last ones: others may come before. An axis of the entries
 * has the extent of that of the same name. Where the shape of the entries depends on the
 * parameter `shape`, `axes` has one list for each choice: "hwc:height,width,dim|nc:cells,dim".
 */
typedef struct pe_application {
    pe_application_kind kind;
    const char *input, *axes; /* the name of the tensor, and its axes */
    const char *result;       /* the name of the result */
    const char *result_axes;  /* NULL: as the input's */
    const char *tensors[2];   /* of the scheme: the entries; of a rotation cosines, sines */
    const char *entry_axes;   /* NULL: as the input's */
    bool is_rational; /* entries may be quotients such as 1/5, of which multiples may be short
                       * numbers: a result that is as near to half way between two elements as
                       * entries are known is half way */
    const char *formula; /* of the result */
} pe_application;

/* The applications of a scheme, in the order of its documentation; NULL if there are none. */
const pe_application *pe_scheme_applications(const pe_scheme *scheme, size_t *ret_count);

/* In which order the columns that a rotation has turned come out. */
typedef enum pe_output_layout {
    PE_OUTPUT_AS_INPUT,
    PE_OUTPUT_HALF,       /* pair p in the columns p and pairs + p */
    PE_OUTPUT_INTERLEAVED /* pair p in the columns 2p and 2p + 1 */
} pe_output_layout;

/* How queries, keys and values lie in the last axis. */
typedef enum pe_qkv {
    PE_QKV_NONE,
    PE_QKV_STACKED, /* all queries, all keys, all values */
    PE_QKV_GROUPED  /* for each key its queries, the key and the value */
} pe_qkv;

#define PE_POSITION_AXES_MAX 3
typedef struct pe_apply_options {
    pe_dtype dtype; /* of the result; PE_DTYPE_COUNT: the input's */
    double scale;   /* of PE_APPLY_ADD, at most 2^60 in magnitude; 1 changes nothing */

    /* All axes of the input; NULL: the last ones are the application's, which is refused where
     * another one, or that of the heads, is as long as that of the positions. Those that lie in
     * one axis of the input are in parentheses: "length,(heads,dim)". The axis of the columns
     * may be anywhere for PE_APPLY_ADD and PE_APPLY_MULTIPLY, else it is the last one. */
    const char *axes;

    /* Positions by row, instead of those of the axis `length` of the encoding, or of `queries`:
     * integers [batch, length], [1, length], [length] or, where the input has one row, [batch].
     * The axis `batch` of the input is that which `axes` calls so, else the first one. Row 0
     * of the encoding has the position `first_position`. NULL: none. */
    const pe_view *position_ids;
    int64_t first_position;

    /* Where positions are such on several axes, of a rotation with the tensor `axis`: how many
     * axes. The positions are [position_axes, batch, length] and so on, and row r of the
     * encoding is at first_position + r on every axis. */
    size_t position_axes; /* at most PE_POSITION_AXES_MAX; 0: there is no such axis */

    /* Of PE_APPLY_ROTATE. Heads lie in the last axis where no axis is called so. Queries, keys
     * and values lie in one tensor along an axis `qkv`, and values stay as they are: of `heads`
     * queries, `kv_heads` keys and as many values; or of one each if there is an axis `heads`,
     * too. */
    bool inverse;             /* turn the other way */
    uint64_t heads, kv_heads; /* 0: not given; 1, and as many as heads, for an axis `qkv` */
    pe_qkv qkv;               /* what lies in the last axis where no axis is called `qkv` */
    bool partial; /* `dim` columns are turned, others stay as they are; else all are */
    int64_t
        rotary_offset; /* the first of these; below 0 from the end, -dim for the last ones */
    pe_output_layout output_layout;
    bool query_factors; /* multiply queries by the request's temperature and softmax_factor */
    bool without_rotation; /* and do not turn anything; only with query_factors */
} pe_apply_options;

/* The result of an application, computed as it is read. Each element is the exact result for
 * the input's elements and the scheme's real numbers, rounded once: to nearest, ties to even,
 * beyond the dtype's largest number to infinity; zeros are +0. Products with infinities and NaN
 * are as IEEE 754 has them; every NaN is the same one. Columns that a rotation leaves as they
 * are keep their bytes where the dtype stays. An element whose terms cancel to less than about
 * 2^-40 of themselves may be off in the last place of f64, since terms are known to 2^-92.
 * Memory is that of the encoding, at most 64 MB, and of some rows, at most some 100 MB. One
 * thread at a time. */
typedef struct pe_apply pe_apply;

/* Open the result for an input of real or complex numbers; of complex ones a part is a column,
 * and the result is complex. What is not row-major is copied. The request's dtype does not
 * matter. Fails as pe_stream_new, with PE_OUT_OF_RANGE for "shape", "axes", "form" or
 * "cos_sin" where input and request do not fit, with PE_MALFORMED for "axes" or "dtype". The
 * view must be readable as long as the result; the runner is used during this call only.
 * Limits, whose breach is a PE_OUT_OF_RANGE for "shape": 2^20 elements along the last axis of
 * input and result; for sums 2^26 multiply-adds of one row, and 2^22 for PE_APPLY_COMBINE; 2^22
 * elements along the axis of the columns and those after it. */
pe_status pe_apply_new(pe_request *request, size_t application, const pe_view *input,
                       const pe_apply_options *options, const pe_runner *runner,
                       pe_apply **ret_apply, pe_error *reterr);
void pe_apply_free(pe_apply *apply);

/* At most as many bytes does the result hold while it is read, with the copy of an input that
 * is not row-major and positions of rows; 0 if pe_apply_new would fail. */
uint64_t pe_apply_footprint(const pe_request *request, size_t application, const pe_view *input,
                            const pe_apply_options *options);

/* The multiply-adds of copying an input that is not row-major, and positions of rows: before
 * the first result. */
double pe_apply_opening_price(const pe_view *input, const pe_apply_options *options);

/* The multiply-adds of all results with these, as pe_request_price; 0 if pe_apply_new would
 * fail. */
double pe_apply_price(const pe_request *request, size_t application, const pe_view *input,
                      const pe_apply_options *options);

/* The shape of the result, row-major; `read` is NULL. */
const pe_view *pe_apply_shape(const pe_apply *apply);
uint64_t pe_apply_size(const pe_apply *apply); /* bytes */

/* Read up to `size` bytes from `offset` on, as pe_stream_read: 0 at the end, and also if the
 * input cannot be read. */
size_t pe_apply_read(pe_apply *apply, uint64_t offset, void *dst, size_t size);

/* Compare a result with one from elsewhere, as pe_compare_table does: of the shape of the
 * result, or with all its named axes for themselves. The runner is asked about every
 * millisecond. A bounded tolerance is that of a kernel which, in `arithmetic`, rounds entries,
 * factors, products and results, and whose angles and longer sums are of float32 at least: with
 * v, the unit roundoff of float32 (of float64, if that is the arithmetic), the sum of n terms
 * x * e is off by at most
 *
 *     sum of |x| * (v * loss(e) + (12 + n) * v * |e| + 4 * u * |e|) + one ulp of the result
 *
 * where loss is a * |angle| * (8 + 3 * |ln w|), as in pe_tolerance; 5 for 4 if the input has a
 * wider dtype than the arithmetic, and 2 more with query_factors. A sum of two that are added
 * or of a pair that is turned has n = 2; what is added to has u * |x|. */
pe_status pe_apply_compare(pe_apply *apply, const pe_view *view, pe_tolerance tolerance,
                           const pe_runner *runner, pe_comparison *ret_comparison,
                           pe_error *reterr);

/* The shape in which it is compared, each named axis for itself; `read` is NULL. */
const pe_view *pe_apply_compared_shape(const pe_apply *apply);

/* The name of an axis of that shape; "" if it has none. Lives as long as the result. */
const char *pe_apply_axis(const pe_apply *apply, size_t axis);

/* Find out why a result differs from one from elsewhere, as pe_explain_mismatch does of tables:
 * changed requests are applied to the same input, a few rows first. `query` has the arguments
 * of the scheme and, if they are given, `inverse`, `output_layout` and `query_factors` of a
 * rotation and `scale` of an addition; what pe_apply_new was given must be there still. An
 * explanation counts only if every element is within the tolerance or, where bounds are known,
 * within what its arithmetic may lose: that of the tolerance or the result's dtype, else
 * float16 or bfloat16, which is said then. */
pe_status pe_explain_result(pe_apply *apply, const char *query, const pe_view *result,
                            const pe_tolerance *tolerance, const pe_limits *limits,
                            const pe_runner *runner, pe_explanation *ret_explanation,
                            pe_error *reterr);

/* At most as many multiply-adds does that take; and as many bytes, besides twice those of the
 * result. */
double pe_explain_result_price(const pe_apply *apply);
uint64_t pe_explain_result_footprint(const pe_apply *apply);

/* The bytes that comparing with a tensor takes besides. */
uint64_t pe_apply_compare_footprint(const pe_view *view);

/* The least and the largest of position_ids. Fails with PE_OUT_OF_RANGE for "position_ids" if
 * these are no integers up to 2^53 in magnitude, or are 2^32 apart; as the runner ends it; and
 * with PE_MALFORMED for "body" if they cannot be read. */
typedef struct pe_position_range {
    double first, last;
} pe_position_range;

pe_status pe_find_position_range(const pe_view *ids, const pe_scheme *scheme,
                                 const pe_runner *runner, pe_position_range *ret_range,
                                 pe_error *reterr);

/* ---- memory ---- */

/* Blocks of at least this size lie in huge pages, and those of a pool are used again after
 * their release: filling fresh pages of 4 KB, at about 1 GB/s, is slower than computing or
 * printing a table. */
#define PE_BUFFER_RECYCLED ((size_t)2 << 20)

/* Allocate a block of at least `size` bytes, 64-byte aligned, with undefined contents. Sets
 * *ret_capacity to the bytes that it takes. NULL if memory ran out. Without a pool, which may
 * be NULL, it comes from the system. */
void *pe_buffer_allocate(pe_pool *pool, size_t size, size_t *ret_capacity);

/* Release a block of this capacity, which may be NULL, to the pool that it is from, whose cache
 * may have been freed. */
void pe_buffer_release(pe_pool *pool, void *block, size_t capacity);

/* Bytes of all large blocks of the process, in use and idle. Smaller blocks come from malloc.
 */
uint64_t pe_buffer_mapped(void);

#ifdef __cplusplus
}
#endif

#endif
