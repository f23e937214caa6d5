/* posenc: positional encodings, exact to the last bit.
 *
 * This header is the whole public face of the library. A caller
 *
 *   1. finds a scheme in the registry            pe_scheme_find
 *   2. checks its arguments into a request       pe_request_new
 *   3. computes the request's tensors            pe_table_compute
 *      or takes them from a shared cache         pe_cache_get
 *   4. reads the tensors                         pe_table_data
 *
 * Rules that hold throughout:
 *
 *   - Every function may be called from any thread. Objects marked immutable may be shared; the
 *     cache locks itself; other objects belong to one thread at a time.
 *   - A function that can fail in more than one way returns pe_status and describes the
 *     failure in `reterr`, which it never reads. Every other output is untouched on failure.
 *   - `_free` and `_unref` accept NULL. `_ref` returns its argument.
 *   - The library never logs, prints, exits, reads the environment or the clock. It depends on
 *     the C library alone, and no result depends on locale, compiler, instruction set or
 *     threads.
 *   - Sizes are checked against limits before memory is asked for. */
#ifndef POSENC_H
#define POSENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PE_VERSION "0.1.0"

/* ---- status and errors ---- */

typedef enum pe_status {
    PE_OK,
    PE_MALFORMED,    /* an unknown, repeated or missing name, or a value of the wrong kind */
    PE_OUT_OF_RANGE, /* well-formed, but outside a range or against a rule between parameters */
    PE_TOO_LARGE,    /* well-formed and legal, but over a size limit of this process */
    PE_CANCELLED,    /* the caller's runner ended a computation */
    PE_NO_MEMORY,    /* memory ran out; the same call may succeed later */
} pe_status;

/* One wrong parameter. The texts are valid UTF-8 if the arguments were, cut where too long. */
typedef struct pe_problem {
    char parameter[64];
    char given[96];        /* what was given, empty if nothing was */
    char allowed[256];     /* the rule it broke, or what is allowed */
    char did_you_mean[64]; /* a likely spelling, empty if there is none */
} pe_problem;

#define PE_PROBLEM_LIMIT 16

/* All that is wrong with one request; `dropped` counts problems beyond PE_PROBLEM_LIMIT. */
typedef struct pe_error {
    pe_status status;
    size_t count, dropped;
    pe_problem problems[PE_PROBLEM_LIMIT];
} pe_error;

void pe_error_init(pe_error *error);

/* Add one problem; returns it so that a caller may suggest a spelling. `allowed` is a printf
 * format. The gravest status wins, in the order in which pe_status lists them (PE_MALFORMED
 * above PE_OUT_OF_RANGE above PE_TOO_LARGE), PE_NO_MEMORY above all. */
pe_problem *pe_error_add(pe_error *error, pe_status status, const char *parameter,
                         const char *given, const char *allowed, ...)
    __attribute__((format(printf, 5, 6)));

/* Refuse a name that is none of the choices, suggesting the nearest. */
void pe_error_add_choice(pe_error *error, const char *parameter, const char *given,
                         const char *const *choices, size_t count);

/* Make `name`, or nothing where it is NULL, what the problem suggests. */
void pe_problem_suggest(pe_problem *problem, const char *name);

/* The candidate nearest to `given` in spelling, NULL if none is near enough to suggest. */
const char *pe_nearest(const char *given, const char *const *candidates, size_t count);

/* ---- element types ---- */

typedef enum pe_dtype { PE_F32, PE_F64, PE_F16, PE_BF16, PE_I32, PE_DTYPE_COUNT } pe_dtype;

const char *pe_dtype_name(pe_dtype dtype); /* "f32" … */
size_t pe_dtype_size(pe_dtype dtype);      /* bytes of one element */

/* An upper bound of what pe_print_element writes, with its terminating NUL. */
#define PE_PRINT_MAX 32

/* Print the element at `element` (native byte order, any alignment) as the shortest decimal
 * that reads back as the same element, and among the shortest the closest. Reals always carry a
 * point or an exponent ("1.0", "-0.0", "1e-07"); NaN and infinities print as "null". Returns
 * the length without the NUL. */
size_t pe_print_element(char *dst, pe_dtype dtype, const void *element);

/* Print a double as a query would write it: as above, but integers without a point. */
size_t pe_print_number(char *dst, double number);

/* Print `count` consecutive elements separated by commas, no NUL. `dst` has room for
 * count * PE_PRINT_MAX bytes, all of which may be written to. Returns the length. */
