// What Swift's Glibc module does not show: declared here by prototype, called in SystemIO and, to start programs, by the
// tests alone.
// No system header that changes with _GNU_SOURCE may be included here: its types would clash with Glibc's.
#pragma once
#ifdef __linux__
#include <stdint.h>

int renameat2(int old_folder, const char *old_path, int new_folder, const char *new_path, unsigned int flags);
enum { SNAPSHOT_RENAME_NOREPLACE = 1 };

int syncfs(int descriptor);
// struct statfs begins with its kind, and is 120 bytes long or less.
struct snapshot_statfs {
  long kind;
  char others[248];
};
int fstatfs(int descriptor, void *status);
int sync_file_range(int descriptor, int64_t offset, int64_t count, unsigned int flags);
enum { SNAPSHOT_SYNC_FILE_RANGE_WRITE = 2, SNAPSHOT_SYNC_FILE_RANGE_WAIT_AFTER = 4 };
int fallocate(int descriptor, int mode, int64_t offset, int64_t count);
enum { SNAPSHOT_FALLOC_FL_KEEP_SIZE = 1 };

// Opens only what the system finds in its memory; fails with EAGAIN where it would have to wait for a disk. The call has
// one number on every architecture and no function in older C libraries.
long syscall(long number, ...);
static inline int snapshot_open_cached(const char *path, uint64_t flags) {
  struct { uint64_t flags, mode, resolve; } how = { flags, 0, 0x20 /* RESOLVE_CACHED */ };
  return (int)syscall(437 /* openat2 */, -100 /* AT_FDCWD */, path, &how, sizeof how);
}

int posix_spawn_file_actions_addchdir_np(void *actions, const char *folder);
int posix_spawn_file_actions_addclosefrom_np(void *actions, int first);

// Whether the system keeps the clock synchronized. struct timex is 208 bytes long; with no modes set, nothing changes.
int adjtimex(void *state);
static inline int snapshot_clock_state(void) { long state[64] = { 0 }; return adjtimex(state); }
enum { SNAPSHOT_TIME_ERROR = 5 };

// How glibc's heap deals with memory that was freed.
int mallopt(int parameter, int value);
int malloc_trim(unsigned long pad);
enum { SNAPSHOT_M_TRIM_THRESHOLD = -1, SNAPSHOT_M_MMAP_THRESHOLD = -3 };

int accept4(int listener, void *address, unsigned int *length, int flags);
int eventfd(unsigned int value, int flags);
int epoll_create1(int flags);
int epoll_ctl(int poller, int operation, int descriptor, void *event);
int epoll_wait(int poller, void *events, int capacity, int milliseconds);

// struct epoll_event: packed on x86-64 alone, so that both word sizes see one layout.
struct snapshot_epoll_event {
  uint32_t events;
  uint64_t data;
}
#ifdef __x86_64__
__attribute__((packed))
#endif
;

enum {
  SNAPSHOT_SOCK_NONBLOCK = 04000,
  SNAPSHOT_SOCK_CLOEXEC = 02000000,
  SNAPSHOT_EFD_NONBLOCK = 04000,
  SNAPSHOT_EFD_CLOEXEC = 02000000,
  SNAPSHOT_EPOLL_CLOEXEC = 02000000,
  SNAPSHOT_EPOLL_CTL_ADD = 1,
  SNAPSHOT_EPOLL_CTL_DEL = 2,
  SNAPSHOT_EPOLL_CTL_MOD = 3,
  SNAPSHOT_EPOLLIN = 0x001,
  SNAPSHOT_EPOLLOUT = 0x004,
  SNAPSHOT_EPOLLERR = 0x008,
  SNAPSHOT_EPOLLHUP = 0x010,
  SNAPSHOT_EPOLLRDHUP = 0x2000,
  SNAPSHOT_EPOLLET = 0x80000000u,
};
#endif
