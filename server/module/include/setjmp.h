/* setjmp for WebAssembly, which cannot jump out of calls that are under way: the jump ends the
 * instance. Only an encoder of pictures that runs out of memory jumps; JavaScript answers for
 * the instance then, and makes another one. */
#ifndef MODULE_SETJMP_H
#define MODULE_SETJMP_H

typedef int jmp_buf[1];

#define setjmp(buffer) ((void)(buffer), 0)

_Noreturn static inline void longjmp(jmp_buf buffer, int value)
{
    (void)buffer, (void)value;
    __builtin_trap();
}

#endif
