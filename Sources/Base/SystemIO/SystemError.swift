#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A failed system call: its name, the path it was called with, and the error code.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the call as in its manual page, such as `open`.
  public let operation: String
  /// The path that the call was applied to, if any.
  public let path: String?
  /// The value of `errno`.
  public let code: Int32

  /// Creates an error for `operation`. Without `code`, it has the `errno` of the calling thread.
  public init(operation: String, path: String? = nil, code: Int32? = nil) {
    self.operation = operation
    self.path = path
    self.code = code ?? errno
  }

  /// The error of an `operation` on a connection that has ended or failed.
  public static func disconnected(_ operation: String) -> SystemError {
    SystemError(operation: operation, code: ECONNRESET)
  }

  /// The file or folder does not exist.
  public var isNotFound: Bool { code == ENOENT }
  /// The name already exists, or a folder is not empty.
  public var isAlreadyThere: Bool { code == EEXIST || code == ENOTEMPTY }
  /// The disk or the quota is full, or the file would exceed the maximum size.
  public var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
  /// The file system of ``path`` can create no more files, although it has space left.
  public var isOutOfInodes: Bool {
    guard code == ENOSPC, let path else { return false }
    var status = statvfs()
    guard statvfs(Folder.parent(of: path), &status) == 0, status.f_bavail > 0 else { return false }
    // Some file systems have no limit of files, and report 0.
    return status.f_files > 0 && status.f_favail == 0
  }
  /// The file system is read-only.
  public var isReadOnly: Bool { code == EROFS }
  /// The process or the system has no descriptor left.
  public var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }
  /// A name is not UTF-8.
  public var isUnusableName: Bool { code == EILSEQ }
  /// The contents of a file are not what was written.
  public var isDamage: Bool { code == EBADMSG }
  /// A symbolic link is in the way, where none is followed.
  public var isLink: Bool { code == ELOOP }
  /// The call would have had to wait.
  public var isWouldBlock: Bool { code == EAGAIN || code == EWOULDBLOCK }

  /// The file system does not support the call for this file.
  public var isUnsupported: Bool { [EBADF, EINVAL, ENOTSUP, EOPNOTSUPP].contains(code) }

  /// What could not be done to the path, without a full stop: `Can't read /folder: permission denied`. It can contain
  /// paths, like ``description``.
  public var explanation: String { explanation(of: path) }

  /// What could not be done to `name`, which replaces ``path``.
  public func explanation(of name: String?) -> String {
    let verb =
      switch operation {
      case "open": "open"
      case "fdopendir", "fstat", "fstatat", "lstat", "opendir", "pread", "read", "readdir", "stat": "read"
      case "ftruncate", "fsync", "pwrite", "sync_file_range", "syncfs", "write": "write"
      case "mkdir": "create"
      case "remove": "remove"
      case "rename", "renameat2", "renamex_np": "rename"
      default: String?.none
      }
    guard let verb, let name else { return "The disk failed: \(self)" }
    return "Can't \(verb) \(name): \(reason)"
  }

  private var reason: String {
    guard !isLink else { return "a symbolic link is not followed here" }
    let words = String(cString: strerror(code))
    // Some begin with a proper name: `RPC struct is bad`.
    let isWord = words.dropFirst().first?.isLowercase == true
    return isWord ? words.prefix(1).lowercased() + words.dropFirst() : words
  }

  /// The call, the path and the system's error message. Meant for logs; do not send it to clients.
  public var description: String {
    let reason = isLink ? "a symbolic link is not followed here" : String(cString: strerror(code))
    return path.map { "\(operation) \($0): \(reason)" } ?? "\(operation): \(reason)"
  }
}

/// Repeats `call` while a signal interrupts it. Throws if the result is negative.
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
