#include "allocations.h"

#include <stddef.h>

#if defined(__GLIBC__)
// These functions replace those of the C library. They count the calls and forward them to the library's own.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static long count;

void *malloc(size_t size) {
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  return __libc_realloc(block, size);
}

long allocation_count(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }
#else
long allocation_count(void) { return -1; }
#endif
