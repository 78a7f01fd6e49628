import COpenSSL
import HTTPEngine
import SystemIO

/// The server's side of one TLS connection, on a non-blocking socket.
///
/// Not thread-safe: owned by the connection.
final class TLSSession: SecureSession {
  /// The maximum number of bytes in one record (RFC 8446 §5.1).
  private static let recordSize = 16 * 1024

  private let ssl: OpaquePointer
  /// Released after the session, which refers to them.
  private let contexts: TLSContexts
  /// Whether the session failed, after which OpenSSL allows no further calls.
  private var hasFailed = false
  /// Whether the last call of `SSL_read` had to wait, so that the bytes that OpenSSL holds are an incomplete record.
  private var isStarved = true
  /// Whether the client has ended its side, and the next call of ``receive(into:)`` will say so.
  private var endIsUnreported = false
  private(set) var receivingAwaits = Poller.Interest.read
  private(set) var sendingAwaits = Poller.Interest.write
  /// Whether a record is encrypted and not completely sent.
  private var isSending = false

  init(_ contexts: TLSContexts, on socket: Socket) throws(TLSError) {
    guard let ssl = SSL_new(contexts.first.pointer), SSL_set_fd(ssl, socket.descriptor) == 1 else {
      throw TLSError("OpenSSL can't create a session: \(OpenSSLErrors.take().text).")
    }
    SSL_set_accept_state(ssl)
    self.ssl = ssl
    self.contexts = contexts
  }

  deinit { SSL_free(ssl) }

  // MARK: The handshake

  func shakeHands() -> HandshakeProgress {
    OpenSSLErrors.clear()
    let result = SSL_do_handshake(ssl)
    if result == 1 {
      isStarved = false
      return .done
    }
    let error = SSL_get_error(ssl, result)
    switch error {
    case SSL_ERROR_WANT_READ: return .awaits(.read)
    case SSL_ERROR_WANT_WRITE: return .awaits(.write)
    default:
      hasFailed = true
      if error == SSL_ERROR_SYSCALL { return .failed(reason: "the client disconnected") }
      let (text, reason) = OpenSSLErrors.take()
      return reason == SSL_R_HTTP_REQUEST ? .isPlainHTTP : .failed(reason: text)
    }
  }

  var clientCertificate: ClientCertificate? {
    guard let certificate = SSL_get0_peer_certificate(ssl), SSL_get_verify_result(ssl) == X509_V_OK else {
      return nil
    }
    return ClientCertificate(
      fingerprint: X509Certificate.fingerprint(of: certificate),
      commonName: X509Certificate.commonName(of: certificate))
  }

  // MARK: Receiving

  func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    var received = 0
    while received < buffer.count {
      guard let count = try receiveRecord(into: UnsafeMutableRawBufferPointer(rebasing: buffer[received...]))
      else { return received > 0 ? received : nil }
      endIsUnreported = count == 0 && received > 0
      if count == 0 { return received }
      received += count
      // Trying again costs a system call unless OpenSSL holds more. It is worth it for a large body only.
      if buffer.count <= Self.recordSize, !holdsBytes { break }
    }
    return received
  }

  private func receiveRecord(into room: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    guard !hasFailed else { throw SystemError.disconnected("SSL_read") }
    OpenSSLErrors.clear()
    let count = SSL_read(ssl, room.baseAddress, Int32(clamping: room.count))
    receivingAwaits = .read
    if count > 0 {
      isStarved = false
      return Int(count)
    }
    isStarved = true
    switch SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return nil
    case SSL_ERROR_WANT_WRITE:
      receivingAwaits = .write
      return nil
    case SSL_ERROR_ZERO_RETURN: return 0
    default:
      hasFailed = true
      OpenSSLErrors.clear()
      throw SystemError.disconnected("SSL_read")
    }
  }

  var holdsBytes: Bool {
    endIsUnreported || (!isStarved && !hasFailed && SSL_has_pending(ssl) == 1)
  }

  // MARK: Sending

  func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int? {
    var sent = 0
    while sent < bytes.count {
      guard !hasFailed else { throw SystemError.disconnected("SSL_write") }
      OpenSSLErrors.clear()
      let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
      let count = SSL_write(ssl, rest.baseAddress, Int32(clamping: rest.count))
      isSending = count <= 0
      if count > 0 {
        sent += Int(count)
        continue
      }
      switch SSL_get_error(ssl, count) {
      case SSL_ERROR_WANT_WRITE: sendingAwaits = .write
      case SSL_ERROR_WANT_READ: sendingAwaits = .read
      case SSL_ERROR_SYSCALL:
        // The client has disconnected. Bytes that it sent before can still be received.
        throw SystemError.disconnected("SSL_write")
      default:
        hasFailed = true
        OpenSSLErrors.clear()
        throw SystemError.disconnected("SSL_write")
      }
      return sent > 0 ? sent : nil
    }
    return sent
  }

  func endSending() {
    guard !hasFailed, !isSending, SSL_is_init_finished(ssl) == 1 else { return }
    OpenSSLErrors.clear()
    if SSL_shutdown(ssl) < 0 { OpenSSLErrors.clear() }
  }
}
