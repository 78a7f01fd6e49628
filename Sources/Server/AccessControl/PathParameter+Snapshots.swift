package import HTTPEngine
import Observability
package import SnapshotFormat

extension PathParameter where Value == ReportID {
  /// A report's id, with escaped slashes.
  package static var report: PathParameter<ReportID> {
    PathParameter("report") { try ReportID(validating: $0) }
  }
}

extension PathParameter where Value == SnapshotID {
  /// A snapshot's UUID.
  package static var id: PathParameter<SnapshotID> {
    PathParameter("id") { text in
      guard let id = SnapshotID(text) else { throw HTTPProblem.malformedID(text) }
      return id
    }
  }
}

extension HTTPProblem {
  /// 400: the path does not contain a UUID.
  package static func malformedID(_ text: String) -> HTTPProblem {
    HTTPProblem(
      .malformedSnapshotID,
      detail: "‘\(abridged(text))’ is not a UUID: 8-4-4-4-12 hexadecimal digits are expected.")
  }

  /// Returns the first 100 characters of a client's text, followed by `…` if it is longer.
  package static func abridged(_ text: String) -> String { text.count > 100 ? text.prefix(100) + "…" : text }
}
