/* Symbol names of the kernels. The sources of this folder, except kernel_select.c, are compiled
 * once per instruction set, and kernel_select.c picks one build at run time. The Makefile sets
 * PE_INSTRUCTION_SET for each build (v3, v4; nothing for the baseline); it becomes the suffix
 * of the symbols. */
#ifndef PE_INSTRUCTION_SET_H
#define PE_INSTRUCTION_SET_H

#ifndef PE_INSTRUCTION_SET
#define PE_INSTRUCTION_SET generic
#endif

#define PE_JOIN_(name, set) name##_##set
#define PE_JOIN(name, set)  PE_JOIN_(name, set)
#define PE_QUOTE_(text)     #text
#define PE_QUOTE(text)      PE_QUOTE_(text)

/* pe_kernel_generic, pe_kernel_v3 … */
#define PE_FOR_SET(name) PE_JOIN(name, PE_INSTRUCTION_SET)

/* "generic", "v3" … */
#define PE_SET_NAME PE_QUOTE(PE_INSTRUCTION_SET)

#endif
