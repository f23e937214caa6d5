#include "observe/histogram.h"

#define SECOND 1000000000U

const histogram_bound HISTOGRAM_WORK[] = {
    {50000, "5e-05"},      {200000, "0.0002"},    {1000000, "0.001"}, {5000000, "0.005"},
    {25000000, "0.025"},   {100000000, "0.1"},    {500000000, "0.5"}, {2500000000, "2.5"},
    {10000000000, "10.0"}, {60000000000, "60.0"}, {0, NULL}};

const histogram_bound HISTOGRAM_STAYS[] = {
    {100000, "0.0001"}, {200000, "0.0002"}, {500000, "0.0005"},  {1000000, "0.001"},
    {2000000, "0.002"}, {5000000, "0.005"}, {10000000, "0.01"},  {20000000, "0.02"},
    {50000000, "0.05"}, {100000000, "0.1"}, {1000000000, "1.0"}, {0, NULL}};

void histogram_add(histogram *self, const histogram_bound *bounds, uint64_t nanoseconds)
{
    size_t i = 0;
    while (bounds[i].label && nanoseconds > bounds[i].nanoseconds)
        i++;
    atomic_fetch_add_explicit(&self->counts[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->sum, nanoseconds, memory_order_relaxed);
}

uint64_t histogram_count(histogram *self)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS_MAX; i++)
        count += atomic_load_explicit(&self->counts[i], memory_order_relaxed);
    return count;
}

void histogram_write(histogram *self, const histogram_bound *bounds, const char *name,
                     const char *labels, api_text *out)
{
    const char *comma = *labels ? "," : "", *open = *labels ? "{" : "",
               *close = *labels ? "}" : "";
    /* _count is this sum, too: it must equal the +Inf bucket even if other threads count on */
    unsigned long long below = 0;
    bool last = false;
    for (size_t i = 0; !last; i++) {
        last = !bounds[i].label;
        below += atomic_load_explicit(&self->counts[i], memory_order_relaxed);
        api_text_add(out, "%s_bucket{%s%sle=\"%s\"} %llu\n", name, labels, comma,
                     last ? "+Inf" : bounds[i].label, below);
    }
    unsigned long long sum = atomic_load_explicit(&self->sum, memory_order_relaxed);
    api_text_add(out, "%s_sum%s%s%s %llu.%09llu\n", name, open, labels, close, sum / SECOND,
                 sum % SECOND);
    api_text_add(out, "%s_count%s%s%s %llu\n", name, open, labels, close, below);
}
