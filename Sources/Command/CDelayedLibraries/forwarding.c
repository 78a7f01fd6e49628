// The functions of libraries that the command uses, except those of the system and SQLite. The first call of each finds
// it, and loads its library.
//
// libcurl, libpq, OpenSSL and the libraries that they need would take half of the time to start the process. Most
// commands use none of them, nor does `snapshot serve` with its own storage and without TLS. Since the functions are
// defined here, the linker's option --as-needed (link.cfg) leaves the libraries out of those that are loaded at the
// start. Without it, they are loaded then.
#ifdef __linux__
#include "forwarding.h"
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

// Ends the process as the loader does at the start if a library is missing.
void *find_delayed(const char *library, const char *name) {
  void *loaded = dlopen(library, RTLD_LAZY);
  void *function = loaded ? dlsym(loaded, name) : NULL;
  if (!function) {
    const char *reason = dlerror();
    fprintf(stderr, "snapshot: error while loading shared libraries: %s\n", reason ? reason : name);
    _exit(127);
  }
  return function;
}
#endif