size_t pe_print_row(char *dst, pe_dtype dtype, const void *elements, size_t count);

/* The values of `count` consecutive elements (native byte order, any alignment), exactly. */
void pe_read_row(double *dst, pe_dtype dtype, const void *elements, size_t count);

/* ---- schemes ---- */

typedef enum pe_type {
    PE_INTEGER, /* |value| <= 2^53 */
    PE_REAL,    /* the nearest double of the text */
    PE_BOOLEAN,
    PE_CHOICE,       /* one of a list of names */
    PE_REAL_LIST,    /* at least one real, at most pe_limits.list_length */
    PE_INTEGER_LIST, /* the same of integers */
    PE_STORED,       /* the name of a stored set of trained tensors */
} pe_type;

/* What one choice makes of a parameter that depends on it. */
typedef struct pe_case {
    const char *choice;
    bool required;
    const char *default_text;
} pe_case;

/* One row of a scheme's parameter table. It is all that parsing, validation, defaults, help,
 * the HTTP documentation and the tests know of a parameter. */
typedef struct pe_parameter {
    const char *name;
    pe_type type;
    bool required;
    const char *unless; /* neither required nor legal where this one is given; or NULL */
    const char *stored; /* where a stored set is given, the extent of axis `stored_axis` of its
                         * tensor of this name: then neither required nor defaulted, and a
                         * given value must agree; or NULL */
    size_t stored_axis;
    const char *when;     /* a choice parameter above this one; or NULL */
    const pe_case *cases; /* its choices with which this one is legal, and what is required or
                           * defaulted then, instead of the same members here; the last has
                           * no name */
    const char *default_text;   /* as in a query; NULL: absent unless given */
    const char *default_of;     /* the default is the value of this parameter, which stands */
    const char *default_times;  /* before it, times that of this one (or NULL), */
    const char *default_less;   /* less that of this one (or NULL); below 0, refused */
    double minimum, maximum;    /* inclusive; items of a list alike */
    int64_t multiple_of;        /* 0: any */
    const char *const *choices; /* PE_CHOICE: NULL-terminated */
    const char *unit;           /* NULL: a plain number or name */
    const char *help;           /* one line */
} pe_parameter;

/* A named row of parameter values that stands under the explicit ones. `values` holds name,
 * text, name, text, …, NULL. */
#define PE_PRESET_VALUES 17
typedef struct pe_preset {
    const char *name, *help;
    const char *values[PE_PRESET_VALUES];
} pe_preset;

/* A tensor a scheme makes, as documentation; shapes of one request are in pe_tensor. */
typedef struct pe_tensor_help {
    const char *name, *shape, *help;
} pe_tensor_help;

/* A scheme is data. The first group is public; the hooks belong to lib/scheme.h. Immutable. */
typedef struct pe_scheme pe_scheme;

typedef struct pe_scheme_info {
    const char *name;       /* "sinusoidal" */
    const char *title;      /* "Sinusoidal position encoding" */
    const char *summary;    /* one sentence */
    const char *family;     /* "absolute" | "relative" */
    const char *formula;    /* plain text, with the frequency rule and sign convention */
    const char *convention; /* the library or paper whose reading is the default */
    const char *reference;  /* "arXiv:1706.03762, section 3.5" */
    const char *example;    /* a small legal query: "length=4&dim=8" */
    unsigned revision;      /* raised whenever a bit of any result changes */
    const pe_parameter *parameters; /* the scheme's own */
    size_t parameter_count;
    const pe_preset *presets;
    size_t preset_count;
    const pe_tensor_help *tensors; /* the first one is the primary tensor */
    size_t tensor_count;
    const char *of; /* NULL; or the scheme whose rows a similarity compares */
} pe_scheme_info;

size_t pe_scheme_count(void);
const pe_scheme *pe_scheme_at(size_t index);       /* in the order of schemes.def */
const pe_scheme *pe_scheme_find(const char *name); /* NULL if there is none */
const pe_scheme_info *pe_scheme_describe(const pe_scheme *scheme);

/* The similarity of the rows of a scheme's primary tensor: a scheme of its own, which takes the
 * same parameters and "metric" and "rows". Not among those above; NULL if there is no scheme of
 * that name. A scheme whose primary tensor is not of rank 2 refuses its requests. */
const pe_scheme *pe_similarity_find(const char *name);

/* What every scheme takes besides its own parameters; in a request's values these come last. */
const pe_parameter *pe_common_parameters(size_t *ret_count);

