import HTTPSemantics

/// The names and values of a query, decoded, in their order.
public struct QueryParameters: Sendable {
  /// The most names that a query may have.
  public static let maximumCount = 128

  /// Every name with its value; one without `=` has an empty value.
  public let pairs: [(name: String, value: String)]

  /// Reads what follows the `?`; `nil` is a query without names.
  public init(_ query: String?) throws(HTTPProblem) {
    var pairs: [(name: String, value: String)] = []
    for pair in (query ?? "").split(separator: "&") {
      guard pairs.count < Self.maximumCount else {
        throw .badRequest("The query has more than \(Self.maximumCount) names.")
      }
      let equals = pair.firstIndex(of: "=") ?? pair.endIndex
      pairs.append(
        (name: try Self.decode(pair[..<equals]), value: try Self.decode(pair[equals...].dropFirst())))
    }
    self.pairs = pairs
  }

  /// Reads the body of a form, `application/x-www-form-urlencoded`. A tab or line end that was pasted into a field is a
  /// space.
  package init(form body: [UInt8]) throws(HTTPProblem) {
    var text = String(decoding: body, as: UTF8.self)
    for escape in ["%09", "%0A", "%0D", "%0a", "%0d"] { text.replace(escape, with: "+") }
    try self.init(text)
  }

  /// The value of `name`, `nil` where it is not there. A name that is there twice is refused: nobody could say
  /// which one counts.
  public func value(_ name: String) throws(HTTPProblem) -> String? {
    let values = pairs.filter { $0.name == name }
    guard values.count <= 1 else { throw .badRequest("The query has ‘\(name)’ \(values.count) times.") }
    return values.first?.value
  }

  private static func decode(_ text: Substring) throws(HTTPProblem) -> String {
    do throws(PercentCoding.Failure) {
      return try PercentCoding.decode(text, plusIsSpace: true)
    } catch {
      throw .badRequest("The query \(error.words).")
    }
  }
}
