/// A file of identities, as `age-keygen` writes it: one identity a line, comments that begin with `#`, and blank lines.
public struct IdentityFile: Sendable {
  /// The maximum size of a file in bytes.
  public static let maximumSize = 65_536

  /// The identities in the order of the file; at least one.
  public let identities: [SealingIdentity]

  /// Parses the contents of a file. The errors name the line, and never contain it.
  public init(_ contents: [UInt8]) throws(SealingError) {
    guard !Self.isEncrypted(contents) else { throw .encryptedIdentityFile }
    guard contents.count <= Self.maximumSize else { throw .identityFileTooLarge(limit: Self.maximumSize) }
    var identities: [SealingIdentity] = []
    let lines = String(decoding: contents, as: UTF8.self).split(omittingEmptySubsequences: false) {
      $0.isNewline
    }
    for (index, line) in lines.enumerated() {
      let text = line.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
      guard let first = text.first, first != "#" else { continue }
      identities.append(try Self.identity(String(text), line: index + 1))
    }
    guard !identities.isEmpty else {
      throw .malformedIdentity(
        "The file has no identity. `snapshot keys create --output FILE` makes a file with one.")
    }
    self.identities = identities
  }

  private static func identity(_ text: String, line: Int) throws(SealingError) -> SealingIdentity {
    guard !text.hasPrefix("AGE-PLUGIN-") else { throw .pluginIdentity(line: line) }
    guard !text.hasPrefix("age1") else {
      throw .malformedIdentity(
        "Line \(line) is a recipient, which is public and opens nothing. Name a secret identity.")
    }
    do throws(SealingError) {
      return try SealingIdentity(text)
    } catch .malformedIdentity(let reason) {
      throw .malformedIdentity("Line \(line) of the identity file: \(reason)")
    }
  }

  /// Whether a file was encrypted by `age -p`.
  public static func isEncrypted(_ contents: [UInt8]) -> Bool {
    contents.starts(with: HeaderFormat.versionStart.utf8) || Armor.isArmored(contents)
  }

  /// Parses a file that was encrypted by `age -p`.
  package init(_ contents: [UInt8], openedWith passphrase: Passphrase) throws(SealingError) {
    // Armor takes a third more than the bytes, and the header some hundred.
    let limit = 2 * Self.maximumSize
    guard contents.count <= limit else { throw .identityFileTooLarge(limit: limit) }
    var unsealer = Unsealer(with: [passphrase])
    let opened = try unsealer.open(Armor.isArmored(contents) ? Armor.decode(contents) : contents)
    try self.init(opened + unsealer.finish())
  }

  /// The contents of a file with one identity.
  /// - Parameters:
  ///   - identity: The identity.
  ///   - createdAt: The time in RFC 3339 format.
  public static func contents(of identity: SealingIdentity, createdAt: String) -> String {
    "# created: \(createdAt)\n# public key: \(identity.recipient)\n\(identity.secretText)\n"
  }
}
