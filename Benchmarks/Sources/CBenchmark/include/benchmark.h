/* What Swift's Glibc module lacks. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* Binds the calling thread, and those that it starts from here on, to one core; a negative one means all. 0 or errno. */
int benchmark_pin(int core);

/* One descriptor that is ready: for reading (1), for writing (2), or both. */
struct benchmark_event { int32_t descriptor; int32_t readiness; };

int benchmark_poller(void);
/* Waits for `interest` at `descriptor` from now on. */
int benchmark_watch(int poller, int descriptor, int interest, int is_new);
int benchmark_wait(int poller, struct benchmark_event *events, int capacity, int milliseconds);

/* Compresses `bytes`, and returns the processor time in seconds of inflating them again with their CRC-32; negative if
   zlib fails. */
double benchmark_inflate_seconds(const void *bytes, size_t count);
