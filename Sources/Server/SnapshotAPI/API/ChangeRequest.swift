import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore

/// A change of a record: a JSON merge patch (RFC 7396) of the keys `pinned`, `good` and
/// `expiresAt`.
///
///     {"pinned": true}
///     {"expiresAt": "30d"}    a time in RFC 3339, a duration from now, or null (or "never") for no expiry
struct ChangeRequest {
  /// The maximum length of the document in bytes.
  static let maximumLength: Int64 = 4096
  static let mediaType = "application/merge-patch+json"

  let change: RecordChange

  /// Reads the body of `request`, which is sent at `now`.
  init(_ request: HTTPServerRequest, now: Date) async throws {
    let type = request.headerFields[.contentType]
    guard let essence = type.flatMap(MediaType.init)?.essence,
      [Self.mediaType, "application/json"].contains(essence)
    else { throw HTTPProblem.unsupportedPatch(type) }
    let bytes = try await request.body.collect(upTo: Self.maximumLength)
    let keys: [String: JSONValue]
    do {
      keys = try SnapshotJSON.decode([String: JSONValue].self, from: Data(bytes))
    } catch {
      throw HTTPProblem.malformedChange("The body is not one JSON object.")
    }
    var change = RecordChange()
    for (key, value) in keys {
      switch (key, value) {
      case ("pinned", .boolean(let isPinned)): change.isPinned = isPinned
      case ("pinned", .null): change.isPinned = false
      case ("pinned", _): throw HTTPProblem.malformedChange("‘pinned’ is true or false.")
      case ("good", .boolean(let isGood)): change.isGood = isGood
      case ("good", .null): change.isGood = false
      case ("good", _): throw HTTPProblem.malformedChange("‘good’ is true or false.")
      case ("expiresAt", .null): change.end = .never
      case ("expiresAt", .string(let text)):
        guard let end = SnapshotEnd(text) else {
          throw HTTPProblem.malformedEnd("expiresAt", text, .unprocessableContent)
        }
        change.end = end.time(from: now).map(RecordChange.End.at) ?? .never
      case ("expiresAt", _):
        throw HTTPProblem.malformedChange("‘expiresAt’ is a text or null.")
      default:
        throw HTTPProblem.malformedChange("Only ‘pinned’, ‘good’ and ‘expiresAt’ of a record can be changed.")
      }
    }
    self.change = change
  }
}
