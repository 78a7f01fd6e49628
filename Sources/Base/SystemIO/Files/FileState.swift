#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How an open file stands: as long as this stays the same, so do its bytes and its names.
struct FileState: Hashable {
  /// Whether any name leads to it: none does once it was removed or replaced.
  let hasName: Bool
  /// The length in bytes.
  let size: Int64
  /// When bytes, names or rights were last changed.
  private let seconds: Int64
  private let nanoseconds: Int64

  fileprivate init(_ status: stat) {
    hasName = status.st_nlink > 0
    size = Int64(status.st_size)
    #if canImport(Darwin)
      let time = status.st_ctimespec
    #else
      let time = status.st_ctim
    #endif
    seconds = Int64(time.tv_sec)
    nanoseconds = Int64(time.tv_nsec)
  }
}

extension File {
  /// How this file stands now; never waits for a disk that is one of the machine's own.
  var state: FileState {
    get throws(SystemError) {
      var status = stat()
      try retryingInterrupts("fstat", path) { fstat(descriptor, &status) }
      return FileState(status)
    }
  }
}
