import HTTPSemantics

/// The decoded names and values of a query, in order.
public struct QueryParameters: Sendable {
  /// The maximum number of names in a query.
  public static let maximumCount = 128

  /// All names with their values. A name without `=` has an empty value.
  public let pairs: [(name: String, value: String)]

  /// Creates parameters from decoded names and values.
  package init(_ pairs: [(name: String, value: String)]) { self.pairs = pairs }

  /// Parses the text after the `?`. `nil` is a query without names.
  public init(_ query: String?) throws(HTTPProblem) {
    guard let query else {
      pairs = []
      return
    }
    var pairs: [(name: String, value: String)] = []
    for pair in query.split(separator: "&") {
      guard pairs.count < Self.maximumCount else {
        throw .badRequest("The query has more than \(Self.maximumCount) names.")
      }
      let equals = pair.firstIndex(of: "=") ?? pair.endIndex
      pairs.append(
        (name: try Self.decode(pair[..<equals]), value: try Self.decode(pair[equals...].dropFirst())))
    }
    self.pairs = pairs
  }

  /// Parses the body of a form, `application/x-www-form-urlencoded`. Tabs and line ends pasted into a field become
  /// spaces.
  package init(form body: [UInt8]) throws(HTTPProblem) {
    var text = String(decoding: body, as: UTF8.self)
    for escape in ["%09", "%0A", "%0D", "%0a", "%0d"] { text.replace(escape, with: "+") }
    try self.init(text)
  }

  /// Returns the value of `name`, or `nil` if it is missing. Throws if the name occurs more than once, because the
  /// meaning would be ambiguous.
  public func value(_ name: String) throws(HTTPProblem) -> String? {
    guard !pairs.isEmpty else { return nil }
    let values = pairs.filter { $0.name == name }
    guard values.count <= 1 else { throw .badRequest("The query has ‘\(name)’ \(values.count) times.") }
    return values.first?.value
  }

  private static func decode(_ text: Substring) throws(HTTPProblem) -> String {
    do {
      return try PercentCoding.decode(text, plusIsSpace: true)
    } catch {
      throw .badRequest("The query \(error.words).")
    }
  }
}
