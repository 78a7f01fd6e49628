import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotStore

/// A version of the IETF's draft on resumable uploads (draft-ietf-httpbis-resumable-upload), as clients name them by
/// `Upload-Draft-Interop-Version`: all that differs between them. The next one is one more row of ``all``.
struct DraftDialect: Sendable, Hashable {
  /// The version's number.
  let number: Int
  /// Which draft it is.
  let draft: String
  /// The field that says whether a request completes the upload.
  let field: Field
  /// Whether an append may lack that field: more is to come then. Draft 01 (§5) takes such an append as the last one;
  /// here it is not, since an upload that is published too early is lost, and one that stays open is not.
  let mayOmitField: Bool
  /// Whether an append has to come as `application/partial-upload`.
  let needsMediaType: Bool
  /// The status of an append after which more is to come.
  let appended: HTTPResponse.Status

  enum Field: Sendable, Hashable {
    case complete
    /// The opposite of it.
    case incomplete
  }

  static let all = [
    // iOS 17
    DraftDialect(
      number: 3, draft: "01", field: .incomplete, mayOmitField: true, needsMediaType: false,
      appended: .created),
    // iOS 18.0
    DraftDialect(
      number: 5, draft: "03", field: .complete, mayOmitField: true, needsMediaType: false,
      appended: .created),
    // iOS 18.1 to 18.6
    DraftDialect(
      number: 6, draft: "04 and 05", field: .complete, mayOmitField: true, needsMediaType: true,
      appended: .created),
    DraftDialect(
      number: 7, draft: "06 to 08", field: .complete, mayOmitField: false, needsMediaType: true,
      appended: .noContent),
    // iOS 26
    newest,
  ]

  /// What is spoken with those who say no version, as all will once the draft is a standard.
  static let newest = DraftDialect(
    number: 8, draft: "09 to 11", field: .complete, mayOmitField: false, needsMediaType: true,
    appended: .noContent)

  /// The type of an upload's bytes.
  static let mediaType = "application/partial-upload"

  /// What uploads of this version are called in their terms.
  var name: String { Self.prefix + "\(number)" }
  private static let prefix = "draft-"

  /// The one of these that an upload's terms name; `nil` where they name another protocol. One that is not known any
  /// more is spoken like the newest.
  static func named(_ name: String) -> DraftDialect? {
    guard name.hasPrefix(prefix) else { return nil }
    return all.first { $0.name == name } ?? newest
  }

  /// Whether the request with `fields` completes its upload; `nil` where it doesn't say.
  func completes(_ fields: HTTPFields) -> Bool? {
    switch field {
    case .complete: StructuredItem.boolean(fields[.uploadComplete])
    case .incomplete: StructuredItem.boolean(fields[.uploadIncomplete]).map { !$0 }
    }
  }

  /// Whether an append with `fields` completes its upload; `nil` where it has to say so and doesn't.
  func completesAppend(_ fields: HTTPFields) -> Bool? {
    completes(fields) ?? (mayOmitField ? false : nil)
  }

  /// Refuses `fields` of a request that brings nothing, `HEAD` or `DELETE`, where they say something of bytes: drafts 01
  /// to 05 want that, later ones ignore it.
  func requireNoUploadFields(_ fields: HTTPFields) throws(HTTPProblem) {
    guard number <= 6 else { return }
    for name in [HTTPField.Name.uploadOffset, .uploadComplete, .uploadIncomplete, .uploadLength]
    where fields.contains(name) {
      throw .badRequest("\(name.rawName) has no place in a request without bytes.")
    }
  }

  /// The fields of an answer that say whether the upload is complete, in which version.
  func fields(isComplete: Bool) -> HTTPFields {
    switch field {
    case .complete:
      [.uploadDraftInteropVersion: "\(number)", .uploadComplete: StructuredItem.text(isComplete)]
    case .incomplete:
      [.uploadDraftInteropVersion: "\(number)", .uploadIncomplete: StructuredItem.text(!isComplete)]
    }
  }
}

/// What a request says of the version that it speaks.
enum DraftVersion: Sendable, Hashable {
  /// One of ours.
  case spoken(DraftDialect)
  /// None.
  case unsaid
  /// One that we don't know.
  case unknown

  init(_ fields: HTTPFields) {
    guard let text = fields[.uploadDraftInteropVersion] else {
      self = .unsaid
      return
    }
    let number = StructuredItem.count(text)
    self = DraftDialect.all.first { Int64($0.number) == number }.map(DraftVersion.spoken) ?? .unknown
  }

  /// What to speak with whoever has an upload already, and so must have spoken something.
  var dialect: DraftDialect { if case .spoken(let dialect) = self { dialect } else { .newest } }
}
