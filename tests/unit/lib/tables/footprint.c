/* What streams hold is at most what is told before they are opened. */
#include "unit.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

/* Bytes that are allocated and mapped now. */
static uint64_t in_use(void)
{
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd + pe_buffer_mapped();
}

/* Open and read a stream of each tensor of a request. */
static void check_request(const char *label, pe_request *request)
{
    static const size_t BLOCKS[] = {32768, PE_STREAM_FAST};
    static unsigned char read[1 << 16];
    for (size_t i = 0; i < pe_request_tensor_count(request) * 2; i++) {
        pe_stream *stream;
        pe_error error;
        uint64_t told = pe_stream_footprint(request, i / 2, BLOCKS[i % 2]), before = in_use();
        if (pe_stream_new(request, i / 2, BLOCKS[i % 2], NULL, &stream, &error) != PE_OK)
            continue;
        pe_stream_read(stream, 0, read, sizeof read);
        uint64_t now = in_use(), held = now > before ? now - before : 0;
        pe_stream_free(stream);
        ck_assert_msg(held <= told, "%s: tensor %zu holds %llu bytes, told were %llu", label,
                      i / 2, (unsigned long long)held, (unsigned long long)told);
    }
}

static const pe_limits LIMITS = {
    .elements = UINT64_C(1) << 50, .table_bytes = UINT64_C(1) << 28, .list_length = 1 << 20};

static void check_query(const char *scheme, const char *query)
{
    char label[200];
    pe_request *request;
    pe_error error;
    snprintf(label, sizeof label, "%s?%.150s", scheme, query);
    ck_assert_msg(unit_request(scheme, query, &LIMITS, &request, &error) == PE_OK, "%s: %s",
                  label, error.count ? error.problems[0].allowed : "");
    check_request(label, request);
    pe_request_unref(request);
}

START_TEST(large_streams_hold_what_is_told)
{
    static const char *const QUERIES[][2] = {
        {"sinusoidal", "length=1000000&dim=1048576"},
        {"sinusoidal", "length=1000000&dim=1048576&dtype=f64"},
        {"rope", "length=1000000&dim=65536"},
        {"rope", "length=1000000&dim=65536&dtype=f64"},
        {"periodic", "length=1000000&dim=1048576"},
        {"complex_order", "length=100000&dim=8192&vocab=9"},
        {"learned", "length=1000000&dim=65536&seed=0"},
        {"binary", "length=1000000&width=40"},
        {"alibi", "length=100000&heads=4096"},
        {"kerple", "length=100000&heads=1024&seed=0"},
        {"fire", "length=100000&heads=64&seed=0"},
        {"t5", "length=100000&heads=64&seed=0"},
        {"sandwich", "length=100000&heads=2&query_length=2"},
        {"shaw", "length=3200&dim=64&max_distance=3200"},
        {"transformer_xl", "length=4000&dim=256&heads=4"},
        {"deberta", "length=4000&dim=64"},
        {"sinusoidal_2d", "height=10000&width=10000&dim=4096"},
        {"sinusoidal_2d", "height=10000&width=10000&dim=4096&dtype=f64"},
        {"sinusoidal_3d", "depth=1000&height=1000&width=1000&dim=384"},
        {"axial_rope", "sizes=1000,1000&dim=4096"},
        {"xpos", "length=20000&dim=64"},
        {"axial_rope", "sizes=4000,4000&dim=512"},
        {"axial_rope", "sizes=9000,9000&dim=512"},
        {"sinusoidal_2d", "height=10000&width=10000&dim=200"},
        {"floater", "length=40&dim=512&method=rk4"},
        {"hierarchical", "length=1000&base_length=2000&dim=256"},
        {"random_fourier", "sizes=200,200&features=64"},
        {"fourier", "sizes=300,300&bands=64&max_frequency=112"},
        {"mrope", "text=100,40000&grids=1,600,600&dim=128"},
        {"levit", "length=20000&heads=16&query_length=2&query_offset=4"},
        {"decomposed",
         "height=500&width=30&dim=256&source_height=40&query_height=2&query_width=2"},
        {"swin_v2", "height=8&heads=3"},
        {"swin", "height=40&heads=32&source_height=30"},
        {"resized", "height=64&source_height=40&dim=256"},
        {"retnet", "length=20000&heads=4&query_length=2&dim=4"},
        {"urpe", "length=40000&heads=16&query_length=2&query_offset=4&init=normal"},
        {"rotation_matrix", "length=100000&dim=1024"},
        {"similarity/sinusoidal", "length=8000&dim=1024&metric=l1"},
        {"similarity/sinusoidal", "length=30000&dim=1024&metric=l1"},
        {"similarity/rope", "length=8000&dim=1024&metric=pearson"},
    };
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++)
        check_query(QUERIES[i][0], QUERIES[i][1]);
}
END_TEST

Suite *footprint_suite(void)
{
    const TTest *const tests[] = {large_streams_hold_what_is_told, NULL};
    return unit_suite("footprint", tests);
}
