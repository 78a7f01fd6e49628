#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A file descriptor with a single owner. The end of the owner's lifetime closes it, exactly once.
///
/// No other code calls `close`. A second `close` of the same number could close a descriptor that was opened in
/// between, and bytes meant for one client would reach another.
package struct Descriptor: ~Copyable, Sendable {
  /// The descriptor's number, valid during the lifetime of this value.
  package let number: Int32

  /// Takes ownership of the open descriptor that `call` returns. Throws the failure of `operation` if `call` returns a
  /// negative number. Repeats `call` if a signal interrupts it.
  package init(
    _ operation: String, _ path: String? = nil, opening call: () -> Int32
  ) throws(SystemError) {
    number = try retryingInterrupts(operation, path, call)
  }

  /// Takes ownership of an open descriptor. No other code may close it.
  package init(taking number: Int32) {
    assert(number >= 0)
    self.number = number
  }

  /// Transfers ownership to the caller, who must close the descriptor.
  package consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }

  deinit {
    let result = close(number)
    // The descriptor is closed whatever else `close` returns. `EBADF` means that it was closed before: it had two
    // owners, and this one may since have used an unrelated file or socket under the same number. A debug build, and so
    // every test, stops here.
    assert(result == 0 || errno != EBADF, "descriptor \(number) was closed by another owner")
  }
}
