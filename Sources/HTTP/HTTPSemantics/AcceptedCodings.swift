public import HTTPTypes

/// The content codings that the sender of a request accepts, read from its `Accept-Encoding` (RFC 9110 §12.5.3).
public struct AcceptedCodings: Sendable, Hashable {
  /// The weight of each named coding in thousandths, keyed by its name in lower case. Empty if the field is missing or
  /// malformed.
  private let weights: [String: Int]

  /// Reads the field. A malformed field counts as missing.
  public init(_ fields: HTTPFields) {
    weights = fields[.acceptEncoding].flatMap(Self.weights) ?? [:]
  }

  /// Whether the sender prefers `coding`, in lower case, to unencoded content, or accepts both equally. A sender that
  /// sends no `Accept-Encoding` accepts any coding, but gets none.
  public func prefers(_ coding: String) -> Bool {
    let weight = weight(of: coding) ?? 0
    return weight > 0 && weight >= self.weight(of: "identity") ?? 0
  }

  private func weight(of coding: String) -> Int? { weights[coding] ?? weights["*"] }

  private static func weights(_ text: String) -> [String: Int]? {
    var weights: [String: Int] = [:]
    for element in text.split(separator: ",") {
      var scanner = FieldScanner(element)
      scanner.skipWhitespace()
      // Recipients must ignore empty list elements (RFC 9110 §5.6.1.2).
      if scanner.isAtEnd { continue }
      guard let coding = scanner.token()?.lowercased(), let parameters = scanner.parameters() else {
        return nil
      }
      var weight = 1000
      if let text = parameters["q"] {
        guard let thousandths = thousandths(text) else { return nil }
        weight = thousandths
      }
      weights[coding == "x-gzip" ? "gzip" : coding] = weight
    }
    return weights
  }

  /// Reads a weight such as `0.8` as 800 (RFC 9110 §12.4.2). Returns `nil` if `text` is not a weight.
  private static func thousandths(_ text: String) -> Int? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, first == "0" || first == "1" else { return nil }
    let decimals = parts.count > 1 ? parts[1] : ""
    guard decimals.utf8.count <= 3, decimals.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    let padded = decimals + String(repeating: "0", count: 3 - decimals.utf8.count)
    guard let fraction = Int(padded), first == "0" || fraction == 0 else { return nil }
    return (first == "1" ? 1000 : 0) + fraction
  }
}
