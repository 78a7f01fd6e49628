import Foundation

/// Makes keys and certificates with the program `openssl`, in a folder.
public struct CertificateMaker: Sendable {
  /// A PEM file with a certificate, and one with its key.
  public struct Pair: Sendable {
    /// The certificate's file, which can contain its issuers.
    public let certificate: String
    /// The key's file.
    public let key: String
  }

  /// The kinds of keys.
  public enum Kind: String, Sendable, CaseIterable {
    /// ECDSA with the curve P-256.
    case ecdsa = "ec"
    /// RSA with 2048 bits.
    case rsa = "rsa:2048"
    /// RSA with too few bits.
    case shortRSA = "rsa:1024"
    /// Ed25519, which browsers do not support.
    case ed25519 = "ed25519"
  }

  /// The folder.
  public let folder: TemporaryFolder

  /// Creates a maker with an empty folder.
  public init() throws { folder = try TemporaryFolder() }

  /// Makes a certificate.
  /// - Parameters:
  ///   - name: the common name, and the DNS name unless it is an authority.
  ///   - file: the name of the files, without extension.
  ///   - days: how long it is valid.
  ///   - issuer: the authority that signs it; `nil` for a self-signed one.
  public func make(
    _ name: String, as file: String, kind: Kind = .ecdsa, days: Int = 30, isAuthority: Bool = false,
    issuer: Pair? = nil, names: [String]? = nil
  ) async throws -> Pair {
    let pair = Pair(certificate: folder.file(file + ".pem").path, key: folder.file(file + ".key").path)
    var arguments = [
      "req", "-x509", "-newkey", kind.rawValue, "-nodes", "-subj", "/CN=" + name, "-out", pair.certificate,
      "-keyout", pair.key,
    ]
    if kind == .ecdsa { arguments += ["-pkeyopt", "ec_paramgen_curve:P-256"] }
    arguments += ["-days", String(days)]
    if isAuthority {
      arguments += ["-addext", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature"]
    } else {
      let alternatives = (names ?? [name]).map { "DNS:" + $0 }.joined(separator: ",")
      arguments += [
        "-addext", "subjectAltName=" + alternatives, "-addext", "basicConstraints=critical,CA:FALSE",
      ]
    }
    if let issuer { arguments += ["-CA", issuer.certificate, "-CAkey", issuer.key] }
    try await run(arguments)
    return pair
  }

  /// Runs `openssl`.
  public func run(_ arguments: [String]) async throws {
    let run = try await Tool.run("openssl", arguments)
    guard run.status == 0 else {
      throw RawHTTPClient.Failure(description: "openssl \(arguments[0]): \(run.errors)")
    }
  }

  /// Writes the contents of several files to a new one, such as a certificate and its issuers.
  public func join(_ paths: [String], as name: String) throws -> String {
    let data = try paths.map { try Data(contentsOf: URL(filePath: $0)) }.reduce(Data(), +)
    return try folder.write(data, to: name).path
  }
}
