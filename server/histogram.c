/* Buckets from a cached hit to a long preparation. */
#include "histogram.h"

#define SECOND 1000000000U

static const struct {
    uint64_t most; /* nanoseconds */
    const char *label;
} BOUNDS[HISTOGRAM_BOUNDS] = {{50000, "5e-05"},     {200000, "0.0002"},  {1000000, "0.001"},
                              {5000000, "0.005"},   {25000000, "0.025"}, {100000000, "0.1"},
                              {500000000, "0.5"},   {2500000000, "2.5"}, {10000000000, "10.0"},
                              {60000000000, "60.0"}};

void histogram_add(histogram *of, uint64_t nanoseconds)
{
    size_t i = 0;
    while (i < HISTOGRAM_BOUNDS && nanoseconds > BOUNDS[i].most)
        i++;
    atomic_fetch_add_explicit(&of->counts[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&of->sum, nanoseconds, memory_order_relaxed);
}

uint64_t histogram_count(histogram *of)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
        count += atomic_load_explicit(&of->counts[i], memory_order_relaxed);
    return count;
}

void histogram_write(histogram *of, const char *name, const char *labels, api_text *out)
{
    const char *comma = *labels ? "," : "", *open = *labels ? "{" : "",
               *close = *labels ? "}" : "";
    unsigned long long below = 0; /* +Inf and _count are the same number, whoever counts on */
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        below += atomic_load_explicit(&of->counts[i], memory_order_relaxed);
        api_text_add(out, "%s_bucket{%s%sle=\"%s\"} %llu\n", name, labels, comma,
                     i < HISTOGRAM_BOUNDS ? BOUNDS[i].label : "+Inf", below);
    }
    unsigned long long sum = atomic_load_explicit(&of->sum, memory_order_relaxed);
    api_text_add(out, "%s_sum%s%s%s %llu.%09llu\n", name, open, labels, close, sum / SECOND,
                 sum % SECOND);
    api_text_add(out, "%s_count%s%s%s %llu\n", name, open, labels, close, below);
}
