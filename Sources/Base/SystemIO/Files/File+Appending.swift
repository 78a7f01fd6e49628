#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension File {
  /// Writes all of `bytes` at the end, wherever that is by then: for a file that was opened to be appended to.
  ///
  /// What several processes append doesn't mix as long as the system takes it at once, which it does unless the disk
  /// is full.
  public func append(_ bytes: [UInt8]) throws(SystemError) {
    let end = FileObserver.isActive ? try size : 0
    var written = 0
    while written < bytes.count {
      written += try retryingInterrupts("write", path) {
        bytes.withUnsafeBytes {
          writeSome(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
        }
      }
    }
    FileObserver.noteFile(self) { .write(bytes, at: end, $0) }
  }
}

/// The system's `write`, which ``File`` has a method of the same name beside.
private func writeSome(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
