/* What Swift's Glibc module lacks. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Binds the calling thread, and those that it starts from here on, to one core; a negative one means all. 0 or errno. */
int benchmark_pin(int core);

/* One descriptor that is ready: for reading (1), for writing (2), or both. */
struct benchmark_event { int32_t descriptor; int32_t readiness; };

int benchmark_poller(void);
/* Waits for `interest` at `descriptor` from now on. */
int benchmark_watch(int poller, int descriptor, int interest, int is_new);
/* Shakes hands on a connected, blocking socket: TLS 1.3 with AES-128-GCM, without verification. NULL if that fails. */
void *benchmark_tls_connect(int descriptor);
/* Like send and recv on a socket that does not block: -1 and EAGAIN instead of waiting. */
ssize_t benchmark_tls_send(void *session, const void *bytes, size_t count);
ssize_t benchmark_tls_receive(void *session, void *room, size_t capacity);
void benchmark_tls_free(void *session);

int benchmark_wait(int poller, struct benchmark_event *events, int capacity, int milliseconds);

/* Compresses `bytes`, and returns the processor time in seconds of inflating them again with their CRC-32; negative if
   zlib fails. */
double benchmark_inflate_seconds(const void *bytes, size_t count);

/* The CRC-32 of `bytes`. */
uint32_t benchmark_checksum(const void *bytes, size_t count);
