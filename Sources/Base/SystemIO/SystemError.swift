#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A system call that failed: which, on what, and why.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The call's name as in its manual page, such as `open`.
  public let operation: String
  /// The path that the call was about, where it was about one.
  public let path: String?
  /// The value of `errno`.
  public let code: Int32

  /// Names a failure of `operation`; without `code` it is the calling thread's `errno`.
  public init(operation: String, path: String? = nil, code: Int32? = nil) {
    self.operation = operation
    self.path = path
    self.code = code ?? errno
  }

  /// The file or folder is not there.
  public var isNotFound: Bool { code == ENOENT }
  /// Something stands under that name already.
  public var isAlreadyThere: Bool { code == EEXIST || code == ENOTEMPTY }
  /// No room: the disk, the quota or the largest size of a file is used up.
  public var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
  /// The file system can only be read.
  public var isReadOnly: Bool { code == EROFS }
  /// The process or the system has no descriptor left.
  public var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }
  /// A name is not UTF-8.
  public var isUnusableName: Bool { code == EILSEQ }
  /// The call would have had to wait.
  public var isWouldBlock: Bool { code == EAGAIN || code == EWOULDBLOCK }

  /// The file system has no such call for what it was asked about.
  public var isUnsupported: Bool { [EBADF, EINVAL, ENOTSUP, EOPNOTSUPP].contains(code) }

  /// The call, its subject and the system's words, for logs; never for a client of a server.
  public var description: String {
    let reason = String(cString: strerror(code))
    return path.map { "\(operation) \($0): \(reason)" } ?? "\(operation): \(reason)"
  }
}

/// Repeats `call` while a signal interrupts it; a negative result is thrown.
@discardableResult
@inline(__always)
func retryingInterrupts<Result: SignedInteger>(
  _ operation: String, _ path: String? = nil, _ call: () -> Result
) throws(SystemError) -> Result {
  while true {
    let result = call()
    if result >= 0 { return result }
    if errno != EINTR { throw SystemError(operation: operation, path: path) }
  }
}
