import HTTPEngine
import HTTPTypes

extension FuzzedParser {
  private struct Form: Equatable {
    var parts: [(head: MultipartPart, data: [UInt8])] = []
    var failure: MultipartError?

    static func == (left: Form, right: Form) -> Bool {
      left.failure == right.failure && left.parts.elementsEqual(right.parts) { $0 == $1 }
    }
  }

  /// A form is parsed to the same parts for every split. No part contains the boundary. Parts that are formatted in the
  /// simplest form and parsed again are the same.
  ///
  /// The first line of `input` is the boundary, the rest is the body.
  func checkMultipart(_ input: [UInt8]) throws {
    let lines = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let boundary = String(decoding: lines[0], as: UTF8.self)
    let body = lines.count > 1 ? Array(lines[1]) : []
    var limits = MultipartParser.Limits()
    (limits.parts, limits.headBytes, limits.paddingBytes) = (4, 256, 32)
    guard let whole = parse(body, boundary, .whole, limits) else { return }
    for splits in [Splits.bytes, .pieces] {
      let form = parse(body, boundary, splits, limits)
      try require(form == whole, "\(form as Any) in \(splits), \(whole) as a whole")
    }
    try require(whole.parts.count <= limits.parts, "\(whole.parts.count) parts")
    let delimiter = Array("\r\n--\(boundary)".utf8)
    for part in whole.parts {
      let data = Array("\r\n".utf8) + part.data
      try require(!data.contains(delimiter), "a part contains the boundary")
    }
    guard whole.failure == nil else { return }
    var plain: [UInt8] = []
    for part in whole.parts {
      plain += Array("--\(boundary)\r\n".utf8)
      for field in part.head.headerFields {
        plain += Array("\(field.name.rawName): \(field.value)\r\n".utf8)
      }
      plain += Array("\r\n".utf8) + part.data + Array("\r\n".utf8)
    }
    plain += Array("--\(boundary)--\r\n".utf8)
    limits.headBytes *= 2
    let again = parse(plain, boundary, .pieces, limits)
    try require(again == whole, "\(again as Any) once it is written again, \(whole) before")
  }

  /// Parses a body; `nil` if the boundary is invalid.
  private func parse(
    _ body: [UInt8], _ boundary: String, _ splits: Splits, _ limits: MultipartParser.Limits
  ) -> Form? {
    guard var parser = try? MultipartParser(boundary: boundary, limits: limits) else { return nil }
    var form = Form()
    var isOpen = false
    do {
      for piece in splits.pieces(of: body).map(Array.init) {
        var position = 0
        while true {
          let event = try piece.withUnsafeBytes { try parser.next(in: $0, at: &position) }
          guard let event else { break }
          switch event {
          case .part(let head):
            form.parts.append((head, []))
            isOpen = true
          case .input(let range):
            guard isOpen, !range.isEmpty else { return nil }
            form.parts[form.parts.count - 1].data += piece[range]
          case .heldBack(let bytes):
            guard isOpen, !bytes.isEmpty else { return nil }
            form.parts[form.parts.count - 1].data += bytes
          case .endOfPart: isOpen = false
          }
        }
        guard position == piece.count else { return nil }
      }
      try parser.finish()
    } catch let error as MultipartError {
      form.failure = error
    } catch {
      return nil
    }
    return form
  }
}
