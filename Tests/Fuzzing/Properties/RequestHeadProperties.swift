import HTTPTypes

@testable import HTTPEngine

extension FuzzedParser {
  /// A head is accepted or refused for every split in the same way. An accepted head has only one meaning, for our
  /// parser and for a simple one.
  func checkRequestHead(_ input: [UInt8]) throws {
    var small = HTTPLimits()
    (small.requestLineBytes, small.headBytes, small.fieldCount) = (48, 160, 4)
    for limits in [HTTPLimits(), small] {
      let whole = parse(input, .whole, limits)
      for splits in [Splits.bytes, .pieces] {
        let outcome = parse(input, splits, limits)
        switch (whole, outcome) {
        // With smaller pieces an error can be detected earlier and have another code.
        case (.refused, .refused): continue
        default: try require(whole == outcome, "\(whole) as a whole, \(outcome) in \(splits)")
        }
      }
      guard case .complete(let head) = whole else { continue }
      try checkHead(head, input, limits)
    }
  }

  private func parse(_ input: [UInt8], _ splits: Splits, _ limits: HTTPLimits) -> RequestParser.Outcome {
    var parser = RequestParser(limits: limits)
    var outcome = RequestParser.Outcome.incomplete
    for end in splits.ends(in: input) where outcome == .incomplete {
      // A separate copy, so that a read past its end is detected.
      outcome = Array(input[..<end]).withUnsafeBytes { parser.parse($0) }
    }
    return outcome
  }

  private func checkHead(_ head: RequestHead, _ input: [UInt8], _ limits: HTTPLimits) throws {
    try require(head.length <= min(input.count, limits.headBytes), "the head has \(head.length) bytes")
    let bytes = Array(input[..<head.length])
    try require(parse(bytes, .whole, limits) == .complete(head), "bytes after the head change it")
    for span in [head.method, head.path, head.authority] + [head.query].compactMap(\.self) {
      try require(
        span.start <= span.end && span.range.upperBound <= head.length, "a part is outside the head: \(span)")
    }
    try checkFraming(of: head, bytes)

    let received = bytes.withUnsafeBytes { ReceivedHead($0, facts: head, number: 1) }
    try require(
      received.method.rawValue.utf8.elementsEqual(bytes[head.method.range]), "the method is another one")
    try require(
      received.path.hasPrefix("/") || received.path == "*" && received.method == .options,
      "the path is \(received.path)")
    let visible = received.path + (received.query ?? "") + received.authority
    try require(visible.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "the target is not in visible ASCII")
    for field in received.headerFields {
      try require(
        field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 },
        "the field \(field.name) holds a control character")
    }
    try require(
      received.headerFields[.transferEncoding] == nil && received.headerFields[.connection] == nil,
      "a handler receives connection-specific fields")
  }

  /// Parses the fields again in the simplest way, and compares the framing.
  private func checkFraming(of head: RequestHead, _ bytes: [UInt8]) throws {
    let lines = bytes.split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }
    try require(
      bytes.count { $0 == 0x0A } == bytes.count { $0 == 0x0D } && !bytes.contains(0),
      "a line does not end in CR LF, or contains a NUL")
    var values: [String: [String]] = [:]
    for line in lines where line.startIndex >= head.fieldsStart && !line.isEmpty {
      let parts = line.split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
      try require(
        parts.count == 2 && parts[0].allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a line is not a field")
      values[String(decoding: parts[0], as: UTF8.self).lowercased(), default: []]
        .append(String(decoding: parts[1], as: UTF8.self).trimmed)
    }
    let lengths = values["content-length", default: []]
    let codings = values["transfer-encoding", default: []]
    switch head.framing {
    case .length(let length):
      try require(codings.isEmpty, "a coding is ignored")
      try require(
        lengths.isEmpty && length == 0
          || lengths.count == 1 && Int64(lengths[0]) == length && length >= 0
            && lengths[0].utf8.allSatisfy { (0x30...0x39).contains($0) },
        "the length is \(length) for the fields \(lengths)")
    case .chunked:
      try require(
        lengths.isEmpty && codings.count == 1 && codings[0].lowercased() == "chunked"
          && head.minorVersion == 1, "chunked for the fields \(lengths) and \(codings)")
    }
    let hosts = values["host", default: []]
    try require(hosts.count == 1 || head.minorVersion == 0 && hosts.isEmpty, "hosts: \(hosts)")
  }
}

extension String {
  /// The text without spaces and tabs at both ends.
  fileprivate var trimmed: String {
    let isBlank = { (character: Unicode.Scalar) in character == " " || character == "\t" }
    let start = unicodeScalars.drop(while: isBlank)
    return String(String.UnicodeScalarView(start.reversed().drop(while: isBlank).reversed()))
  }
}
