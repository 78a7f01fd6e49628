/// What is wrong with a recording, so that it is seen before anybody reads it.
public enum RecordingProblem: Hashable, Sendable {
  /// There are no bytes, although some are expected.
  case empty
  /// The contents are meant to be JSON, but are not valid at this place. Lines and columns begin at 1; a column is a
  /// Unicode scalar.
  case invalidJSON(line: Int, column: Int)
  /// The JSON ends early, after this number of bytes.
  case cutOff(bytes: Int64)
  /// The contents are a page in HTML that reports an error, with its status if the page names one.
  case errorPage(status: Int?)
  /// The response of the exchange has this status, which is at least 400.
  case status(Int)
  /// The exchange ended with an error, described in a few words.
  case failed(String)
}

extension RecordingProblem {
  /// Chooses the problem that is told: that of the exchange, otherwise that of the contents.
  /// - Parameter mayBeEmpty: whether it is no problem that there are no bytes.
  package init?(
    ofExchange exchange: RecordingProblem?, ofContents contents: RecordingProblem?, mayBeEmpty: Bool
  ) {
    guard let problem = exchange ?? (contents == .empty && mayBeEmpty ? nil : contents) else { return nil }
    self = problem
  }
}

extension RecordingProblem: CustomStringConvertible {
  /// The problem in a few words, such as `invalid JSON, 1:9`.
  public var description: String {
    switch self {
    case .empty: "empty"
    case .invalidJSON(let line, let column): "invalid JSON, \(line):\(column)"
    case .cutOff(let bytes): "cut off after \(bytes) bytes"
    case .errorPage(let status): status.map { "error page, \($0)" } ?? "error page"
    case .status(let status): "status \(status)"
    case .failed(let words): words
    }
  }
}

extension Manifest.Recording {
  /// What its exchange says about it: an error or an error status; `nil` if there is none.
  public var exchangeProblem: RecordingProblem? {
    if let failure = exchange?.failure { return .failed("\(failure)") }
    guard let status = exchange?.response?.status, status >= 400 else { return nil }
    return .status(status)
  }

  /// Whether the recording may have no bytes: the body of a response that has none (RFC 9110, section 6.4.1).
  public var mayBeEmpty: Bool {
    guard let exchange else { return false }
    guard exchange.request.method != "HEAD", let status = exchange.response?.status else { return true }
    return status < 200 || status == 204 || (300..<400).contains(status)
      || exchange.responseField("content-length") == "0"
  }

  /// Whether its contents are meant to be JSON, judging by its identifier and by the response's `Content-Type`.
  public var isMeantAsJSON: Bool {
    if ContentExaminer.isNamedAsJSON(identifier) { return true }
    guard let type = exchange?.responseField("content-type")?.lowercased() else { return false }
    let name = type.prefix { $0 != ";" && $0 != " " }
    return name.hasSuffix("/json") || name.hasSuffix("+json")
  }

  /// Everything known about the recording's problem: that of its exchange, otherwise that of its contents.
  public func problem(with contents: ContentState?) -> RecordingProblem? {
    RecordingProblem(ofExchange: exchangeProblem, ofContents: contents?.problem, mayBeEmpty: mayBeEmpty)
  }
}
