/// A parser of untrusted input, with the properties that must hold for every input.
///
/// Used by libFuzzer, which generates inputs, and by the tests, which replay the stored ones.
enum FuzzedParser: String, CaseIterable, Sendable {
  case archive
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
  case propertyList = "property-list"
  case proxyHeader = "proxy-header"
  case ranges
  case redaction
  case requestHead = "request-head"
  case responseHead = "response-head"
  case sealedFile = "sealed-file"
  case targets
  case zipDirectory = "zip-directory"

  /// Parses `input`; throws a ``BrokenProperty`` if a property does not hold.
  func check(_ input: [UInt8]) throws {
    switch self {
    case .archive: try checkArchive(input)
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
    case .propertyList: try checkPropertyList(input)
    case .proxyHeader: try checkProxyHeader(input)
    case .ranges: try checkRanges(input)
    case .redaction: try checkRedaction(input)
    case .requestHead: try checkRequestHead(input)
    case .responseHead: try checkResponseHead(input)
    case .sealedFile: try checkSealedFile(input)
    case .targets: try checkTargets(input)
    case .zipDirectory: try checkZipDirectory(input)
    }
  }
}

/// A property that does not hold.
struct BrokenProperty: Error, CustomStringConvertible {
  let description: String
}

/// Throws `broken` unless `holds`.
func require(_ holds: Bool, _ broken: @autoclosure () -> String) throws(BrokenProperty) {
  guard holds else { throw BrokenProperty(description: broken()) }
}