/* All parameters of a scheme: its own, then the common ones. */
size_t pe_all_parameter_count(const pe_scheme_info *info);
const pe_parameter *pe_parameter_at(const pe_scheme_info *info, size_t index);

/* ---- requests ---- */

/* How an argument was written. A query string cannot tell; a JSON body can, and then the kind
 * must fit the parameter's type. Lists are their items joined by commas. */
typedef enum pe_kind {
    PE_KIND_ANY,
    PE_KIND_NUMBER,
    PE_KIND_STRING,
    PE_KIND_BOOLEAN,
    PE_KIND_LIST
} pe_kind;

typedef struct pe_argument {
    const char *name;
    const char *text; /* NULL: given, but unreadable: fails, and the caller reports it */
    pe_kind kind;
} pe_argument;

#define PE_RANK_MAX 4
typedef struct pe_tensor {
    const char *name;
    pe_dtype dtype;
    size_t rank;
    uint64_t shape[PE_RANK_MAX];
    uint64_t elements, bytes;
    uint64_t rows; /* what a tensor is computed in: one index of its first axis or axes */
} pe_tensor;

/* Trained tensors by name, which a request may refer to. Immutable, counted by references. */
typedef struct pe_set pe_set;

typedef struct pe_set_tensor {
    pe_tensor tensor;
    const void *data; /* row-major in native byte order, of any alignment; all finite */
} pe_set_tensor;

/* A set of the tensors, which are copied; their names and data lie in `memory`, which the set
 * frees. `digest` identifies every bit of the set. NULL if memory ran out: then `memory` stays
 * the caller's. */
#define PE_DIGEST_SIZE 65 /* with its NUL */
pe_set *pe_set_new(const char *digest, const pe_set_tensor *tensors, size_t count,
                   void *memory);
pe_set *pe_set_ref(pe_set *set);
void pe_set_unref(pe_set *set);
const char *pe_set_digest(const pe_set *set);
size_t pe_set_tensor_count(const pe_set *set);
const pe_set_tensor *pe_set_tensor_at(const pe_set *set, size_t index);
const pe_set_tensor *pe_set_tensor_find(const pe_set *set, const char *name); /* or NULL */
double pe_set_element(const pe_set_tensor *tensor, uint64_t index);           /* real dtypes */

/* Where stored sets are found. `find` sets *ret_set to a new reference, or to NULL where no set
 * has the name, and returns PE_OK; or it returns PE_NO_MEMORY. */
typedef struct pe_sets {
    void *context;
    pe_status (*find)(void *context, const char *name, pe_set **ret_set);
} pe_sets;

/* What the owner of the process allows and provides. */
typedef struct pe_limits {
    uint64_t elements;        /* elements of all tensors of one request together */
    uint64_t table_bytes;     /* bytes of all tensors together, where they cannot be streamed */
    size_t list_length;       /* items of one list parameter */
    const pe_sets *sets;      /* NULL: nothing is stored */
    const char *const *names; /* what the caller takes besides, to suggest it for a misspelt
                               * name: NULL-terminated, or NULL */
} pe_limits;

/* A parameter's value after defaulting. */
typedef struct pe_value {
    bool present;        /* false: absent, the rest means nothing */
    int64_t integer;     /* PE_INTEGER; PE_BOOLEAN 0 or 1; PE_CHOICE the choice's index */
    double real;         /* PE_REAL, and PE_INTEGER once more */
    const double *items; /* lists */
    size_t count;
    const char *text;  /* PE_STORED: the set's name */
    const pe_set *set; /* PE_STORED */
} pe_value;

/* Read one argument by a row of a table of the caller's own, of any type but PE_STORED. Items
 * of a list go to `items`, which has room for so many. False: one problem was added to `error`.
 */
bool pe_argument_read(const pe_parameter *row, const pe_argument *argument, double *items,
                      size_t room, pe_value *ret_value, pe_error *error);

/* A checked request: scheme, every parameter after defaulting, shapes. Immutable. */
typedef struct pe_request pe_request;

/* Check `arguments` (any order) against the scheme's table and rules, apply preset and defaults
 * and plan the tensors. Collects every wrong argument, not only the first; rules between
 * parameters are checked once each argument by itself is right. Allocates nothing that grows
 * with the tensors, and computes none of them. The request keeps no pointer into the arguments.
 * PE_MALFORMED, PE_OUT_OF_RANGE, PE_TOO_LARGE, PE_NO_MEMORY. */
