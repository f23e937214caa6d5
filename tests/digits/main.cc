/* Printed numbers against std::to_chars of the C++ library, which also promises the shortest
 * digits and, of these, the closest. Every number goes through every instruction set's batches
 * and through the printing of single elements; all must give the text that to_chars gives,
 * spelt our way.
 *
 *     digits-tests COUNT [all]    COUNT numbers of f32 and of f64; and every magnitude of f32
 */
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "kernels/kernel.h"
#include "posenc.h"
}

/* ---- what should be printed ---- */

static char *append(char *to, const char *from, size_t count)
{
    std::memcpy(to, from, count);
    return to + count;
}

/* Write the number and a comma; the end. to_chars writes d[.ddd]e±xx, which is spelt our way:
 * positional from 1e-4 to below 1e16. */
template <typename Real> static char *append_expected(char *to, Real value)
{
    if (!std::isfinite(value))
        return append(to, "null,", 5);
    if (std::signbit(value))
        *to++ = '-';
    if (value == 0)
        return append(to, "0.0,", 4);
    char text[64], digits[32];
    const auto end = std::to_chars(text, text + sizeof text, std::fabs(value),
                                   std::chars_format::scientific);
    *end.ptr = '\0';
    const char *e = std::strchr(text, 'e');
    const int exponent = std::atoi(e + 1);
    if (exponent < -4 || exponent >= 16)
        return append(append(to, text, static_cast<size_t>(end.ptr - text)), ",", 1);
    digits[0] = text[0];
    size_t count = 1, before = exponent < 0 ? 0 : static_cast<size_t>(exponent) + 1;
    for (const char *at = text + 2; at < e; at++)
        digits[count++] = *at;
    if (exponent < 0) {
        to = append(to, "0.000", static_cast<size_t>(1 - exponent));
    } else if (count <= before) {
        to = append(to, digits, count);
        to = append(to, "000000000000000", before - count);
        return append(to, ".0,", 3);
    } else {
        to = append(append(to, digits, before), ".", 1);
    }
    return append(append(to, digits + before, count - before), ",", 1);
}

/* ---- comparing ---- */

static const pe_kernel *kernels[8];
static size_t kernel_count;

using Text = char[PE_PRINT_BATCH * PE_PRINT_MAX];

static void compare(const char *by, const char *got, size_t got_size, const char *expected,
                    size_t size)
{
    if (got_size == size && std::memcmp(got, expected, size) == 0)
        return;
    size_t at = 0, start = 0;
    for (; at < size && got[at] == expected[at]; at++)
        if (got[at] == ',')
            start = at + 1;
    std::printf("digits: %s prints %.30s…, to_chars %.30s…\n", by, got + start,
                expected + start);
    std::exit(EXIT_FAILURE);
}

/* Print up to PE_PRINT_BATCH numbers in every way. */
template <typename Real> static void check(pe_dtype dtype, const Real *values, size_t count)
{
    Text text = {}, expected = {};
    char *end = expected, *at = text;
    for (size_t i = 0; i < count; i++) {
        end = append_expected(end, values[i]);
        at += pe_print_element(at, dtype, &values[i]);
        *at++ = ',';
    }
    const size_t size = static_cast<size_t>(end - expected);
    compare("pe_print_element", text, static_cast<size_t>(at - text), expected, size);
    for (size_t k = 0; k < kernel_count; k++) {
        const size_t length = (*kernels[k]->print)[dtype](text, values, count);
        compare(kernels[k]->name, text, length, expected, size);
    }
}

/* ---- which numbers ---- */

static uint64_t mix(uint64_t index) /* splitmix64 */
{
    uint64_t bits = index * 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

/* Number `index`: half of them any bits, the others of the classes that matter. */
template <typename Real, typename Bits>
static Real number(uint64_t index, unsigned fraction_bits, unsigned exponent_bits)
{
    const uint64_t random = mix(2 * index), more = mix(2 * index + 1);
    const Bits bias = (Bits{1} << (exponent_bits - 1)) - 1;
    const Bits fraction = static_cast<Bits>(random) & ((Bits{1} << fraction_bits) - 1);
    const Bits sign = static_cast<Bits>(random >> 63) << (fraction_bits + exponent_bits);
    Bits bits = static_cast<Bits>(random);
    switch (index % 8) {
    case 0: /* subnormal, of any size */
        bits = sign | (fraction >> more % fraction_bits);
        break;
    case 1: /* as tables have them: 2^-16 to 2 */
        bits = sign | fraction | (bias - 16 + static_cast<Bits>(more % 17)) << fraction_bits;
        break;
    case 2: /* next to a power of two, or to infinity */
        bits = sign | ((static_cast<Bits>(more >> 8) & (2 * bias + 1)) << fraction_bits);
        bits += static_cast<Bits>(more % 5) - (bits == sign ? 0 : 2);
        break;
    case 3: { /* a short decimal */
        const std::string text = std::to_string(random % 1000000) + "e" +
                                 std::to_string(static_cast<int>(more % 60) - 40);
        Real value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }
    default:
        break;
    }
    Real value;
    static_assert(sizeof value == sizeof bits, "bits of the number");
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/* Share [0, end) among all processors, a batch at a time. */
template <typename Batch> static void share(uint64_t end, Batch batch)
{
    const unsigned count = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; t++)
        threads.emplace_back([=] {
            for (uint64_t i = t * uint64_t{PE_PRINT_BATCH}; i < end;
                 i += count * PE_PRINT_BATCH)
                batch(i, static_cast<size_t>(std::min<uint64_t>(PE_PRINT_BATCH, end - i)));
        });
    for (std::thread &thread : threads)
        thread.join();
}

int main(int argc, char **argv)
{
    const uint64_t numbers = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    const bool all = argc > 2 && std::string(argv[2]) == "all";
    if (numbers == 0 || argc > 3 || (argc == 3 && !all)) {
        std::fprintf(stderr, "usage: digits-tests COUNT [all]\n");
        return EXIT_FAILURE;
    }
    kernel_count = pe_kernel_list(kernels);
    share(numbers, [](uint64_t start, size_t count) {
        float singles[PE_PRINT_BATCH] = {};
        double doubles[PE_PRINT_BATCH] = {};
        for (size_t i = 0; i < count; i++) {
            singles[i] = number<float, uint32_t>(start + i, 23, 8);
            doubles[i] = number<double, uint64_t>(start + i, 52, 11);
        }
        check(PE_F32, singles, count);
        check(PE_F64, doubles, count);
    });
    if (all)
        share(0x7f800001, [](uint64_t start, size_t count) {
            float singles[PE_PRINT_BATCH] = {};
            for (size_t i = 0; i < count; i++) {
                const uint32_t bits = static_cast<uint32_t>(start + i);
                std::memcpy(&singles[i], &bits, sizeof bits);
            }
            check(PE_F32, singles, count);
        });
    std::printf("digits: %llu numbers of f32 and f64%s, by %zu instruction sets and singly\n",
                static_cast<unsigned long long>(numbers), all ? ", every magnitude of f32" : "",
                kernel_count);
    return EXIT_SUCCESS;
}
