public import SystemIO

/// Protects the connections of a server, for example with TLS.
///
/// The engine depends on this protocol only, so that a server without TLS links no library for it.
public protocol ConnectionSecurity: Sendable {
  /// Creates the session of an accepted connection. Called on an event loop, so it must not block.
  ///
  /// - Throws: any error, which is logged; the connection is closed then.
  func makeSession(on socket: Socket) throws -> any SecureSession
}

/// The protection of one connection: it encrypts what is sent on the socket, and decrypts what is received.
///
/// Used by one thread only. No call waits: it returns `nil` if it would have to, and ``receivingAwaits`` or
/// ``sendingAwaits`` say until when. The socket remains open during the lifetime of the session.
public protocol SecureSession: AnyObject {
  /// Continues the handshake with the bytes that are available. Called until the handshake has ended.
  func shakeHands() -> HandshakeProgress

  /// Decrypts available bytes, at most the size of `buffer`.
  /// - Returns: the number of bytes; 0 if the client has ended its side; `nil` if no bytes are available.
  func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int?

  /// Encrypts and sends as many of `bytes` as fit into the socket's buffer, and returns their number. After `nil` or a
  /// smaller number than `bytes.count`, the next call must pass the remaining bytes again.
  func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int?

  /// Whether ``receive(into:)`` may return bytes although the socket is not readable.
  var holdsBytes: Bool { get }

  /// The event after which ``receive(into:)`` can continue.
  var receivingAwaits: Poller.Interest { get }

  /// The event after which ``send(_:)`` can continue.
  var sendingAwaits: Poller.Interest { get }

  /// Tells the client that nothing follows, if that is possible without waiting.
  func endSending()

  /// The certificate with which the client has proved its identity; `nil` if there is none.
  var clientCertificate: ClientCertificate? { get }
}

/// The state of a handshake.
public enum HandshakeProgress: Sendable, Hashable {
  /// The handshake is complete.
  case done
  /// The handshake continues after this event.
  case awaits(Poller.Interest)
  /// The client sends plain HTTP. Nothing was sent to it.
  case isPlainHTTP
  /// The handshake failed, and the client was told so if possible.
  case failed(reason: String)
}

/// The certificate of a client, which was verified when the connection was made.
public final class ClientCertificate: Sendable {
  /// The SHA-256 digest of the certificate in 64 hexadecimal digits.
  public let fingerprint: String
  /// The common name of its subject; `nil` if it has none.
  public let commonName: String?

  /// Creates a description of a verified certificate.
  public init(fingerprint: String, commonName: String?) {
    self.fingerprint = fingerprint
    self.commonName = commonName
  }
}
