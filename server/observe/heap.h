/* Tuning of malloc: how much freed memory the process keeps. */
#ifndef HEAP_H
#define HEAP_H

/* Set malloc's options. Called once, before threads are started. */
void heap_configure(void);

/* Return freed memory to the system if much of it is resident. Takes microseconds, or some
 * milliseconds if memory is returned. Always called by the same thread. */
void heap_trim(void);

#endif
