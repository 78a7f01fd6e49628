public import Foundation
public import HTTPEngine
public import SystemIO

/// The files with which a server protects its connections.
public struct TLSConfiguration: Sendable, Hashable {
  /// The maximum size of a file with certificates, a key or a stapled response.
  public static let maximumFileBytes = 1 << 20

  /// The certificates and keys, at least one. A client gets the one for the name that it asks for, or the first one.
  /// Two for the same names, one with an RSA and one with an ECDSA key, are alternatives.
  public var files: [TLSFiles]
  /// A PEM file with the authorities whose certificates identify clients; `nil` to request none.
  public var clientAuthorities: String?

  /// Creates a configuration.
  public init(files: [TLSFiles], clientAuthorities: String? = nil) {
    self.files = files
    self.clientAuthorities = clientAuthorities
  }

  /// The paths of all files.
  public var paths: [String] {
    files.flatMap { [$0.certificate, $0.key] + ($0.staple.map { [$0] } ?? []) }
      + (clientAuthorities.map { [$0] } ?? [])
  }
}

/// TLS 1.2 and 1.3 for the connections of a server, by OpenSSL.
///
/// The certificates can be read again while the server runs: new connections use the new ones. Thread-safe.
public final class TLSServer: ConnectionSecurity {
  private let now: @Sendable () -> Date
  private let ticketKeys = TicketKeys()
  private let contexts: Lock<TLSContexts>

  /// Reads and checks all files.
  ///
  /// - Parameters:
  ///   - configuration: the files.
  ///   - now: the time of day, for the dates of certificates.
  /// - Throws: ``TLSError`` if one can't be used.
  public init(
    _ configuration: TLSConfiguration, now: @escaping @Sendable () -> Date = { Date() }
  ) throws(TLSError) {
    self.now = now
    contexts = Lock(try TLSContexts(configuration, ticketKeys: ticketKeys, now: now))
  }

  /// Reads all files again, or other files, and changes nothing. The returned closure applies what was read: new
  /// connections use it, and open ones keep their certificates.
  ///
  /// - Throws: ``TLSError`` if a file can't be used.
  public func prepareReload(_ configuration: TLSConfiguration) throws(TLSError) -> @Sendable () -> Void {
    let new = try TLSContexts(configuration, ticketKeys: ticketKeys, now: now)
    return { self.contexts.withLock { $0 = new } }
  }

  /// Creates the session of a connection.
  public func makeSession(on socket: Socket) -> any SecureSession {
    TLSSession(contexts.withLock { $0 }, on: socket)
  }

  /// The fingerprints of the public keys in use, for clients that pin one; see ``KeyPin``.
  public var pins: [KeyPin] { contexts.withLock { $0 }.first.pairs.map { KeyPin(of: $0.certificate) } }
}

/// The SHA-256 digest of a certificate's public key, by which a client recognizes a server.
///
/// It remains the same if a new certificate is made for the same key.
public struct KeyPin: Sendable, Hashable, CustomStringConvertible {
  /// The digest of the key in DER format with its algorithm, 32 bytes.
  public let digest: [UInt8]

  init(of certificate: X509Certificate) { digest = certificate.keyDigest }

  /// The pin in the form of curl's option `--pinnedpubkey`: `sha256//` and the digest in Base64.
  public var description: String { "sha256//" + Data(digest).base64EncodedString() }
}
