import COpenSSL
import HTTPEngine
import SystemIO

/// The server's side of one TLS connection, on a non-blocking socket.
///
/// Not thread-safe: owned by the connection.
final class TLSSession: SecureSession {
  /// The maximum number of bytes in one record (RFC 8446 §5.1).
  private static let recordSize = 16 * 1024

  /// How many bytes of the client's first message are received at once. Few messages are longer.
  private static let helloReadSize = 2048

  private let socket: Socket
  /// What was received before ``ssl`` was made.
  private var hello = ClientHelloBuffer()
  /// OpenSSL's state of some 40 KB; `nil` until the client's first message is complete, so that clients that send less
  /// occupy little memory.
  private var ssl: OpaquePointer?
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

  init(_ contexts: TLSContexts, on socket: Socket) {
    self.contexts = contexts
    self.socket = socket
  }

  deinit { if let ssl { SSL_free(ssl) } }

  // MARK: The handshake

  func shakeHands() -> HandshakeProgress {
    if let ssl { return continueHandshake(ssl) }
    do {
      guard try receiveHello() else { return .failed(reason: "the client disconnected") }
    } catch {
      return .failed(reason: "\(error)")
    }
    let state = hello.state
    guard state != .incomplete else { return .awaits(.read) }
    let progress = begin(with: hello.bytes)
    hello = ClientHelloBuffer()
    // OpenSSL has told the client what is wrong, if it can say so from these bytes.
    if state == .refused, case .awaits = progress {
      hasFailed = true
      return .failed(reason: "no ClientHello of at most \(ClientHelloBuffer.limit) bytes")
    }
    return progress
  }

  /// Receives bytes until the first message is complete or none are available. Returns `false` at the end of the
  /// client's side.
  private func receiveHello() throws -> Bool {
    try withUnsafeTemporaryAllocation(byteCount: Self.helloReadSize, alignment: 1) { buffer in
      while hello.state == .incomplete {
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(hello.room))
        guard let count = try socket.receive(into: room) else { break }
        if count == 0 { return false }
        hello.append(UnsafeRawBufferPointer(rebasing: room[..<count]))
        if count < room.count { break }
      }
      return true
    }
  }

  /// Creates OpenSSL's state, which continues with these bytes and then with the socket.
  private func begin(with bytes: [UInt8]) -> HandshakeProgress {
    OpenSSLErrors.clear()
    guard let ssl = SSL_new(contexts.first.pointer) else {
      return .failed(reason: "OpenSSL can't create a session: \(OpenSSLErrors.take().text)")
    }
    self.ssl = ssl
    guard SSL_set_fd(ssl, socket.descriptor) == 1, let received = BIO_new(BIO_s_mem()) else {
      hasFailed = true
      return .failed(reason: "OpenSSL can't use the socket: \(OpenSSLErrors.take().text)")
    }
    // The session owns it from here on.
    SSL_set0_rbio(ssl, received)
    SSL_set_accept_state(ssl)
    guard BIO_write(received, bytes, Int32(bytes.count)) == Int32(bytes.count) else {
      hasFailed = true
      return .failed(reason: "OpenSSL can't store the received bytes: \(OpenSSLErrors.take().text)")
    }
    let progress = continueHandshake(ssl)
    guard case .awaits = progress else { return progress }
    // OpenSSL reads ahead, so that it has all bytes now.
    guard BIO_ctrl_pending(received) == 0, SSL_set_rfd(ssl, socket.descriptor) == 1 else {
      hasFailed = true
      return .failed(reason: "OpenSSL has not read the received bytes")
    }
    return progress
  }

  private func continueHandshake(_ ssl: OpaquePointer) -> HandshakeProgress {
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
    guard let ssl, let certificate = SSL_get0_peer_certificate(ssl), SSL_get_verify_result(ssl) == X509_V_OK
    else { return nil }
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
    guard let ssl, !hasFailed else { throw SystemError.disconnected("SSL_read") }
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
    endIsUnreported || (!isStarved && !hasFailed && ssl.map { SSL_has_pending($0) } == 1)
  }

  // MARK: Sending

  func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int? {
    var sent = 0
    while sent < bytes.count {
      guard let ssl, !hasFailed else { throw SystemError.disconnected("SSL_write") }
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
    guard let ssl, !hasFailed, !isSending, SSL_is_init_finished(ssl) == 1 else { return }
    OpenSSLErrors.clear()
    if SSL_shutdown(ssl) < 0 { OpenSSLErrors.clear() }
  }
}
