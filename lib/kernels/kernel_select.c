/* Choose the fastest build of the kernels that the processor can run. */
#include "kernels/kernel.h"

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
    /* Clang has no name for F16C, which every processor with AVX2 has */
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
