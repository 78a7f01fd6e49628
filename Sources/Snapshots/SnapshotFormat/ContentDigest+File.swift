import Crypto
public import SystemIO

extension ContentDigest {
  /// The digest of all that `file` holds.
  public static func of(contentsOf file: File) throws(SystemError) -> ContentDigest {
    try measure(file).sha256
  }

  /// How much `file` holds, and the digest of it: of the same bytes, even if the file grows meanwhile.
  static func measure(_ file: File) throws(SystemError) -> (size: Int64, sha256: ContentDigest) {
    var hash = SHA256()
    var size: Int64 = 0
    while true {
      let bytes = try file.read(upTo: 64 << 10, at: size)
      if bytes.isEmpty { return (size, ContentDigest(hash.finalize())) }
      hash.update(data: bytes)
      size += Int64(bytes.count)
    }
  }
}
