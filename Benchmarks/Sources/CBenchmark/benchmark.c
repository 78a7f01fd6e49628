#define _GNU_SOURCE
#include "benchmark.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

int benchmark_pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core >= 0) {
    CPU_SET(core, &set);
  } else {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    for (int each = 0; each < count && each < CPU_SETSIZE; each++) CPU_SET(each, &set);
  }
  return sched_setaffinity(0, sizeof(set), &set) == 0 ? 0 : errno;
}

int benchmark_poller(void) { return epoll_create1(EPOLL_CLOEXEC); }

int benchmark_watch(int poller, int descriptor, int interest, int is_new) {
  struct epoll_event event = {.events = 0, .data = {.fd = descriptor}};
  if (interest & 1) event.events |= EPOLLIN;
  if (interest & 2) event.events |= EPOLLOUT;
  return epoll_ctl(poller, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
}

int benchmark_wait(int poller, struct benchmark_event *events, int capacity, int milliseconds) {
  struct epoll_event ready[256];
  if (capacity > 256) capacity = 256;
  int count = epoll_wait(poller, ready, capacity, milliseconds);
  for (int each = 0; each < count; each++) {
    uint32_t bits = ready[each].events;
    events[each].descriptor = ready[each].data.fd;
    events[each].readiness =
        (bits & (EPOLLIN | EPOLLERR | EPOLLHUP) ? 1 : 0) | (bits & (EPOLLOUT | EPOLLERR | EPOLLHUP) ? 2 : 0);
  }
  return count;
}

static double thread_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double benchmark_inflate_seconds(const void *bytes, size_t count) {
    uLongf packed_size = compressBound(count), size = count;
    Bytef *packed = malloc(packed_size), *inflated = malloc(count);
    double seconds = -1;
    if (packed && inflated && compress2(packed, &packed_size, bytes, count, 6) == Z_OK) {
        double start = thread_seconds();
        if (uncompress(inflated, &size, packed, packed_size) == Z_OK && crc32_z(0, inflated, size) != 0)
            seconds = thread_seconds() - start;
    }
    free(packed);
    free(inflated);
    return seconds;
}

uint32_t benchmark_checksum(const void *bytes, size_t count) { return (uint32_t)crc32_z(0, bytes, count); }
