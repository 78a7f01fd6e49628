#define _GNU_SOURCE
#include "benchmark.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
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

double benchmark_checksum_seconds(const void *bytes, size_t count) {
    double start = thread_seconds();
    volatile uLong checksum = crc32_z(0, bytes, count);
    (void)checksum;
    return thread_seconds() - start;
}

static int write_file(const char *path, const void *bytes, size_t count) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0 && pwrite(file, bytes, count, 0) != (ssize_t)count) {
        close(file);
        return -1;
    }
    return file;
}

double benchmark_store_seconds(const char *folder, const void *bytes, size_t count) {
    static const char *const names[] = {"bundle", "record"};
    char staged[2][PATH_MAX], final[2][PATH_MAX];
    int files[2] = {-1, -1}, parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = parent < 0;
    double start = thread_seconds();
    for (int each = 0; each < 2; each++) {
        snprintf(staged[each], PATH_MAX, "%s/%s.staged", folder, names[each]);
        snprintf(final[each], PATH_MAX, "%s/%s", folder, names[each]);
        files[each] = write_file(staged[each], bytes, each == 0 ? count : 1000);
        failed |= files[each] < 0;
    }
    for (int each = 0; each < 2 && !failed; each++) failed = fsync(files[each]) != 0;
    for (int each = 0; each < 2 && !failed; each++) failed = rename(staged[each], final[each]) != 0;
    if (!failed) failed = fsync(parent) != 0;
    double seconds = thread_seconds() - start;
    for (int each = 0; each < 2; each++) {
        if (files[each] >= 0) close(files[each]);
        unlink(staged[each]);
        unlink(final[each]);
    }
    if (parent >= 0) close(parent);
    return failed ? -1 : seconds;
}
