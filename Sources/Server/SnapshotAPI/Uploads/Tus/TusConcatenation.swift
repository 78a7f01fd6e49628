import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotStore

/// What `Upload-Concat` says: that an upload is a part, or which parts it is joined from.
enum TusConcatenation: Hashable {
  case partial
  case joined([UploadID])

  /// Reads `partial`, or `final;` and the URLs of parts, parted by spaces; `nil` where the field is missing.
  init?(_ fields: HTTPFields) throws(HTTPProblem) {
    guard let text = fields[.uploadConcat] else { return nil }
    if text == "partial" {
      self = .partial
      return
    }
    guard text.hasPrefix("final;") else {
      throw HTTPProblem.malformedConcatenation(
        "Upload-Concat is ‘partial’, or ‘final;’ and the parts’ URLs.")
    }
    var parts: [UploadID] = []
    for url in text.dropFirst("final;".count).split(separator: " ") {
      guard let id = Self.id(url) else {
        throw HTTPProblem.malformedConcatenation(
          "‘\(HTTPProblem.abridged(String(url)))’ is not the URL of a part.")
      }
      parts.append(id)
    }
    self = .joined(parts)
  }

  /// What an upload of this kind is told to be; `nil` for one of its own.
  init?(_ kind: UploadTerms.Kind) {
    switch kind {
    case .whole: return nil
    case .partial: self = .partial
    case .joined(_, let parts): self = .joined(parts)
    }
  }

  /// What is read above.
  var fieldValue: String {
    switch self {
    case .partial: "partial"
    case .joined(let parts): "final;" + parts.map { "\(ResumableUploads.path)/\($0)" }.joined(separator: " ")
    }
  }

  /// The upload that a URL names, be it whole or only its path: which host it is at is not looked at, for proxies know
  /// this server by other names.
  private static func id(_ url: Substring) -> UploadID? {
    var path = url
    if let scheme = url.firstRange(of: "://") {
      path = url[scheme.upperBound...].drop { $0 != "/" }
    }
    let beginning = ResumableUploads.path + "/"
    return path.hasPrefix(beginning) ? UploadID(String(path.dropFirst(beginning.count))) : nil
  }
}
