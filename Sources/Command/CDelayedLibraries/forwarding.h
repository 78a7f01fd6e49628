// Defines a function of a library that is loaded when it is first called.
#pragma once
#include <stdatomic.h>

// Returns a function of a library, which it loads.
void *find_delayed(const char *library, const char *name) __attribute__((visibility("hidden")));

// Hidden, so that the libraries themselves do not call them.
#define HIDDEN __attribute__((visibility("hidden")))

// The function of the library. Threads that find it at the same time find the same.
#define FOUND(library, name)                                                       \
  ({                                                                               \
    static _Atomic(void *) found;                                                  \
    void *function = atomic_load_explicit(&found, memory_order_acquire);           \
    if (!function) {                                                               \
      function = find_delayed(library, #name);                                     \
      atomic_store_explicit(&found, function, memory_order_release);               \
    }                                                                              \
    (__typeof__(&name))function;                                                   \
  })

#define FORWARD(library, result, name, parameters, arguments) \
  HIDDEN result name parameters { return FOUND(library, name) arguments; }
