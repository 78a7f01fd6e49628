import HTTPSemantics
import HTTPTypes

@testable import HTTPEngine

extension FuzzedParser {
  /// No decoded segment of a path leads to a parent folder or contains a control character. The segments can be
  /// converted back to a path.
  ///
  /// `input` is the target of a request.
  func checkTargets(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    try checkEscapes(text)
    let head = Array("GET ".utf8) + input + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    var parser = RequestParser(limits: HTTPLimits())
    guard case .complete(let facts) = head.withUnsafeBytes({ parser.parse($0) }) else { return }
    let received = head.withUnsafeBytes { ReceivedHead($0, facts: facts, number: 1) }
    try checkPath(received.path)
    if let parameters = try? QueryParameters(received.query) {
      try require(parameters.pairs.count <= QueryParameters.maximumCount, "\(parameters.pairs.count) names")
      let written = parameters.pairs
        .map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }
      let again = try QueryParameters(written.joined(separator: "&"))
      try require(
        again.pairs.elementsEqual(parameters.pairs) { $0 == $1 },
        "\(parameters.pairs) is read as \(again.pairs)")
    }
  }

  private func checkPath(_ path: String) throws {
    guard let segments = try? Router.decodedSegments(of: path) else { return }
    for segment in segments {
      try require(
        segment != "." && segment != ".." && segment.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F },
        "\(path) has the segment \(segment.debugDescription)")
    }
    let written = "/" + segments.map(PercentCoding.encode).joined(separator: "/")
    try require(try Router.decodedSegments(of: written) == segments, "\(path) is written as \(written)")

    var tree = RouteTree()
    for template in ["/", "/a", "/a/{x}", "/a/{x}.zip", "/{x}/b", "/{x}/{y}/c", "/s/{path...}"] {
      tree.insert(Route(.get, template) { _ in HTTPServerResponse(status: .ok) })
    }
    guard let match = tree.match(segments) else { return }
    try require(
      match.remainder.allSatisfy { $0 != "." && $0 != ".." } && match.remainder.count <= segments.count,
      "\(path) gives a route the remainder \(match.remainder)")
    for (_, value) in match.values {
      try require(
        !value.isEmpty && segments.contains { $0.utf8.starts(with: value.utf8) },
        "\(path) gives a route the value \(value.debugDescription)")
    }
  }

  private func checkEscapes(_ text: String) throws {
    let encoded = PercentCoding.encode(text)
    try require(
      encoded.utf8.allSatisfy { CharacterClass.path.contains($0) && $0 != 0x2F || $0 == 0x25 },
      "\(text.debugDescription) is escaped as \(encoded)")
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
      let decoded = try PercentCoding.decode(encoded[...])
      try require(decoded.utf8.elementsEqual(text.utf8), "\(encoded) is read as \(decoded.debugDescription)")
    }
    guard let decoded = try? PercentCoding.decode(text[...]) else { return }
    try require(
      decoded.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && decoded.utf8.count <= text.utf8.count,
      "\(text) is read as \(decoded.debugDescription)")
  }
}
