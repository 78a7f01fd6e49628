import ZipArchive

/// What happens to binary data whose format is not known, so that it can't be searched for names.
public enum UnknownBinaries: Sendable, Hashable {
  /// It is not kept.
  case drop
  /// It is kept. What the rules for text find in it is replaced by as many `*`.
  case keep
}

extension SecretSearch {
  /// The maximum number of bytes of a compressed body after decompression.
  static let inflatedLimit = 64 << 20

  /// Returns a body without secrets, in the same format. A compressed one is compressed again if it has changed.
  func cleaned(_ bytes: [UInt8], _ depth: Int = 0) throws(RedactionLimit) -> [UInt8] {
    guard depth <= Self.depthLimit else { throw .tooDeep }
    if let parts = MultipartFormat.parts(of: bytes) { return try cleaned(bytes, parts, depth) }
    switch Contents(bytes) {
    case .text: return try cleanedText(bytes, depth)
    case .media: return bytes
    case .propertyList:
      guard let list = PropertyListFormat(bytes) else { return try cleanedBinary(bytes) }
      return try list.cleaned(self, depth)
    case .compressed: return try cleanedCompressed(bytes, depth)
    case .binary:
      // The coding `deflate` is sent without a header by some servers.
      if case .bytes(let inner) = CompressedBody.inflate(bytes, isRaw: true, limit: Self.inflatedLimit),
        !inner.isEmpty, case .text = Contents(inner)
      {
        let left = try cleaned(inner, depth + 1)
        return left == inner ? bytes : try Self.compressed(left, as: .raw)
      }
      return try cleanedBinary(bytes)
    }
  }

  /// Returns the contents of a value without secrets; `nil` if they are neither text nor of a known format.
  func cleanedContents(_ bytes: [UInt8], _ depth: Int) throws(RedactionLimit) -> [UInt8]? {
    switch Contents(bytes) {
    case .text, .propertyList, .compressed:
      do {
        return try cleaned(bytes, depth)
      } catch {
        if error == .unknownBinary { return nil }
        throw error
      }
    case .media, .binary: return nil
    }
  }

  private func cleanedText(_ bytes: [UInt8], _ depth: Int) throws(RedactionLimit) -> [UInt8] {
    var text = TextEncoding(bytes)
    let findings = try document(text.bytes, depth)
    let edits: [Edit]
    if let findings {
      edits = try self.edits(findings, in: text.bytes, depth).merged()
    } else {
      edits = judge.readsText ? try TextFormat.edits(in: text.bytes, self, depth).merged() : []
    }
    if !edits.isEmpty { text.bytes = edits.applied(to: text.bytes) }
    // Regular expressions also apply to a document as a whole.
    let matches = findings != nil ? judge.expressionMatches(in: text.bytes) : []
    if !matches.isEmpty {
      let source = text.bytes
      text.bytes = matches.map { Edit(range: $0, bytes: judge.placeholders.text(source[$0])) }.applied(
        to: source)
    }
    return edits.isEmpty && matches.isEmpty ? bytes : text.data
  }

  private func cleaned(
    _ bytes: [UInt8], _ parts: [MultipartFormat.Part], _ depth: Int
  ) throws(RedactionLimit) -> [UInt8] {
    var edits: [Edit] = []
    for part in parts {
      let head = try self.edits(in: Array(bytes[part.head]), depth + 1)
      edits += head.map { edit in
        let start = part.head.lowerBound + edit.range.lowerBound
        return Edit(range: start..<start + edit.range.count, bytes: edit.bytes)
      }
      if judge.verdict(part.name).isSecret {
        edits.append(Edit(range: part.body, bytes: judge.placeholders.text(bytes[part.body])))
      } else if !part.body.isEmpty {
        let body = Array(bytes[part.body])
        let left = try cleaned(body, depth + 1)
        if left != body { edits.append(Edit(range: part.body, bytes: left)) }
      }
    }
    return edits.merged().applied(to: bytes)
  }

  private func cleanedCompressed(_ bytes: [UInt8], _ depth: Int) throws(RedactionLimit) -> [UInt8] {
    switch CompressedBody.inflate(bytes, limit: Self.inflatedLimit) {
    case .bytes(let inner):
      let left = try cleaned(inner, depth + 1)
      return left == inner ? bytes : try Self.compressed(left, as: bytes[0] == 0x1F ? .gzip : .zlib)
    case .tooLarge: throw .tooLarge(Self.inflatedLimit)
    case .invalid: return try cleanedBinary(bytes)
    }
  }

  /// Compresses `bytes` again, so that the app can read them as before while replaying.
  private static func compressed(
    _ bytes: [UInt8], as format: CompressedBody.Format
  ) throws(RedactionLimit) -> [UInt8] {
    do throws(ZipError) { return try CompressedBody.deflate(bytes, as: format) } catch { throw .outOfMemory }
  }

  private func cleanedBinary(_ bytes: [UInt8]) throws(RedactionLimit) -> [UInt8] {
    guard unknownBinaries == .keep else { throw .unknownBinary }
    var text = TextEncoding(bytes)
    let matches = judge.matches(in: text.bytes)
    guard !matches.isEmpty else { return bytes }
    text.bytes = matches.map { Edit(range: $0, bytes: text.mark(for: text.bytes[$0])) }.applied(
      to: text.bytes)
    return text.data
  }
}
