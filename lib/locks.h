/* POSIX locks, as everything here uses them. A program of one thread (PE_ONE_THREAD), such as
 * the WebAssembly module, needs none and has no pthread.h: there they do nothing. This is the
 * only place that knows the difference. */
#ifndef PE_LOCKS_H
#define PE_LOCKS_H

#ifndef PE_ONE_THREAD
#include <pthread.h>
#else

#include <sys/types.h> /* has the types */

#define PTHREAD_ONCE_INIT 0

#define pthread_mutex_init(mutex, attributes)    ((void)(mutex))
#define pthread_mutex_destroy(mutex)             ((void)(mutex))
#define pthread_mutex_lock(mutex)                ((void)(mutex))
#define pthread_mutex_trylock(mutex)             ((void)(mutex), 0)
#define pthread_mutex_timedlock(mutex, until)    ((void)(mutex), (void)(until), 0)
#define pthread_mutex_unlock(mutex)              ((void)(mutex))
#define pthread_cond_init(condition, attributes) ((void)(condition))
#define pthread_cond_destroy(condition)          ((void)(condition))
#define pthread_cond_broadcast(condition)        ((void)(condition))
/* only another thread could end the wait */
#define pthread_cond_wait(condition, mutex)      __builtin_trap()
#define pthread_self()                           ((pthread_t)1)
#define pthread_equal(one, other)                ((one) == (other))

static inline void pthread_once(pthread_once_t *once, void (*run)(void))
{
    if (*once == PTHREAD_ONCE_INIT) {
        *once = PTHREAD_ONCE_INIT + 1;
        run();
    }
}

#endif
#endif
