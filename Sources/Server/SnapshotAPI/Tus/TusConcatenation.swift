import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotStore

/// The value of `Upload-Concat`: the upload is a part, or is joined from parts.
enum TusConcatenation: Hashable {
  case partial
  case joined([UploadID])

  /// Parses `partial`, or `final;` and the parts' URLs, separated by spaces. Returns `nil` if the field is missing.
  /// - Parameter basePath: the path below which the client sees the server, which the parts' URLs can have.
  init?(_ fields: HTTPFields, below basePath: String = "") throws(HTTPProblem) {
    guard let text = fields[.uploadConcat] else { return nil }
    if text == "partial" {
      self = .partial
      return
    }
    guard text.hasPrefix("final;") else {
      throw HTTPProblem.malformedConcatenation(
        "Upload-Concat must be ‘partial’, or ‘final;’ and the parts’ URLs.")
    }
    var parts: [UploadID] = []
    for url in text.dropFirst("final;".count).split(separator: " ") {
      guard let id = Self.id(url, below: basePath) else {
        throw HTTPProblem.malformedConcatenation(
          "‘\(HTTPProblem.abridged(String(url)))’ is not the URL of a part.")
      }
      parts.append(id)
    }
    self = .joined(parts)
  }

  /// Creates the value for an upload of this kind. Returns `nil` for an upload that is neither a part nor joined from
  /// parts.
  init?(_ kind: UploadTerms.Kind) {
    switch kind {
    case .whole: return nil
    case .partial: self = .partial
    case .joined(_, let parts): self = .joined(parts)
    }
  }

  /// Returns the value in the syntax of the field, with the paths of parts below `basePath`.
  func fieldValue(below basePath: String) -> String {
    switch self {
    case .partial: "partial"
    case .joined(let parts):
      "final;" + parts.map { "\(basePath)\(ResumableUploads.path)/\($0)" }.joined(separator: " ")
    }
  }

  /// Returns the upload that a URL or path names. Ignores the host, because a proxy can make the server available under
  /// other names.
  private static func id(_ url: Substring, below basePath: String) -> UploadID? {
    var path = url
    if let scheme = url.firstRange(of: "://") {
      path = url[scheme.upperBound...].drop { $0 != "/" }
    }
    let beginning = ResumableUploads.path + "/"
    if path.hasPrefix(basePath + beginning) { path = path.dropFirst(basePath.count) }
    return path.hasPrefix(beginning) ? UploadID(String(path.dropFirst(beginning.count))) : nil
  }
}