pe_status pe_request_new(const pe_scheme *scheme, const pe_argument *arguments, size_t count,
                         const pe_limits *limits, pe_request **ret_request, pe_error *reterr);
pe_request *pe_request_ref(pe_request *request);
void pe_request_free(pe_request *request); /* drops one reference */

const pe_scheme *pe_request_scheme(const pe_request *request);

/* The canonical form: scheme, revision and every present parameter in the table's order with
 * shortest numbers. Equal keys mean equal bits. Lives as long as the request. */
const char *pe_request_key(const pe_request *request, size_t *ret_length);

/* Value `index`: in the order of the scheme's parameter table, then of the common one. */
const pe_value *pe_request_value(const pe_request *request, size_t index);

size_t pe_request_tensor_count(const pe_request *request);
const pe_tensor *pe_request_tensor(const pe_request *request, size_t index); /* 0 is primary */
uint64_t pe_request_bytes(const pe_request *request); /* of all tensors */

/* The stored set that the request refers to, NULL if none. */
const pe_set *pe_request_set(const pe_request *request);

/* Whether computing may take seconds however few the elements are. */
bool pe_scheme_takes_long(const pe_scheme *scheme);
bool pe_request_takes_long(const pe_request *request);

/* What a caller lends to long computations. Any function may be NULL. */
typedef struct pe_runner {
    void *context;
    /* Call task(of, i) for all i < count, in any order and on any threads, and return when all
     * have returned. NULL: on the caller's thread. */
    void (*run)(void *context, void (*task)(void *of, size_t i), void *of, size_t count);
    /* Asked by a preparation that may take long, on its own thread: with 0 before it begins,
     * then now and then with the part of it that is done, between 0 and 1; false ends it with
     * PE_CANCELLED. At last told 1, however it ended, where the answer means nothing. */
    bool (*go_on)(void *context, const pe_scheme *scheme, double done);
} pe_runner;
/* ---- memory ---- */

/* Fresh pages of 4 KB fill at about 1 GB/s, slower than tables are computed or printed. So
 * blocks from this size on lie in huge pages, and are recycled within the cache's budget. */
#define PE_BUFFER_RECYCLED ((size_t)2 << 20)

/* A block of at least `size` bytes, 64-byte aligned, contents undefined; ret_capacity is what
 * it takes. NULL if memory ran out. Any thread. */
void *pe_buffer_allocate(size_t size, size_t *ret_capacity);

/* Give a block back, with its capacity. NULL is fine. */
void pe_buffer_release(void *block, size_t capacity);

/* Bytes of large blocks: those in use, and those that are idle. What is smaller is malloc's. */
uint64_t pe_buffer_mapped(void);

/* ---- tables ---- */

/* The tensors of one request, row-major in native byte order, 64-byte aligned. Immutable. */
typedef struct pe_table pe_table;

/* Room that lies before each tensor's data, for a file header that must be contiguous with it.
 */
#define PE_TABLE_HEADROOM 256

/* Compute all tensors; `runner` may be NULL. PE_NO_MEMORY, PE_CANCELLED, and PE_OUT_OF_RANGE
 * where a scheme's preparation finds that the values cannot be computed. */
pe_status pe_table_compute(const pe_request *request, const pe_runner *runner,
                           pe_table **ret_table, pe_error *reterr);
pe_table *pe_table_ref(pe_table *table);
void pe_table_unref(pe_table *table);

size_t pe_table_tensor_count(const pe_table *table);
const pe_tensor *pe_table_tensor(const pe_table *table, size_t index);
const void *pe_table_data(const pe_table *table, size_t index);

/* The PE_TABLE_HEADROOM bytes before tensor `index`. Writing there is the caller's to serialise
 * (a cache entry's attachment builder is), readers of the tensor are not disturbed. */
unsigned char *pe_table_headroom(pe_table *table, size_t index);

/* Bytes of memory the table holds, headroom and bookkeeping included. */
size_t pe_table_footprint(const pe_table *table);

/* ---- streams ---- */

/* One tensor's bytes, computed block by block as they are read: for tensors too large to hold.
 * It takes a few MB whatever the tensor's size. One thread at a time. */
typedef struct pe_stream pe_stream;

/* A stream of a tensor of a streamable request, which it holds a reference to. It computes some
 * `block_bytes` at a time, and one row at least: large blocks are made fast (PE_STREAM_FAST),
 * small ones hold up a read for less time. Errors as pe_table_compute; the runner is used
 * during this call alone. */
