import HTTPSemantics
import HTTPTypes

extension FuzzedParser {
  /// An accepted digest has 32 bytes, and is parsed as it is formatted.
  func checkDigests(_ input: [UInt8]) throws {
    var fields: HTTPFields = [:]
    for line in String(decoding: input, as: UTF8.self).split(separator: "\n") {
      guard HTTPField.isValidValue(String(line)) else { continue }
      fields.append(HTTPField(name: .reprDigest, value: String(line)))
      fields.append(HTTPField(name: .wantReprDigest, value: String(line)))
    }
    _ = DigestField.isWanted(by: fields)
    let digest: DigestField?
    do throws(DigestField.Malformed) {
      digest = try DigestField(.reprDigest, in: fields)
    } catch {
      return
    }
    guard let sha256 = digest?.sha256 else { return }
    try require(sha256.count == 32, "\(sha256.count) bytes")
    let written = DigestField(sha256: sha256).fieldValue
    try require(
      try DigestField(.reprDigest, in: [.reprDigest: written])?.sha256 == sha256, "written as \(written)")
  }
}
