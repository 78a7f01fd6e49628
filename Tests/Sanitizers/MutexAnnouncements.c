// Informs ThreadSanitizer when a contended `Synchronization.Mutex` is locked and unlocked.
//
// On Linux the fast path of a `Mutex` is inlined into the code that uses it, and therefore instrumented. The slow path
// is in libswiftSynchronization.so, which is built without ThreadSanitizer and lets the kernel pass the lock on.
// ThreadSanitizer does not see this part, and reports every access protected by a contended lock as a race, even in a
// correct program of ten lines.
//
// This object is linked only into the programs of a ThreadSanitizer build. Its functions replace the three slow ones,
// call them, and inform ThreadSanitizer. No report is suppressed: an access without the lock is still reported, which
// `Races.swift` verifies each time before the tests run.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

// `_MutexHandle._lockSlow(UInt32)`, `_tryLockSlow() -> Bool` and `_unlockSlow()`.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void LockFunction(uint32_t thread, SELF void *handle);
typedef SWIFT bool TryLockFunction(SELF void *handle);
typedef SWIFT void UnlockFunction(SELF void *handle);

static LockFunction *originalLock;
static TryLockFunction *originalTryLock;
static UnlockFunction *originalUnlock;

static void *find(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (!function) {
    fprintf(stderr, "This Swift's mutex has no %s: update %s\n", name, __FILE__);
    abort();
  }
  return function;
}

__attribute__((constructor)) static void findOriginals(void) {
  originalLock = (LockFunction *)find(LOCK);
  originalTryLock = (TryLockFunction *)find(TRY_LOCK);
  originalUnlock = (UnlockFunction *)find(UNLOCK);
}

LockFunction announcedLock __asm__(LOCK);
TryLockFunction announcedTryLock __asm__(TRY_LOCK);
UnlockFunction announcedUnlock __asm__(UNLOCK);

SWIFT void announcedLock(uint32_t thread, SELF void *handle) {
  originalLock(thread, handle);
  __tsan_acquire(handle);
}

SWIFT bool announcedTryLock(SELF void *handle) {
  bool isLocked = originalTryLock(handle);
  if (isLocked) __tsan_acquire(handle);
  return isLocked;
}

SWIFT void announcedUnlock(SELF void *handle) {
  __tsan_release(handle);
  originalUnlock(handle);
}
