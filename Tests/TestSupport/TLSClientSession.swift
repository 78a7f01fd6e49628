import COpenSSL
import Foundation
import SystemIO

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The client's side of a TLS connection, for tests. It verifies no certificate. Several threads can use it.
public final class TLSClientSession: Sendable {
  /// The settings of a client.
  public struct Settings: Sendable {
    /// The name to ask for (SNI).
    public var serverName = "localhost"
    /// The newest version to offer: 2 or 3 for TLS 1.2 or 1.3.
    public var version = 3
    /// OpenSSL's names of the ciphers of TLS 1.2; `nil` for the defaults.
    public var ciphers: String?
    /// The protocols to offer (ALPN); empty for none.
    public var protocols: [String] = []
    /// PEM files with the client's certificate and key.
    public var certificate: (certificate: String, key: String)?
    /// Whether to ask for a stapled OCSP response.
    public var asksForStaple = false
    /// Whether the server must announce the end of the connection.
    public var requiresEnd = false
    /// A session to resume.
    public var resumed: Ticket?

    /// Creates the default settings.
    public init() {}
  }

  /// A session that can be resumed.
  ///
  /// - Invariant: OpenSSL's object is not changed. This makes `@unchecked Sendable` correct.
  public final class Ticket: @unchecked Sendable {
    fileprivate let pointer: OpaquePointer
    fileprivate init(taking pointer: OpaquePointer) { self.pointer = pointer }
    deinit { SSL_SESSION_free(pointer) }
  }

  /// - Invariant: used only while the mutex is locked. This makes `@unchecked Sendable` correct.
  private struct Handle: @unchecked Sendable {
    let ssl: OpaquePointer
  }

  private let handle: Lock<Handle>
  private let descriptor: Int32
  private let timeoutSeconds: Int32

