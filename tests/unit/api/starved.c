/* Whole requests without memory: the k-th allocation or mapping fails, or every one from the
 * k-th on, for a sixth of the k, drawn by the seed, or for every k if thorough. The answer must
 * be right or a 503, and the next one must be right. */
#include "formats/registry.h"
#include "unit.h"
#include "unit_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of a table that is not streamed: enough for all, or for none. */
#define HELD     (1 << 22)
#define STREAMED 1

typedef struct starved_case {
    const char *method, *target;
    const char *headers[5]; /* name, value, …, NULL */
    const char *body;
    bool warm;       /* the request has been answered before, with memory */
    size_t fineness; /* unless 0, k / fineness of them are passed over after the k-th */
    size_t size;     /* of a body with NULs; 0: it is a text */
} starved_case;

/* A file that is sent to be converted. */
#define CONVERTED(query, type, bytes)                                                          \
    {                                                                                          \
        .method = "POST", .target = "/v1/convert/rope?" query,                                 \
        .headers = {"Content-Type", type}, .body = (bytes), .size = sizeof(bytes) - 1          \
    }
/* A tensor that an encoding is applied to. */
#define APPLIED(path, type, bytes)                                                             \
    {.method = "POST",                                                                         \
     .target = (path),                                                                         \
     .headers = {"Content-Type", type},                                                        \
     .body = (bytes),                                                                          \
     .size = sizeof(bytes) - 1},
/* A table that is sent to be compared: its target, media type and bytes, and the fineness. */
#define COMPARED(path, type, bytes, steps)                                                     \
    {                                                                                          \
        .method = "POST", .target = "/v1/compare/" path, .headers = {"Content-Type", type},    \
        .body = (bytes), .fineness = (steps), .size = sizeof(bytes) - 1                        \
    }
#define NPY_TYPE         "application/x-npy"
#define SAFETENSORS_TYPE "application/vnd.safetensors"
#define NPY(length, header)                                                                    \
    "\x93NUMPY\1\0" length "\0" header "abc?def?ghi?jkl?mno?pqr?stu?vwx?"
/* A file of two tensors, whose header has 118 bytes. */
#define SAFETENSORS                                                                            \
    "v\0\0\0\0\0\0\0"                                                                          \
    "{\"cos\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"                    \
    "\"sin\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[16,32]}}"                    \
    "abc?def?ghi?jkl?mno?pqr?stu?vwx?"

/* Two rows of four, the first of which is 0, 1, 0, 1. */
#define FIRST_ROW_RIGHT                                                                        \
    "\0\0\0\0\0\0\x80?\0\0\0\0\0\0\x80?"                                                       \
    "mno?pqr?stu?vwx?"

