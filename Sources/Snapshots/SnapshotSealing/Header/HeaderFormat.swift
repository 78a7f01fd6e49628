/// The fixed texts and limits of a header.
enum HeaderFormat {
  static let versionStart = "age-encryption.org/"
  static let version = "v1"
  static let armorStart = "-----BEGIN AGE ENCRYPTED FILE-----"
  /// The length of full lines of a stanza's body.
  static let columns = 64
  /// The maximum length of the version line.
  static let versionLength = 128
}
