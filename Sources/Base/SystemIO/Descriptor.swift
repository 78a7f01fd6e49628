#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A file descriptor and the duty to close it, which is done exactly once: when the only owner lets it go.
///
/// No other code calls `close`. A descriptor that is closed twice is somebody else's the second time: bytes meant for
/// one client would reach another.
package struct Descriptor: ~Copyable, Sendable {
  /// The number, valid as long as this value lives.
  package let number: Int32

  /// Takes over the open descriptor that `call` answers; a negative answer is thrown as `operation`'s failure. Repeats
  /// `call` while a signal interrupts it.
  package init(
    _ operation: String, _ path: String? = nil, opening call: () -> Int32
  ) throws(SystemError) {
    number = try retryingInterrupts(operation, path, call)
  }

  /// Takes over an open descriptor that nobody else closes.
  package init(taking number: Int32) {
    assert(number >= 0)
    self.number = number
  }

  /// Hands the duty to close on to the caller.
  package consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }

  deinit {
    let result = close(number)
    // The descriptor is gone whatever else `close` answers. With this answer it was gone before: two owners closed it, and
    // this one may have used a stranger's meanwhile. A debug build, and so every test, ends here.
    assert(result == 0 || errno != EBADF, "descriptor \(number) was closed by somebody else")
  }
}
