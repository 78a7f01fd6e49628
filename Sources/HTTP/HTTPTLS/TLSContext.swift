import COpenSSL
import Foundation

/// What the sessions for one set of names share: the certificates, and all settings of OpenSSL.
///
/// - Invariant: after `init`, neither this object nor OpenSSL's context is changed, except that OpenSSL counts
///   references atomically. This makes `@unchecked Sendable` correct.
final class TLSContext: @unchecked Sendable {
  /// How many received bytes OpenSSL reads with one system call: two records.
  private static let readBufferSize = 33 * 1024
  /// The settings “intermediate” of Mozilla, without key exchanges over finite fields, which cost much and which no
  /// supported client needs.
  private static let ciphers = """
    ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:\
    ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305
    """
  private static let ciphersOfTLS13 =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
  private static let groups = "X25519:prime256v1:secp384r1"

  let pointer: OpaquePointer
  let ticketKeys: TicketKeys
  /// The pairs of which the client gets one: at most one of each kind.
  let pairs: [TLSPair]
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - clients: the authorities whose client certificates are accepted; `nil` to request none.
  ///   - now: the time of day, for the dates of OCSP responses.
  init(
    _ pairs: [TLSPair], clients: [X509Certificate]?, ticketKeys: TicketKeys,
    now: @escaping @Sendable () -> Date
  ) throws(TLSError) {
    guard let pointer = SSL_CTX_new(TLS_server_method()) else {
      throw TLSError("OpenSSL can't create a context: \(OpenSSLErrors.take().text).")
    }
    self.pointer = pointer
    self.ticketKeys = ticketKeys
    self.pairs = pairs
    self.now = now
    try set()
    for pair in pairs { try use(pair) }
    if let clients { try request(clients) }
    let settings = clients.map { $0.map { X509Certificate.fingerprint(of: $0.pointer) }.joined() } ?? ""
    try setSessionContext(settings)
    setCallbacks()
  }

  deinit { SSL_CTX_free(pointer) }

  private func set() throws(TLSError) {
    snapshot_ssl_set_mode(
      pointer,
      Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        | Int(SSL_MODE_RELEASE_BUFFERS))
    SSL_CTX_set_options(pointer, Self.options)
    SSL_CTX_set_security_level(pointer, 2)
    snapshot_ssl_disable_session_cache(pointer)
    snapshot_ssl_read_ahead(pointer)
    SSL_CTX_set_default_read_buffer_len(pointer, Self.readBufferSize)
    guard snapshot_ssl_set_minimum_version(pointer, TLS1_2_VERSION) == 1,
      SSL_CTX_set_cipher_list(pointer, Self.ciphers) == 1,
      SSL_CTX_set_ciphersuites(pointer, Self.ciphersOfTLS13) == 1,
      snapshot_ssl_set_groups(pointer, Self.groups) == 1
    else { throw TLSError("OpenSSL does not support the ciphers: \(OpenSSLErrors.take().text).") }
  }

  /// No renegotiation. An end without `close_notify` is accepted: requests state their length, so a truncated one
  /// is detected.
  private static let options =
    snapshot_ssl_no_renegotiation | snapshot_ssl_no_compression | snapshot_ssl_ignore_unexpected_end

  private func use(_ pair: TLSPair) throws(TLSError) {
    guard SSL_CTX_use_certificate(pointer, pair.certificate.pointer) == 1,
      SSL_CTX_use_PrivateKey(pointer, pair.key.pointer) == 1
    else {
      throw TLSError("The certificate for \(pair.names[0]) can't be used: \(OpenSSLErrors.take().text).")
    }
    for issuer in pair.chain where snapshot_ssl_add_chain_certificate(pointer, issuer.pointer) != 1 {
      throw TLSError("The chain for \(pair.names[0]) can't be used: \(OpenSSLErrors.take().text).")
    }
  }

  /// Requests a certificate from clients, which can have none. One that `authorities` did not issue ends the handshake.
  private func request(_ authorities: [X509Certificate]) throws(TLSError) {
    let store = SSL_CTX_get_cert_store(pointer)
    for authority in authorities {
      guard X509_STORE_add_cert(store, authority.pointer) == 1,
        SSL_CTX_add_client_CA(pointer, authority.pointer) == 1
      else { throw TLSError("An authority for clients can't be used: \(OpenSSLErrors.take().text).") }
    }
    SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
  }

  /// Tickets are valid only with the same authorities, because a ticket stands for a verified certificate.
  private func setSessionContext(_ settings: String) throws(TLSError) {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let text = Array(settings.utf8)
    guard EVP_Digest(text, text.count, &digest, &count, EVP_sha256(), nil) == 1,
      SSL_CTX_set_session_id_context(pointer, digest, count) == 1
    else { throw TLSError("OpenSSL can't prepare sessions: \(OpenSSLErrors.take().text).") }
  }

  private func setCallbacks() {
    snapshot_ssl_set_app_data(pointer, Unmanaged.passUnretained(self).toOpaque())
    snapshot_ssl_set_ticket_callback(pointer, prepareTicket)
    SSL_CTX_set_alpn_select_cb(
      pointer,
      { _, chosen, length, offered, count, _ in
        guard let chosen, let length, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        // The offer is a list of names, each after its length.
        var index = 0
        while index < Int(count) {
          let size = Int(offered[index])
          guard index + 1 + size <= Int(count) else { break }
          let name = UnsafeBufferPointer(start: offered + index + 1, count: size)
          if name.elementsEqual("http/1.1".utf8) {
            chosen.pointee = name.baseAddress
            length.pointee = UInt8(size)
            return SSL_TLSEXT_ERR_OK
          }
          index += 1 + size
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
      }, nil)
    snapshot_ssl_set_status_callback(pointer) { ssl, _ in
      guard let ssl, let context = TLSContext.of(ssl) else { return SSL_TLSEXT_ERR_NOACK }
      return context.staple(on: ssl)
    }
  }

  private func staple(on ssl: OpaquePointer) -> Int32 {
    let certificate = SSL_get_certificate(ssl)
    let staple = pairs.first { $0.certificate.pointer == certificate }?.staple
    guard let staple, staple.isValid(at: now()) else { return SSL_TLSEXT_ERR_NOACK }
    return snapshot_ssl_set_staple(ssl, staple.bytes, staple.bytes.count) == 1
      ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
  }

  /// The context that a session uses at present.
  static func of(_ ssl: OpaquePointer) -> TLSContext? {
    snapshot_ssl_app_data(ssl).map { Unmanaged<TLSContext>.fromOpaque($0).takeUnretainedValue() }
  }
}
