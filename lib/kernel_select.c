/* Choosing a kernel by what the processor can do, and the table that all kernels share. */
#include "kernel.h"

#include <stdatomic.h>

extern const pe_kernel pe_kernel_generic;
#if defined(PE_KERNEL_X86)
extern const pe_kernel pe_kernel_v3, pe_kernel_v4;
#endif

size_t pe_kernel_list(const pe_kernel *ret_kernels[8])
{
    size_t count = 0;
    ret_kernels[count++] = &pe_kernel_generic;
#if defined(PE_KERNEL_X86)
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    if (v3)
        ret_kernels[count++] = &pe_kernel_v3;
    if (v4)
        ret_kernels[count++] = &pe_kernel_v4;
#endif
    return count;
}

static _Atomic(const pe_kernel *) chosen;

const pe_kernel *pe_kernel_get(void)
{
    const pe_kernel *kernel = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!kernel) {
        const pe_kernel *kernels[8];
        kernel = kernels[pe_kernel_list(kernels) - 1];
        atomic_store_explicit(&chosen, kernel, memory_order_relaxed);
    }
    return kernel;
}

void pe_kernel_use(const pe_kernel *kernel)
{
    atomic_store_explicit(&chosen, kernel, memory_order_relaxed);
}

/* clang-format off */
const double pe_kernel_sines[80] = {
    0, 0x1.917a6bc29b42cp-4, 0x1.8f8b83c69a60bp-3, 0x1.294062ed59f06p-2, 0x1.87de2a6aea963p-2,
    0x1.e2b5d3806f63bp-2, 0x1.1c73b39ae68c8p-1, 0x1.44cf325091dd6p-1, 0x1.6a09e667f3bcdp-1,
    0x1.8bc806b151741p-1, 0x1.a9b66290ea1a3p-1, 0x1.c38b2f180bdb1p-1, 0x1.d906bcf328d46p-1,
    0x1.e9f4156c62ddap-1, 0x1.f6297cff75cb0p-1, 0x1.fd88da3d12526p-1, 0x1p+0,
    0x1.fd88da3d12526p-1, 0x1.f6297cff75cb0p-1, 0x1.e9f4156c62ddap-1, 0x1.d906bcf328d46p-1,
    0x1.c38b2f180bdb1p-1, 0x1.a9b66290ea1a3p-1, 0x1.8bc806b151741p-1, 0x1.6a09e667f3bcdp-1,
    0x1.44cf325091dd6p-1, 0x1.1c73b39ae68c8p-1, 0x1.e2b5d3806f63bp-2, 0x1.87de2a6aea963p-2,
    0x1.294062ed59f06p-2, 0x1.8f8b83c69a60bp-3, 0x1.917a6bc29b42cp-4, 0, -0x1.917a6bc29b42cp-4,
    -0x1.8f8b83c69a60bp-3, -0x1.294062ed59f06p-2, -0x1.87de2a6aea963p-2, -0x1.e2b5d3806f63bp-2,
    -0x1.1c73b39ae68c8p-1, -0x1.44cf325091dd6p-1, -0x1.6a09e667f3bcdp-1, -0x1.8bc806b151741p-1,
    -0x1.a9b66290ea1a3p-1, -0x1.c38b2f180bdb1p-1, -0x1.d906bcf328d46p-1, -0x1.e9f4156c62ddap-1,
    -0x1.f6297cff75cb0p-1, -0x1.fd88da3d12526p-1, -0x1p+0, -0x1.fd88da3d12526p-1,
    -0x1.f6297cff75cb0p-1, -0x1.e9f4156c62ddap-1, -0x1.d906bcf328d46p-1, -0x1.c38b2f180bdb1p-1,
    -0x1.a9b66290ea1a3p-1, -0x1.8bc806b151741p-1, -0x1.6a09e667f3bcdp-1, -0x1.44cf325091dd6p-1,
    -0x1.1c73b39ae68c8p-1, -0x1.e2b5d3806f63bp-2, -0x1.87de2a6aea963p-2, -0x1.294062ed59f06p-2,
    -0x1.8f8b83c69a60bp-3, -0x1.917a6bc29b42cp-4, 0, 0x1.917a6bc29b42cp-4, 0x1.8f8b83c69a60bp-3,
    0x1.294062ed59f06p-2, 0x1.87de2a6aea963p-2, 0x1.e2b5d3806f63bp-2, 0x1.1c73b39ae68c8p-1,
    0x1.44cf325091dd6p-1, 0x1.6a09e667f3bcdp-1, 0x1.8bc806b151741p-1, 0x1.a9b66290ea1a3p-1,
    0x1.c38b2f180bdb1p-1, 0x1.d906bcf328d46p-1, 0x1.e9f4156c62ddap-1, 0x1.f6297cff75cb0p-1,
    0x1.fd88da3d12526p-1,
};
const double pe_kernel_rests[80] = {
    0, -0x1.e2718d26ed688p-60, -0x1.26d19b9ff8d82p-57, -0x1.5d28da2c4612dp-56,
    -0x1.72cedd3d5a610p-57, 0x1.e0d891d3c6841p-58, 0x1.b25dd267f6600p-55, 0x1.8076a2cfdc6b3p-57,
    -0x1.bdd3413b26456p-55, -0x1.2c5e12ed1336dp-55, 0x1.9f630e8b6dac8p-60,
    -0x1.6e0b1757c8d07p-56, 0x1.457e610231ac2p-56, 0x1.760b1e2e3f81ep-55, 0x1.562172a361fd3p-56,
    -0x1.87df6378811c7p-55, 0, -0x1.87df6378811c7p-55, 0x1.562172a361fd3p-56,
    0x1.760b1e2e3f81ep-55, 0x1.457e610231ac2p-56, -0x1.6e0b1757c8d07p-56, 0x1.9f630e8b6dac8p-60,
    -0x1.2c5e12ed1336dp-55, -0x1.bdd3413b26456p-55, 0x1.8076a2cfdc6b3p-57,
    0x1.b25dd267f6600p-55, 0x1.e0d891d3c6841p-58, -0x1.72cedd3d5a610p-57,
    -0x1.5d28da2c4612dp-56, -0x1.26d19b9ff8d82p-57, -0x1.e2718d26ed688p-60, 0,
    0x1.e2718d26ed688p-60, 0x1.26d19b9ff8d82p-57, 0x1.5d28da2c4612dp-56, 0x1.72cedd3d5a610p-57,
    -0x1.e0d891d3c6841p-58, -0x1.b25dd267f6600p-55, -0x1.8076a2cfdc6b3p-57,
    0x1.bdd3413b26456p-55, 0x1.2c5e12ed1336dp-55, -0x1.9f630e8b6dac8p-60, 0x1.6e0b1757c8d07p-56,
    -0x1.457e610231ac2p-56, -0x1.760b1e2e3f81ep-55, -0x1.562172a361fd3p-56,
    0x1.87df6378811c7p-55, 0, 0x1.87df6378811c7p-55, -0x1.562172a361fd3p-56,
    -0x1.760b1e2e3f81ep-55, -0x1.457e610231ac2p-56, 0x1.6e0b1757c8d07p-56,
    -0x1.9f630e8b6dac8p-60, 0x1.2c5e12ed1336dp-55, 0x1.bdd3413b26456p-55,
    -0x1.8076a2cfdc6b3p-57, -0x1.b25dd267f6600p-55, -0x1.e0d891d3c6841p-58,
    0x1.72cedd3d5a610p-57, 0x1.5d28da2c4612dp-56, 0x1.26d19b9ff8d82p-57, 0x1.e2718d26ed688p-60,
    0, -0x1.e2718d26ed688p-60, -0x1.26d19b9ff8d82p-57, -0x1.5d28da2c4612dp-56,
    -0x1.72cedd3d5a610p-57, 0x1.e0d891d3c6841p-58, 0x1.b25dd267f6600p-55, 0x1.8076a2cfdc6b3p-57,
    -0x1.bdd3413b26456p-55, -0x1.2c5e12ed1336dp-55, 0x1.9f630e8b6dac8p-60,
    -0x1.6e0b1757c8d07p-56, 0x1.457e610231ac2p-56, 0x1.760b1e2e3f81ep-55, 0x1.562172a361fd3p-56,
    -0x1.87df6378811c7p-55,
};
/* clang-format on */
