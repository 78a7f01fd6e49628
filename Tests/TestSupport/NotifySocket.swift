import Foundation
import SystemIO

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The socket of a service manager, which receives the states of a service (sd_notify(3)).
public final class NotifySocket: Sendable {
  /// The value for `NOTIFY_SOCKET`.
  public let path: String
  private let owned: Descriptor

  /// Opens a socket in `folder`.
  public init(in folder: TemporaryFolder) throws {
    // The path of such a socket has at most 107 bytes.
    let path = folder.file("n").path
    self.path = path
    #if canImport(Darwin)
      let kind = SOCK_DGRAM
    #else
      let kind = Int32(SOCK_DGRAM.rawValue)
    #endif
    owned = try Descriptor("socket") { socket(AF_UNIX, kind, 0) }
    let descriptor = owned.number
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw SystemError(operation: "bind", path: path, code: ENAMETOOLONG)
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
    }
    guard result == 0 else { throw SystemError(operation: "bind", path: path) }
  }

  /// Reads all messages on a thread of its own, so that a test that waits for the processor loses none: the system keeps
  /// only a few. Call it once.
  public func messages() -> Messages {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    let thread = Thread { [self] in
      var bytes = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = unsafe bytes.withUnsafeMutableBytes {
          unsafe recv(owned.number, $0.baseAddress, $0.count, 0)
        }
        guard count > 0 else { return continuation.finish() }
        continuation.yield(String(decoding: bytes.prefix(count), as: UTF8.self))
      }
    }
    // Ends the call of `recv`.
    continuation.onTermination = { [self] _ in _ = shutdown(owned.number, Int32(SHUT_RDWR)) }
    thread.start()
    return Messages(stream)
  }

  /// The messages of a socket, in the order in which they came.
  public struct Messages: Sendable {
    private let messages: AsyncStream<String>

    fileprivate init(_ messages: AsyncStream<String>) { self.messages = messages }

    /// Waits for the message `wanted`, and returns those before it. Throws a `CancellationError` if the task is cancelled.
    public func wait(for wanted: String) async throws -> [String] {
      var others: [String] = []
      for await message in messages {
        if message.hasPrefix(wanted) { return others }
        others.append(message)
      }
      throw CancellationError()
    }
  }
}