  /// Shakes hands on a connected socket, which becomes non-blocking. The socket must stay open.
  public init(
    _ settings: Settings = Settings(), on descriptor: Int32, timeoutSeconds: Int
  ) throws {
    func require(_ isDone: Bool, _ what: String) throws {
      if !isDone { throw RawHTTPClient.Failure(description: "TLS: \(what): \(Self.reason)") }
    }
    ERR_clear_error()
    guard let context = SSL_CTX_new(TLS_client_method()) else {
      throw RawHTTPClient.Failure(description: "TLS: no context")
    }
    defer { SSL_CTX_free(context) }
    snapshot_ssl_set_mode(
      context, Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
    if !settings.requiresEnd { SSL_CTX_set_options(context, snapshot_ssl_ignore_unexpected_end) }
    if settings.version == 2 { SSL_CTX_set_options(context, snapshot_ssl_no_tls13) }
    if let ciphers = settings.ciphers {
      try require(SSL_CTX_set_cipher_list(context, ciphers) == 1, "ciphers")
    }
    if let files = settings.certificate {
      try require(
        SSL_CTX_use_certificate_chain_file(context, files.certificate) == 1
          && SSL_CTX_use_PrivateKey_file(context, files.key, SSL_FILETYPE_PEM) == 1, "certificate")
    }
    if !settings.protocols.isEmpty {
      let offer = settings.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
      try require(SSL_CTX_set_alpn_protos(context, offer, UInt32(offer.count)) == 0, "ALPN")
    }
    guard let ssl = SSL_new(context) else { throw RawHTTPClient.Failure(description: "TLS: no session") }
    handle = Lock(Handle(ssl: ssl))
    self.descriptor = descriptor
    self.timeoutSeconds = Int32(timeoutSeconds)
    try require(SSL_set_fd(ssl, descriptor) == 1, "descriptor")
    try require(snapshot_ssl_set_host_name(ssl, settings.serverName) == 1, "name")
    if settings.asksForStaple { snapshot_ssl_ask_for_staple(ssl) }
    if let resumed = settings.resumed { try require(SSL_set_session(ssl, resumed.pointer) == 1, "session") }
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    SSL_set_connect_state(ssl)
    while let result = perform({ SSL_do_handshake($0) }) { try wait(result) }
  }

  deinit {
    handle.withLock {
      // OpenSSL does not resume sessions of connections that were not closed properly.
      SSL_set_shutdown($0.ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
      SSL_free($0.ssl)
    }
  }

  private static var reason: String {
    defer { ERR_clear_error() }
    return ERR_reason_error_string(ERR_peek_error()).map { String(cString: $0) } ?? "the connection ended"
  }

  /// Calls OpenSSL without `SIGPIPE`. Returns `nil` if the result is positive, otherwise OpenSSL's error.
  private func perform(_ body: (OpaquePointer) -> Int32) -> Int32? {
    handle.withLock { handle in
      var error: Int32?
      ERR_clear_error()
      ProcessSignals.withoutBrokenPipe {
        let result = body(handle.ssl)
        if result <= 0 { error = SSL_get_error(handle.ssl, result) }
      }
      return error
    }
  }

  /// Waits for the event that OpenSSL needs; throws for another error.
  private func wait(_ error: Int32) throws {
    let events: Int32
    switch error {
    case SSL_ERROR_WANT_READ: events = Int32(POLLIN)
    case SSL_ERROR_WANT_WRITE: events = Int32(POLLOUT)
    default: throw RawHTTPClient.Failure(description: "TLS: \(Self.reason)")
    }
    var subject = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    if poll(&subject, 1, timeoutSeconds * 1000) == 0 {
      throw RawHTTPClient.Failure(description: "TLS: the time is over")
    }
  }

  // MARK: Bytes

  /// Sends some of `bytes`, and returns their number; `nil` if that would have to wait.
  public func sendSome(_ bytes: ArraySlice<UInt8>) throws -> Int? {
    var count: Int32 = 0
    let error = bytes.withUnsafeBytes { buffer in
      perform {
        count = SSL_write($0, buffer.baseAddress, Int32(clamping: buffer.count))
        return count
      }
    }
    guard let error else { return Int(count) }
    if error == SSL_ERROR_WANT_WRITE { return nil }
    throw RawHTTPClient.Failure(description: "TLS: \(Self.reason)")
  }

  /// Sends all of `bytes`.
  public func send(_ bytes: [UInt8]) throws {
    // Several records arrive together, as one write of plain bytes does.
    #if os(Linux)
      setCorked(true)
      defer { setCorked(false) }
    #endif
    var sent = 0
    while sent < bytes.count {
      if let count = try sendSome(bytes[sent...]) { sent += count } else { try wait(SSL_ERROR_WANT_WRITE) }
    }
  }

  #if os(Linux)
    private func setCorked(_ isCorked: Bool) {
      var value: Int32 = isCorked ? 1 : 0
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
    }
  #endif

  /// Receives the next bytes; empty at the end.
  public func receive(upTo count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var received: Int32 = 0
    while let error = perform({
      received = SSL_read($0, &bytes, Int32(count))
      return received
    }) {
      if error == SSL_ERROR_ZERO_RETURN { return [] }
      try wait(error)
    }
    return Array(bytes.prefix(Int(received)))
  }

  /// Tells the server that nothing follows.
  public func endSending() { _ = perform { SSL_shutdown($0) } }

  // MARK: What was agreed on

  /// The version, such as `TLSv1.3`.
  public var version: String { handle.withLock { String(cString: SSL_get_version($0.ssl)) } }

  /// The cipher, such as `TLS_AES_128_GCM_SHA256`.
  public var cipher: String {
    handle.withLock { snapshot_ssl_cipher_name($0.ssl).map { String(cString: $0) } ?? "" }
  }

  /// Whether an earlier session was resumed.
  public var isResumed: Bool { handle.withLock { SSL_session_reused($0.ssl) == 1 } }

  /// The protocol that the server chose (ALPN).
  public var chosenProtocol: String? {
    handle.withLock { handle in
      var start: UnsafePointer<UInt8>?
      var count: UInt32 = 0
      SSL_get0_alpn_selected(handle.ssl, &start, &count)
      return start.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    }
  }

  /// The common name of the server's certificate.
  public var serverCommonName: String? {
    handle.withLock { handle in
      guard let certificate = SSL_get0_peer_certificate(handle.ssl) else { return nil }
      var name = [CChar](repeating: 0, count: 256)
      let count = X509_NAME_get_text_by_NID(
        X509_get_subject_name(certificate), NID_commonName, &name, Int32(name.count))
      return count < 0
        ? nil : String(decoding: name[..<Int(count)].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }

  /// The stapled OCSP response.
  public var staple: [UInt8]? {
    handle.withLock { handle in
      var start: UnsafePointer<UInt8>?
      let count = snapshot_ssl_staple(handle.ssl, &start)
      guard count > 0, let start else { return nil }
      return Array(UnsafeBufferPointer(start: start, count: count))
    }
  }

  /// The session, to resume it with another connection. In TLS 1.3 it exists after bytes were received.
  public var ticket: Ticket? {
    handle.withLock { SSL_get1_session($0.ssl).map { Ticket(taking: $0) } }
  }
}
