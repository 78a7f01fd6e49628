import COpenSSL
import SystemIO

/// Reads PEM files: certificates and keys.
enum TLSFile {
  /// Reads the file at `path`. Follows links, because certbot's files are links.
  static func read(_ path: String, what: String) throws(TLSError) -> [UInt8] {
    do {
      return try NamedFile.read(path, limit: TLSConfiguration.maximumFileBytes)
    } catch {
      switch error {
      case .missing: throw TLSError("There is no file \(path) with \(what).")
      case .tooLong: throw TLSError("\(path) is too large for \(what).")
      case .folder, .notRegular, .system: throw TLSError("\(path) with \(what) can't be read: \(error).")
      }
    }
  }

  /// Reads all certificates of a PEM file, at least one.
  static func certificates(_ path: String) throws(TLSError) -> [X509Certificate] {
    let bytes = try read(path, what: "certificates")
    OpenSSLErrors.clear()
    var certificates: [X509Certificate] = []
    let isMalformed = withMemory(bytes) { memory in
      while let certificate = PEM_read_bio_X509(memory, nil, { _, _, _, _ in 0 }, nil) {
        certificates.append(X509Certificate(taking: certificate))
      }
      return OpenSSLErrors.take().reason != PEM_R_NO_START_LINE
    }
    if isMalformed { throw TLSError("Certificate \(certificates.count + 1) in \(path) is malformed.") }
    guard !certificates.isEmpty else { throw TLSError("\(path) contains no certificate in PEM format.") }
    return certificates
  }

  /// Reads the private key of a PEM file.
  static func key(_ path: String) throws(TLSError) -> PrivateKey {
    try key(in: try read(path, what: "a private key"), path)
  }

  /// Reads the private key in `bytes`, the contents of `path`.
  static func key(in bytes: [UInt8], _ path: String) throws(TLSError) -> PrivateKey {
    OpenSSLErrors.clear()
    // OpenSSL asks for the password of an encrypted key.
    let asks = Flag()
    let key = withMemory(bytes) { memory in
      PEM_read_bio_PrivateKey(
        memory, nil,
        { _, _, _, context in
          context.map { Unmanaged<Flag>.fromOpaque($0).takeUnretainedValue().isSet = true }
          return -1
        }, Unmanaged.passUnretained(asks).toOpaque())
    }
    OpenSSLErrors.clear()
    if let key { return PrivateKey(taking: key) }
    if asks.isSet {
      throw TLSError("The private key in \(path) is encrypted; store it without a password.")
    }
    throw TLSError(
      String(decoding: bytes, as: UTF8.self).contains("PRIVATE KEY-----")
        ? "The private key in \(path) is malformed." : "\(path) contains no private key in PEM format.")
  }

  private final class Flag {
    var isSet = false
  }

  private static func withMemory<Result>(_ bytes: [UInt8], _ body: (OpaquePointer?) -> Result) -> Result {
    bytes.withUnsafeBytes { bytes in
      let memory = snapshot_ssl_memory(bytes.baseAddress, Int32(bytes.count))
      defer { BIO_free(memory) }
      return body(memory)
    }
  }
}

/// A private key.
///
/// - Invariant: the key is never changed, and OpenSSL counts its references atomically. This makes
///   `@unchecked Sendable` correct.
final class PrivateKey: @unchecked Sendable {
  let pointer: OpaquePointer

  /// Takes ownership of a reference.
  init(taking pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }
}
