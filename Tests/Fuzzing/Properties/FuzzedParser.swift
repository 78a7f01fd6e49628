/// A parser that reads what strangers send, and what must hold of it whatever that is.
///
/// One place for both who try inputs: libFuzzer, which makes them up, and the tests, which replay those that are kept.
enum FuzzedParser: String, CaseIterable, Sendable {
  case chunkedBody = "chunked-body"
  case comparison
  case conditions
  case dates
  case digests
  case dispositions
  case forwarded
  case json
  case manifest
  case multipart
  case names
  case ranges
  case requestHead = "request-head"
  case responseHead = "response-head"
  case targets
  case zipDirectory = "zip-directory"

  /// Gives `input` to the parser; throws a ``BrokenProperty`` where something does not hold.
  func check(_ input: [UInt8]) throws {
    switch self {
    case .chunkedBody: try checkChunkedBody(input)
    case .comparison: try checkComparison(input)
    case .conditions: try checkConditions(input)
    case .dates: try checkDates(input)
    case .digests: try checkDigests(input)
    case .dispositions: try checkDispositions(input)
    case .forwarded: try checkForwarded(input)
    case .json: try checkJSON(input)
    case .manifest: try checkManifest(input)
    case .multipart: try checkMultipart(input)
    case .names: try checkNames(input)
    case .ranges: try checkRanges(input)
    case .requestHead: try checkRequestHead(input)
    case .responseHead: try checkResponseHead(input)
    case .targets: try checkTargets(input)
    case .zipDirectory: try checkZipDirectory(input)
    }
  }
}

/// Something that must hold and does not.
struct BrokenProperty: Error, CustomStringConvertible {
  let description: String
}

/// Throws what is broken unless `holds`.
func require(_ holds: Bool, _ broken: @autoclosure () -> String) throws(BrokenProperty) {
  guard holds else { throw BrokenProperty(description: broken()) }
}
