import JSONText
import SystemIO

extension EncodedText {
  /// The outcome of decoding.
  package enum Outcome: Sendable {
    case bytes(ViewedBytes)
    /// The string does not contain what its beginning promises.
    case malformed
    /// The contents have more bytes than the limit.
    case tooLarge(limit: Int)
  }

  /// Decodes the string at `place` into a file without a name, with a fixed amount of memory.
  ///
  /// Of a token, the result is a JSON document with the header, the payload and the signature, which is not verified.
  /// - Parameter space: the space for the file.
  package func decode(
    _ place: JSONPlace, of view: JSONView, in space: CopySpace, limits: Limits = Limits()
  ) throws(ViewerError) -> Outcome {
    guard var pieces = try JSONStringPieces(view, place) else { return .malformed }
    let copy = try space.makeCopy()
    var size = 0
    var decoder = Base64.Decoder()
    var prefix = 0
    if case .base64(let count) = coding { prefix = count }
    if case .token = coding { return try decodeToken(&pieces, copy, limits) }
    while !pieces.isAtEnd {
      guard let piece = try pieces.next() else { return .malformed }
      var bytes = piece.text
      if case .base64 = coding {
        guard let decoded = decoder.decode(bytes.dropFirst(prefix)) else { return .malformed }
        prefix = max(0, prefix - bytes.count)
        bytes = decoded
      }
      guard size + bytes.count <= limits.contents else { return .tooLarge(limit: limits.contents) }
      try copy.write(bytes, at: size)
      size += bytes.count
    }
    guard decoder.isComplete else { return .malformed }
    return .bytes(ViewedBytes(copy, size: size))
  }

  private func decodeToken(
    _ pieces: inout JSONStringPieces, _ copy: CopyFile, _ limits: Limits
  ) throws(ViewerError) -> Outcome {
    var text: [UInt8] = []
    while !pieces.isAtEnd {
      guard let piece = try pieces.next() else { return .malformed }
      text += piece.text
      guard text.count <= limits.token else { return .tooLarge(limit: limits.token) }
    }
    guard let document = Self.document(ofToken: text) else { return .malformed }
    try copy.write(document, at: 0)
    return .bytes(ViewedBytes(copy, size: document.count))
  }

  /// The JSON document of a token.
  static func document(ofToken text: [UInt8]) -> [UInt8]? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    var document: [UInt8] = []
    for (name, part) in zip(["header", "payload"], parts) {
      var decoder = Base64.Decoder()
      guard let bytes = decoder.decode(part), decoder.isComplete, isJSON(bytes[...], isCut: false) else {
        return nil
      }
      document += Array((document.isEmpty ? "{\"\(name)\":" : ",\"\(name)\":").utf8) + bytes
    }
    var decoder = Base64.Decoder()
    guard decoder.decode(parts[2]) != nil else { return nil }
    return document + Array(",\"signature\":\"".utf8) + parts[2].filter { !Self.isSpace($0) }
      + Array("\"}".utf8)
  }
}
