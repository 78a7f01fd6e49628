// What Swift's Glibc module does not show: declared here by prototype, called in SystemIO alone.
// No system header that changes with _GNU_SOURCE may be included here: its types would clash with Glibc's.
#pragma once
#ifdef __linux__
#include <stdint.h>

int renameat2(int old_folder, const char *old_path, int new_folder, const char *new_path, unsigned int flags);
enum { SNAPSHOT_RENAME_NOREPLACE = 1 };
#endif
