public import Foundation
import SystemIO

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A server on the loopback address whose connections behave byte by byte as a test specifies.
///
/// Connection n runs script n on a thread of its own; the last script serves all further connections. The server stops
/// listening when the last reference is released.
public final class ScriptedServer: Sendable {
  /// The behaviour of a connection, which is closed when the script returns or throws.
  public typealias Script = @Sendable (ScriptedConnection) throws -> Void

  /// The port, chosen by the system.
  public let port: UInt16
  private let listener: ListeningSocket
  private let log = RequestLog()

  /// Starts listening.
  public init(_ scripts: Script...) throws {
    listener = try ListeningSocket()
    port = listener.port
    let (listener, log) = (listener, log)
    Thread.detachNewThread {
      var next = 0
      while true {
        let descriptor = accept(listener.descriptor, nil, nil)
        if descriptor < 0 {
          if errno == EINTR || errno == ECONNABORTED { continue }
          break
        }
        guard !scripts.isEmpty else {
          _ = Descriptor(taking: descriptor)
          continue
        }
        let script = scripts[min(next, scripts.count - 1)]
        next += 1
        Thread.detachNewThread {
          let connection = ScriptedConnection(descriptor, log: log)
          // A script fails here if its peer has gone. The test checks the peer's result.
          do { try script(connection) } catch {}
          connection.close()
        }
      }
    }
  }

  deinit { listener.stop() }

  /// `http://127.0.0.1:port`.
  public var url: URL { URL(string: "http://127.0.0.1:\(port)") ?? URL(filePath: "/") }
  /// `127.0.0.1:port`.
  public var authority: String { "127.0.0.1:\(port)" }
  /// The heads of all requests in the order of arrival.
  public var requests: [ScriptedRequest] { log.requests }

  /// A port that refuses connections. Its socket stays open as long as this process runs, so that no other test gets
  /// it.
  public static func unusedPort() throws -> UInt16 {
    let bound = try ListeningSocket.bound(isListening: false)
    _ = bound.socket.release()
    return bound.port
  }
}

/// A socket that listens on a port of the loopback address. It is closed when neither its server nor the accepting
/// thread uses it, so that its number is not reused too early.
final class ListeningSocket: Sendable {
  let port: UInt16
  private let owned: Descriptor
  var descriptor: Int32 { owned.number }

  init() throws {
    let bound = try Self.bound(isListening: true)
    port = bound.port
    owned = bound.socket
  }

  /// Wakes up the accepting thread.
  func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// A socket, and the port that it is bound to.
  struct Bound: ~Copyable {
    let socket: Descriptor
    let port: UInt16
  }

  static func bound(isListening: Bool) throws -> Bound {
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #endif
    let owned = try Descriptor("socket") { socket(AF_INET, kind, 0) }
    let descriptor = owned.number
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && (!isListening || listen(descriptor, 64) == 0)
          && getsockname(descriptor, address, &length) == 0
      }
    }
    guard isBound else { throw ScriptedError("listen: \(errno)") }
    return Bound(socket: owned, port: UInt16(bigEndian: address.sin_port))
  }
}

/// The error of a script.
public struct ScriptedError: Error, CustomStringConvertible {
  /// The reason.
  public let description: String

  init(_ description: String) { self.description = description }
}

/// The received head of a request.
public struct ScriptedRequest: Sendable, Hashable {
  /// The request line.
  public let line: String
  /// The fields in order, with names in lower case.
  public let fields: [Field]

  /// A field.
  public struct Field: Sendable, Hashable {
    /// The name in lower case.
    public let name: String
    /// The value without surrounding white space.
    public let value: String
  }

  /// The method.
  public var method: String { String(line.prefix { $0 != " " }) }
  /// The target in the request line.
  public var target: String { String(line.split(separator: " ").dropFirst().first ?? "") }

  /// The value of the only field with the name (in lower case); `nil` if there is none or more than one.
  public subscript(name: String) -> String? {
    let values = fields.filter { $0.name == name }
    return values.count == 1 ? values[0].value : nil
  }
}

final class RequestLog: Sendable {
  private let state = Lock([ScriptedRequest]())

  var requests: [ScriptedRequest] { state.withLock { $0 } }

  func record(_ request: ScriptedRequest) { state.withLock { $0.append(request) } }
}
