/* POSIX locks, as everything here uses them. A program of one thread (PE_ONE_THREAD), such as
 * the WebAssembly module, needs none and has no pthread.h: there they do nothing. This is the
 * only place that knows the difference. */
#ifndef PE_LOCKS_H
#define PE_LOCKS_H

#ifndef PE_ONE_THREAD
#include <pthread.h>
#else

#include <sys/types.h> /* has the types */
struct timespec;

#define PTHREAD_ONCE_INIT 0

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes)
{
    (void)mutex, (void)attributes;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    (void)mutex, (void)until;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_cond_init(pthread_cond_t *condition, const void *attributes)
{
    (void)condition, (void)attributes;
    return 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *condition)
{
    (void)condition;
    return 0;
}

static inline int pthread_cond_broadcast(pthread_cond_t *condition)
{
    (void)condition;
    return 0;
}

/* Only another thread could end the wait. */
static inline int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)condition, (void)mutex;
    __builtin_trap();
}

static inline int pthread_once(pthread_once_t *once, void (*run)(void))
{
    if (*once == PTHREAD_ONCE_INIT) {
        *once = PTHREAD_ONCE_INIT + 1;
        run();
    }
    return 0;
}

static inline pthread_t pthread_self(void)
{
    return (pthread_t)1;
}

static inline int pthread_equal(pthread_t one, pthread_t other)
{
    return one == other;
}

#endif
#endif