/* {method, target, headers, body, warm, fineness, size} */
static const starved_case CASES[] = {
    {"GET", "/v1/encodings/sinusoidal?positions=1,2,3&dim=4", {NULL}, NULL, false, 0, 0},
    {"GET", "/v1/encodings/integer?length=300", {"Accept-Encoding", "gzip"}, NULL, false, 0, 0},
    {"GET", "/v1/encodings/integer?length=9&format=npy", {"Range", "bytes=9-130"}, 0, 0, 0, 0},
    {"GET", "/v1/encodings/integer?length=9&format=raw", {"Range", "bytes=99-"}, 0, 0, 0, 0},
    {"GET", "/v1/encodings/integer?length=9", {"If-None-Match", "*"}, NULL, false, 0, 0},
    {"GET", "/v1/encodings/integer?length=9", {"If-Match", "\"x\""}, NULL, false, 0, 0},
    {"GET", "/v1/encodings/integer?length=9", {NULL}, NULL, true, 0, 0},
    {"GET", "/v1/encodings/integer?length=9&format=npy", {"Range", "bytes=9-"}, 0, true, 0, 0},
    {"GET", "/v1/encodings/integer?length=300", {"Accept-Encoding", "gzip"}, NULL, true, 0, 0},
    {"GET", "/v1/encodings/learned?set=kept&format=npy", {NULL}, NULL, false, 0, 0},
    {"GET", "/v1/encodings/integer?length=600000&format=raw", {NULL}, NULL, false, 0, 0},
    {"GET",
     "/v1/encodings/alibi?length=4&heads=2&format=png&slice=1&scale=2",
     {NULL},
     0,
     0,
     0,
     0},
    {"POST",
     "/v1/encodings/alibi",
     {"Content-Type", "application/json"},
     "{\"length\": 4, \"heads\": 2, \"format\": \"csv\", \"slice\": [1]}",
     false,
     0,
     0},
    {"GET",
     "/v1/similarity/sinusoidal?length=4&dim=8&metric=cosine",
     {NULL},
     NULL,
     false,
     0,
     0},
    {"HEAD", "/v1/encodings/rope?length=4&dim=8&format=safetensors", {NULL}, NULL, false, 0, 0},
    {"POST",
     "/v1/encodings/sinusoidal",
     {"Content-Type", "application/json"},
     "{\"positions\":[1,2],\"dim\":4,\"format\":\"raw\"}",
     false,
     0,
     0},
    {"POST",
     "/v1/batch",
     {"Content-Type", "application/json"},
     "{\"requests\":[{\"name\":\"a\",\"scheme\":\"rope\",\"length\":3,\"dim\":4},"
     "{\"name\":\"b\",\"scheme\":\"integer\",\"length\":2,\"dtype\":\"f64\"}],"
     "\"format\":\"safetensors\"}",
     false,
     0,
     0},
    {"POST",
     "/v1/batch",
     {"Content-Type", "application/json"},
     "{\"requests\":[{\"name\":\"a\",\"scheme\":\"rope\",\"length\":3,\"dim\":4},"
     "{\"name\":\"b\",\"scheme\":\"integer\",\"length\":2}],\"format\":\"json\"}",
     false,
     0,
     0},
    {"POST",
     "/v1/batch",
     {"Content-Type", "application/json"},
     "{\"requests\":[{\"name\":\"a\",\"scheme\":\"rope\",\"length\":-3,\"dim\":5},"
     "{\"name\":\"b\",\"scheme\":\"integr\"},{\"name\":\"*\"},0]}",
     false,
     0,
     0},
    {"GET", "/v1/models/llama-3.1-8b?format=safetensors", {NULL}, NULL, false, 20, 0},
    {"POST", "/v1/similarity/rope", {"Content-Type", "application/json"}, "{\"x\":[", 0, 0, 0},
    {"POST", "/v1/encodings/integer", {"Content-Type", "text/plain"}, "{}", false, 0, 0},
    {"GET", "/v1/encodings/sinusoidal?lenght=4&dim=x", {NULL}, NULL, false, 0, 0},
    {"GET", "/v1/encodings/sinusoidl", {NULL}, NULL, false, 0, 0},
    {"GET", "/v1/encodings/integer?length=9&dtype=bf16&format=npy", {NULL}, NULL, false, 0, 0},
    {"GET", "/nothing", {NULL}, NULL, false, 0, 0},
    {"DELETE", "/v1/info", {NULL}, NULL, false, 0, 0},
    {"OPTIONS", "/v1/info", {NULL}, NULL, false, 0, 0},
    {"GET", "/v1/info", {"Accept-Encoding", "gzip"}, NULL, false, 0, 0},
    {"GET", "/v1/info", {"Accept-Encoding", "*;q=0"}, NULL, false, 0, 0},
    {"GET", "/v1/encodings/integer?length=9", {"Accept-Encoding", "*;q=0"}, 0, 0, 0, 0},
    {"GET", "/v1/encodings/integer?length=9&format=html", {NULL}, NULL, false, 0, 0},
    {"GET", "/metrics", {NULL}, NULL, false, 0, 0},
    {"GET", "/health/ready", {NULL}, NULL, false, 0, 0},
    {"GET", "/v1/sets", {NULL}, NULL, false, 0, 0},
    {"GET", "/v1/sets/kept", {NULL}, NULL, false, 0, 0},
    {"GET", "/v1/models/gemma-3-1b", {NULL}, NULL, false, 20, 0},
    {"GET", "/v1/models/gemma-3-1", {NULL}, NULL, false, 0, 0},
    {"GET", "/v1/models", {NULL}, NULL, true, 1, 0},
    {"POST",
     "/v1/models?length=9",
     {"Content-Type", "application/json"},
     "{\"model_type\": \"gpt2\", \"n_embd\": 8, \"n_layer\": 2, \"n_positions\": NaN}",
     false,
     8,
     0},
    {"POST",
     "/v1/models?plan=true",
     {"Content-Type", "application/json"},
     "{\"model_type\": \"llama\", \"hidden_size\": 9, \"num_attention_heads\": 2}",
     false,
     8,
     0},
    {"POST",
     "/v1/models?plan=true&components=text,vision&image=64&frames=4&length=99",
     {"Content-Type", "application/json"},
     "{\"model_type\": \"qwen3_vl\", \"text_config\": {\"num_hidden_layers\": 1}}",
     false,
     16,
     0},
    {"POST",
     "/v1/models?plan=true&components=encoder,decoder",
     {"Content-Type", "application/json"},
     "{\"model_type\": \"vision-encoder-decoder\", \"encoder\": {\"model_type\": \"swin\"}, "
     "\"decoder\": {\"model_type\": \"sam_vision_model\", \"num_hidden_layers\": 3}}",
     false,
     16,
     0},
    {"POST",
     "/v1/models?plan=true&components=decoder",
     {"Content-Type", "application/json"},
     "{\"model_type\": \"vision-encoder-decoder\", \"encoder\": {\"model_type\": \"mt\"}, "
     "\"decoder\": {\"model_type\": \"gpt2\", \"n_layer\": 2}}",
     false,
     8,
     0},
    {"POST",
     "/v1/models?plan=true",
     {"Content-Type", "application/json"},
     "{\"architecture\": \"eva02_tiny_patch14_224\", \"model_args\": {\"num_reg_tokens\": 2}, "
     "\"pretrained_cfg\": {\"input_size\": [3, 56, 84], \"fixed_input_size\": true}}",
     false,
     8,
     0},
    {"POST",
     "/v1/models?convention=all&length=9",
     {"Content-Type", "application/json"},
     "{\"dim\": 64, \"n_heads\": 4, \"n_layers\": 2, \"use_scaled_rope\": true}",
     false,
     8,
     0},
    {"POST",
     "/v1/models/compare?length=9&strict=true",
     {"Content-Type", "application/json"},
     "{\"first\": \"gpt2\", \"second\": {\"general.architecture\": \"llama\", "
     "\"llama.embedding_length\": 64, \"llama.attention.head_count\": 4, "
     "\"llama.rope.scaling.factor\": 2}}",
     false,
     8,
     0},
    {"POST",
     "/v1/models/compare?length=9",
     {"Content-Type", "application/json"},
     "{\"first\": {\"gguf\": \"R0dVRgMAAAAAAAAAAAAAAAAAAAAAAAAA\"}, \"second\": \"gpt2\"}",
     false,
     8,
     0},
    {"POST",
     "/v1/models/compare?length=9",
     {"Content-Type", "application/json"},
     "{\"first\": {\"model_type\": \"llama\", \"head_dim\": 8, \"rope_theta\": 100}, "
     "\"second\": {\"model_type\": \"llama\", \"head_dim\": 8}}",
     false,
     8,
     0},
    {"POST",
     "/v1/models?plan=true",
     {"Content-Type", "application/json"},
     "{\"_class_name\": \"SD3Transformer2DModel\", \"num_layers\": 2}",
     false,
     8,
     0},
    COMPARED("sinusoidal?length=2&dim=4", "application/octet-stream",
             "abc?def?ghi?jkl?mno?pqr?stu?vwx?", 20),
    COMPARED("sinusoidal?length=2&dim=4", "application/octet-stream", FIRST_ROW_RIGHT, 16),
    COMPARED("sinusoidal?length=2&dim=4", NPY_TYPE,
             NPY("=", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }  "), 16),
    COMPARED("sinusoidal?length=2&dim=4&tolerance=0", NPY_TYPE,
             NPY("=", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 4), }   "), 12),
    COMPARED("sinusoidal?length=4&dim=4&dtype=f16", NPY_TYPE,
             NPY("=", "{'descr': '>i2', 'fortran_order': True, 'shape': (4, 4), }   "), 12),
    COMPARED("sinusoidal?length=2&dim=4", NPY_TYPE,
             NPY("=", "{'descr': '<U8', 'fortran_order': True, 'shape': (1, 1), }   "), 0),
    COMPARED("rope?length=2&dim=4&tensor=cos", SAFETENSORS_TYPE, SAFETENSORS, 16),
    COMPARED("rope?length=2&dim=4&tensor=cos&tolerance=9", "application/json",
             "{\"tensors\": [{\"name\": \"cos\", \"dtype\": \"f32\", \"shape\": [2, 2], "
             "\"data\": [[1, 1], [0.5, \"inf\"]]}]}",
             16),
    COMPARED("sinusoidal?length=2&dim=2", "application/json", "[[0, 1], [0.5]]", 0),
    COMPARED("sinusoidal?length=2&dim=2&tolerance=9", "text/csv", "a,b\n0,1\n0.8,nan\n", 16),
    COMPARED("sinusoidal?length=2&dim=2", "text/csv", "0,1\n0.8\n", 0),
    COMPARED("rope?length=2&dim=4&tensor=cos&file_tensor=sin&ulps=1e300", SAFETENSORS_TYPE,
             SAFETENSORS, 12),
    COMPARED("rope?length=2&dim=4&tensor=cos&file_tensor=x", SAFETENSORS_TYPE, SAFETENSORS, 0),
    CONVERTED("from=half&to=interleaved&axis=-1&tensors=cos", SAFETENSORS_TYPE, SAFETENSORS),
    CONVERTED("from=half&to=interleaved&heads=2&tensors=*", SAFETENSORS_TYPE, SAFETENSORS),
    CONVERTED("from=half&to=interleaved&heads=1&tensors=x", SAFETENSORS_TYPE, SAFETENSORS),
    CONVERTED("to=interleaved&model=llama-3-8b&tensors=x", SAFETENSORS_TYPE, SAFETENSORS),
    CONVERTED("from=half&to=interleaved&qkv=q,k,v&head_dim=2&qkv_tensors=*", SAFETENSORS_TYPE,
              SAFETENSORS),
    CONVERTED("to=interleaved&config=%7B%22model_type%22:%22falcon%22,%22alibi%22:false%7D",
              SAFETENSORS_TYPE, SAFETENSORS),
#include "starved_apply.def"
    COMPARED("rope?lenght=2&dim=4", "text/plain", SAFETENSORS, 0),
    {"GET", "/", {NULL}, NULL, false, 0, 0},
    {"GET", "/v1/schemes/rope", {NULL}, NULL, false, 3, 0},
    {"GET", "/v1/schemes", {NULL}, NULL, true, 1, 0},
    {"GET", "/openapi.json", {"Accept-Encoding", "gzip"}, NULL, true, 1, 0},
};

static const char PAGE[] = "<!doctype html>";
static const api_asset VISUALISER = {.path = "/",
                                     .media_type = "text/html",
                                     .plain = {PAGE, sizeof PAGE - 1, "\"p\""},
                                     .gzip = {PAGE, sizeof PAGE - 1, "\"z\""}};

static struct {
    size_t allocations, mappings, answered;
} survived;
static uint64_t random_state;

/* ---- answers ---- */

typedef struct answer {
    unsigned status;
    char *body, *tag;
    size_t size;
} answer;

static char *copy_of(const char *text)
{
    size_t size = strlen(text ? text : "") + 1;
    return memcpy(malloc(size), text ? text : "", size);
}

#define ROOM ((size_t)1 << 20)

/* The whole of a body that is a stream, or nothing. */
typedef struct streamed_body {
    char bytes[ROOM];
    size_t size;
} streamed_body;

/* Reading it allocates nothing of the test's own. */
static void read_all(const api_reply *reply, streamed_body *ret_read)
{
    api_body *body = api_reply_body(reply);
    ret_read->size = 0;
    if (!body || !api_body_is_stream(body))
        return;
    for (size_t got;
         (got = api_body_read(body, ret_read->size, ret_read->bytes + ret_read->size,
                              ROOM - ret_read->size)) > 0;)
        ret_read->size += got;
}

/* Ask while allocations fail, `count` of them from the k-th on, and read the whole answer. If
 * ret_seen is NULL none fails. */
static answer ask(unit_service *service, const starved_case *tested, size_t k, size_t count,
                  unit_allocations *ret_seen)
{
    static streamed_body streamed; /* a megabyte for each answer would take long to map */
    if (ret_seen)
        unit_fail_allocations(k, count);
    size_t sent = tested->size == 0 && tested->body ? strlen(tested->body) : tested->size;
    api_reply *reply =
        unit_send(service, tested->method, tested->target, tested->headers, tested->body, sent);
    read_all(reply, &streamed);
    if (ret_seen)
        *ret_seen = unit_allow_allocations();
    ck_assert_ptr_nonnull(reply);
    answer got = {.status = api_reply_status(reply), .tag = copy_of(unit_field(reply, "ETag"))};
    if (api_reply_body(reply) && api_body_is_stream(api_reply_body(reply))) {
        got.size = streamed.size;
        got.body = memcpy(malloc(streamed.size + 1), streamed.bytes, streamed.size);
    } else
        got.body = unit_body(reply, &got.size);
    if (got.status == 503) {
        ck_assert_str_eq(unit_field(reply, "Retry-After"), "1");
        ck_assert_str_eq(unit_field(reply, "Content-Type"), "application/problem+json");
    }
    api_reply_unref(reply);
    return got;
}

static void drop(answer *dropped)
{
    free(dropped->body);
    free(dropped->tag);
}

static bool same(const answer *one, const answer *other)
{
    return one->status == other->status && one->size == other->size &&
           memcmp(one->body, other->body, one->size) == 0 && strcmp(one->tag, other->tag) == 0;
}

/* ---- starving ---- */

static void start(unit_service *service, uint64_t table_bytes, const starved_case *tested)
{
    static const char header[] =
        "{\"table\":{\"dtype\":\"F32\",\"shape\":[2,4],\"data_offsets\":[0,32]}}";
    char file[8 + sizeof header - 1 + 32] = {sizeof header - 1};
    memcpy(file + 8, header, sizeof header - 1);
    unit_service_start(service);
    service->host.limits.table_bytes = table_bytes;
    service->host.assets = &VISUALISER;
    service->host.asset_count = 1;
    api_reply *stored = unit_send(service, "PUT", "/v1/sets/kept", NULL, file, sizeof file);
    ck_assert_uint_eq(api_reply_status(stored), 201);
    api_reply_unref(stored);
    if (tested->warm) {
        answer before = ask(service, tested, 0, 0, NULL);
        drop(&before);
    }
}

/* Check the answer for one k, and the next one. Returns whether an allocation failed. */
static bool starve_at(const starved_case *tested, uint64_t table_bytes, size_t k, size_t count,
                      const answer *expected)
{
    unit_service service;
    unit_allocations seen;
    start(&service, table_bytes, tested);
    answer got = ask(&service, tested, k, count, &seen),
           next = ask(&service, tested, 0, 0, NULL);
    bool right = same(&got, expected);
    ck_assert_msg(right || (seen.failed > 0 && got.status == 503),
                  "%s %s: %u at allocation %zu", tested->method, tested->target, got.status, k);
    ck_assert_msg(same(&next, expected), "%s %s: %u after allocation %zu", tested->method,
                  tested->target, next.status, k);
    survived.allocations += seen.failed;
    survived.mappings += seen.unmapped;
    survived.answered += seen.failed > 0 && right;
    drop(&got);
    drop(&next);
    unit_service_stop(&service);
    return seen.failed > 0;
}

/* The k after this one: the first ones, with which a table is mapped, are all tried. */
static size_t next_of(size_t k, size_t fineness)
{
    const size_t step = 1 + (fineness ? k / fineness : 0);
    const bool is_drawn = k >= 32 && !unit_thorough();
    return k + step * (is_drawn ? 1 + (size_t)(unit_random(&random_state) % 11) : 1);
}

static void starve(const starved_case *tested, uint64_t table_bytes)
{
    unit_service service;
    start(&service, table_bytes, tested);
    answer expected = ask(&service, tested, 0, 0, NULL);
    unit_service_stop(&service);
    ck_assert_uint_ne(expected.status, 503);
    for (size_t k = 0; starve_at(tested, table_bytes, k, 1, &expected);
         k = next_of(k, tested->fineness))
        starve_at(tested, table_bytes, k, SIZE_MAX, &expected);
    drop(&expected);
}

static void report(const char *what)
{
    printf("%s: %zu allocations failed, %zu of them mappings; %zu answers were right all the "
           "same\n",
           what, survived.allocations, survived.mappings, survived.answered);
    fflush(stdout);
}

START_TEST(requests_of_every_kind)
{
    random_state = unit_seed();
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++)
        starve(&CASES[i], HELD);
    ck_assert_uint_gt(survived.mappings, 0);
    report("requests");
}
END_TEST

