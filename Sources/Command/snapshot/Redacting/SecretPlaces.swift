import Redaction
import SnapshotDiff

/// The places in one file or description of a snapshot at which rules found something. Never contains what they found.
struct SecretPlaces: Encodable, Equatable {
  /// The maximum number of places that are listed for one file.
  static let limit = 1000

  /// The identifier of the recording, the name of another file below `attachments/` or `app-data/`, or `manifest.json`.
  let file: String
  /// The number of the call, if a history is kept.
  var call: Int?
  /// JSON paths, line numbers such as `line 3`, header fields, or the offset of the first byte.
  var places: [String]
  /// The number of places, also of those that are not listed.
  var count: Int
  /// Why the file can't be redacted; `nil` if it can be.
  var reason: String?

  /// Finds the places at which `left`, the redacted contents, differs from `original`.
  init(_ file: String, call: Int? = nil, from original: [UInt8], to left: [UInt8], _ redactor: Redactor) {
    (self.file, self.call) = (redactor.redact(identifier: file), call)
    switch RecordingDifference.Detail(original, left, limits: .default, limit: Self.limit) {
    case .json(let changes):
      // A key can be a secret too.
      places = Self.unique(changes.rows.map { redactor.redact(identifier: $0.place.description) })
      count = max(changes.count, 1)
    case .text(let changes):
      places = Self.unique(changes.rows.map { "line \($0.place)" })
      count = changes.count
    case .bytes(let offset): (places, count) = (["byte \(offset)"], 1)
    case .omitted, .beyondLimits: (places, count) = ([], 1)
    }
  }

  /// Describes places that are found without a comparison.
  init(_ file: String, call: Int? = nil, places: [String], reason: String? = nil) {
    (self.file, self.call, self.places, self.reason) = (file, call, places, reason)
    count = places.count
  }

  private static func unique(_ places: [String]) -> [String] {
    var seen: Set<String> = []
    return places.filter { seen.insert($0).inserted }
  }
}

extension SecretPlaces {
  /// A line for the file, and an indented one for each place.
  var lines: [String] {
    let title = Console.escaped(file) + (call.map { ", call \($0)" } ?? "")
    let rest = count - places.count
    return [title + (reason.map { ": left out, because \($0)" } ?? "")]
      + places.map { "  " + Console.escaped($0) } + (rest > 0 ? ["  … and \(rest) more"] : [])
  }
}
