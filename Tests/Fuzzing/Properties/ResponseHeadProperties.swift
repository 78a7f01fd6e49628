import HTTPTypes

@testable import HTTPClient

extension FuzzedParser {
  /// The result is a number of informational heads and then at most one final head, within the limit. No field contains
  /// a character that ends a line.
  ///
  /// The lines of `input` are passed one by one, as libcurl does.
  func checkResponseHead(_ input: [UInt8]) throws {
    #if os(Linux)
      var parser = ResponseHeadParser()
      var responses: [HTTPResponse] = []
      var rest = input[...]
      var taken = 0
      do {
        while !rest.isEmpty {
          let line = Array(rest.prefix { $0 != 0x0A }) + (rest.contains(0x0A) ? [0x0A] : [])
          rest = rest.dropFirst(line.count)
          taken += line.count
          if let response = try line.withUnsafeBytes({ try parser.take($0) }) { responses.append(response) }
        }
      } catch is TransportError {
        return
      }
      try require(taken <= TransportLimits.headBytes, "\(taken) bytes are accepted")
      try require(
        responses.dropLast().allSatisfy { $0.status.kind == .informational },
        "the heads are \(responses.map(\.status))")
      for field in responses.flatMap(\.headerFields) {
        // Other control characters can be kept (RFC 9110 §5.5); a client has no better use for them.
        try require(
          field.value.utf8.allSatisfy { $0 != 0x00 && $0 != 0x0A && $0 != 0x0D }
            && !field.name.rawName.isEmpty,
          "\(field.name): \(field.value.debugDescription)")
      }
    #endif
  }
}
