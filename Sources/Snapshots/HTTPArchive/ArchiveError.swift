package import JSONText

/// The reason why a file is refused as an HTTP archive.
package enum ArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is not JSON, or ends too early.
  case notJSON(JSONFailure)
  /// It is JSON, but no HTTP archive.
  case notAnArchive(String)
  /// It exceeds a limit.
  case limit(String)

  /// The reason, without a full stop, for a sentence that names the file.
  package var description: String {
    switch self {
    case .notJSON(let failure) where failure.reason == .incomplete:
      "is truncated: \(failure)"
    case .notJSON(let failure) where failure.isDepth: "is no HTTP archive: \(failure)"
    case .notJSON(let failure): "is no HTTP archive (HAR), because it is not JSON: \(failure)"
    case .notAnArchive(let reason): "is no HTTP archive (HAR): \(reason)"
    case .limit(let reason): reason
    }
  }
}
