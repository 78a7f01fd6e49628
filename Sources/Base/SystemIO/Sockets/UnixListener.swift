#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A Unix socket that listens, and its file.
public struct UnixListener: Sendable {
  /// Why a server can't listen at a path.
  public enum Failure: Error, Sendable, Hashable {
    /// Another process listens there.
    case inUse
    /// The file at the path is not a socket, and is therefore not replaced.
    case notSocket
    /// The system returned an error.
    case system(SystemError)
  }

  /// The socket.
  public let socket: Socket
  private let path: SocketPath
  private let identity: FileIdentity?

  /// Listens at `path`. Replaces the file of a socket on which nobody listens, which a process has left that ended
  /// without removing it.
  ///
  /// - Parameters:
  ///   - path: where the file of the socket is created. Its folder must exist.
  ///   - mode: the permission bits of the file, regardless of the umask. Only users who may write it can connect.
  public init(at path: SocketPath, mode: UInt16) throws(Failure) {
    self.path = path
    guard try Self.hasSocket(at: path) != false else { throw .notSocket }
    do throws(SystemError) {
      if let abandoned = try Folder.file(at: path.text)?.identity {
        guard try !Self.isListening(path) else { throw SystemError(operation: "bind", code: EADDRINUSE) }
        try Self.remove(path, if: abandoned)
      }
      let socket = try Socket.unbound(family: AF_UNIX)
      try retryingInterrupts("bind", path.text) {
        path.withSystemAddress { bind(socket.descriptor, $0, $1) }
      }
      identity = try Folder.file(at: path.text)?.identity
      // Nobody can connect before the socket listens.
      try retryingInterrupts("chmod", path.text) { chmod(path.text, mode_t(mode)) }
      try retryingInterrupts("listen", path.text) { listen(socket.descriptor, 4096) }
      self.socket = socket
    } catch {
      throw error.isAddressTaken ? .inUse : .system(error)
    }
  }

  /// Removes the file, unless another process has replaced it. Nobody can connect afterwards; connections that wait are
  /// still accepted. Does nothing after the socket was closed, because another file can have the same identity then.
  public func removeFile() throws(SystemError) {
    if let identity, socket.descriptor >= 0 { try Self.remove(path, if: identity) }
  }

  /// Whether a process listens at `path`. This connects, and closes the connection.
  public static func isListening(_ path: SocketPath) throws(SystemError) -> Bool {
    let client = try Socket.unbound(family: AF_UNIX)
    do {
      try retryingInterrupts("connect", path.text) {
        path.withSystemAddress { connect(client.descriptor, $0, $1) }
      }
      return true
    } catch {
      switch error.code {
      case ECONNREFUSED, ENOENT: return false
      // Too many connections wait to be accepted.
      case EAGAIN: return true
      default: throw error
      }
    }
  }

  /// Whether the file at `path` is a socket; `nil` if there is none.
  private static func hasSocket(at path: SocketPath) throws(Failure) -> Bool? {
    var status = stat()
    do {
      try retryingInterrupts("lstat", path.text) { lstat(path.text, &status) }
    } catch {
      guard error.isNotFound else { throw .system(error) }
      return nil
    }
    return status.st_mode & S_IFMT == S_IFSOCK
  }

  private static func remove(_ path: SocketPath, if identity: FileIdentity) throws(SystemError) {
    guard try Folder.file(at: path.text)?.identity == identity else { return }
    do { try retryingInterrupts("remove", path.text) { unlink(path.text) } } catch  where error.isNotFound {}
  }
}