START_TEST(every_format_of_every_scheme_held_and_streamed)
{
    char target[512];
    random_state = unit_seed();
    for (size_t i = 0; i < pe_scheme_count(); i++) {
        const pe_scheme_info *info = pe_scheme_describe(pe_scheme_at(i));
        snprintf(target, sizeof target, "/v1/encodings/%s?%s&format=%s", info->name,
                 info->example, api_format_get(i % api_format_count())->name);
        const starved_case tested = {.method = "GET", .target = target};
        starve(&tested, HELD);
        starve(&tested, STREAMED);
    }
    for (size_t f = 0; f < api_format_count(); f++) {
        snprintf(target, sizeof target, "/v1/encodings/rope?length=9&dim=8&format=%s%s",
                 api_format_get(f)->name, api_format_get(f)->single ? "&tensor=sin" : "");
        const starved_case tested = {"GET", target, {"Accept-Encoding", "gzip"}, NULL, false,
                                     0,     0};
        const starved_case part = {"GET", target, {"Range", "bytes=3-99"}, NULL, false, 0, 0};
        starve(&tested, HELD);
        starve(&tested, STREAMED);
        starve(&part, STREAMED);
    }
    report("schemes and formats");
}
END_TEST

Suite *starved_suite(void)
{
    const TTest *const tests[] = {requests_of_every_kind,
                                  every_format_of_every_scheme_held_and_streamed, NULL};
    return unit_suite("starved", tests);
}
