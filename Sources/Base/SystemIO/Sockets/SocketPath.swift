#if canImport(Darwin)
  package import Darwin
#else
  package import Glibc
#endif

/// The path of the file of a Unix socket.
public struct SocketPath: Hashable, Sendable, CustomStringConvertible {
  /// The most bytes of a path: one less than `sun_path` has, because the system ends it with a zero byte.
  public static let maximumLength = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// The path. That of a socket without a file, which only another process can have opened, begins with `@`.
  public let text: String

  /// Takes a path of 1 to ``maximumLength`` bytes without a zero byte; `nil` for any other text.
  public init?(_ text: String) {
    guard (1...Self.maximumLength).contains(text.utf8.count), !text.utf8.contains(0) else { return nil }
    self.text = text
  }

  /// The form that other programs use too, such as `unix:/run/snapshot/http.sock`.
  public var description: String { "unix:\(text)" }

  /// Reads the path from a structure of `length` bytes that the kernel filled in.
  init(_ storage: sockaddr_storage, length: socklen_t) {
    let address = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_un.self) }
    var bytes = withUnsafeBytes(of: address.sun_path) { Array($0) }
    bytes.removeLast(bytes.count - min(max(Int(length) - Self.offset, 0), bytes.count))
    if bytes.first == 0 {
      // A name without a file.
      bytes[0] = UInt8(ascii: "@")
    } else if let end = bytes.firstIndex(of: 0) {
      bytes.removeLast(bytes.count - end)
    }
    text = String(decoding: bytes, as: UTF8.self)
  }

  private static let offset = MemoryLayout<sockaddr_un>.size - (maximumLength + 1)

  /// Calls `body` with the path as a system structure, which is valid only during the call.
  package func withSystemAddress<Result>(
    _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
  ) rethrows -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: text.utf8) }
    let length = MemoryLayout<sockaddr_un>.size
    #if canImport(Darwin)
      address.sun_len = UInt8(length)
    #endif
    return try withUnsafePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0, socklen_t(length)) }
    }
  }
}