#define PE_STREAM_FAST ((size_t)4 << 20)
pe_status pe_stream_new(pe_request *request, size_t tensor, size_t block_bytes,
                        const pe_runner *runner, pe_stream **ret_stream, pe_error *reterr);
void pe_stream_free(pe_stream *stream);

uint64_t pe_stream_size(const pe_stream *stream); /* bytes */

/* Announce that nothing from byte `end` on will be read, so that no row behind it is computed.
 */
void pe_stream_end_at(pe_stream *stream, uint64_t end);

/* Write up to `size` bytes from `offset` on; returns how many, less only at the end. Reading on
 * from where the last read ended is fast, going elsewhere costs a block. */
size_t pe_stream_read(pe_stream *stream, uint64_t offset, void *dst, size_t size);

/* ---- cache ---- */

/* A least-recently-used cache of tables, keyed by pe_request_key and budgeted in bytes. Entries
 * are reference-counted: eviction never waits for a reader, a reader never loses its table. n
 * concurrent misses of one key compute once; the others wait for that result. */
typedef struct pe_cache pe_cache;
typedef struct pe_entry pe_entry;

typedef enum pe_outcome { PE_HIT, PE_MISS, PE_COALESCED } pe_outcome;

typedef struct pe_cache_stats {
    uint64_t hits, misses, coalesced, evictions, computed;
    uint64_t bytes, budget, entries;
    uint64_t idle; /* memory kept for the next table; bytes + idle never pass the budget */
} pe_cache_stats;

/* NULL if memory ran out. A budget of 0 keeps nothing. */
pe_cache *pe_cache_new(uint64_t budget_bytes);

/* Compute with a runner, which outlives the cache; before the first pe_cache_get. */
void pe_cache_use(pe_cache *cache, const pe_runner *runner);
void pe_cache_free(pe_cache *cache); /* no call may be in flight; entries still held live on */

/* The entry of the request's key, computed if need be. May block on another thread's
 * computation of the same key. Errors as pe_table_compute; a failure is not kept. */
pe_status pe_cache_get(pe_cache *cache, const pe_request *request, pe_entry **ret_entry,
                       pe_outcome *ret_outcome, pe_error *reterr);

/* Only look for the entry of the request's key, and never block. `awaited` says that this
 * request was told PE_UNDER_WAY before: finding the entry then counts as coalesced, not as a
 * hit. */
typedef enum pe_look { PE_FOUND, PE_UNDER_WAY, PE_ABSENT } pe_look;
pe_look pe_cache_look(pe_cache *cache, const pe_request *request, bool awaited,
                      pe_entry **ret_entry);

/* Shortcuts. A caller may give an attachment's object a name: a text of its own from which it
 * would always come to this object again, such as a whole HTTP request target. The cache keeps
 * some thousand names, and forgets them with their entry.
 *
 * pe_cache_look_name returns the object and a reference to its entry, and counts a hit, or
 * returns NULL. */
void *pe_cache_look_name(pe_cache *cache, const char *text, size_t length,
                         pe_entry **ret_entry);
void pe_cache_name(pe_cache *cache, pe_entry *entry, void *object, const char *text,
                   size_t length);

void pe_cache_read_stats(pe_cache *cache, pe_cache_stats *ret_stats);

pe_table *pe_entry_table(pe_entry *entry); /* not a new reference */
void pe_entry_unref(pe_entry *entry);

/* Something derived from an entry's table that is kept and evicted with it and counted in the
 * budget: a representation. */
typedef struct pe_attachment {
    void *object;
    size_t bytes;                  /* memory it holds beyond the table */
    void (*destroy)(void *object); /* must not call the cache, which may be locked */
} pe_attachment;

/* Builds an attachment; called at most once at a time for one entry. False: it failed, nothing
 * is kept. */
typedef bool (*pe_attachment_builder)(pe_table *table, void *context,
                                      pe_attachment *ret_attachment);

/* The attachment `id` of the entry, built if it is not there and `build` is not NULL; NULL if
 * there is none. It lives as long as the caller holds the entry. Ids are the caller's. */
void *pe_entry_attachment(pe_cache *cache, pe_entry *entry, unsigned id,
                          pe_attachment_builder build, void *context);

/* The same of a variant: attachments of one id differ by a text, which is copied. That of
 * pe_entry_attachment is empty. */
void *pe_entry_variant(pe_cache *cache, pe_entry *entry, unsigned id, const char *variant,
                       pe_attachment_builder build, void *context);

#endif
