import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotStore

/// A version of the IETF draft (draft-ietf-httpbis-resumable-upload), identified by `Upload-Draft-Interop-Version`. It
/// contains everything that differs between versions. Add a new version to ``all``.
package struct DraftDialect: Sendable, Hashable {
  /// The interop version number.
  package let number: Int
  /// The numbers of the drafts with this version.
  let draft: String
  /// The field that states whether a request completes the upload.
  let field: Field
  /// Whether an append without that field is valid, and doesn't complete the upload. Draft 01 (§5) treats it as the
  /// last one. This server doesn't: an upload published too early is lost, but one that stays open is not.
  let mayOmitField: Bool
  /// Whether an append must have the media type `application/partial-upload`.
  let needsMediaType: Bool
  /// The status of the response to an append that doesn't complete the upload.
  let appended: HTTPResponse.Status

  enum Field: Sendable, Hashable {
    case complete
    /// The negation of ``complete``.
    case incomplete
  }

  package static let all = [
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

  /// The version used for clients that send none. They will all do so once the draft is a standard.
  static let newest = DraftDialect(
    number: 8, draft: "09 to 11", field: .complete, mayOmitField: false, needsMediaType: true,
    appended: .noContent)

  /// The media type of an upload's bytes.
  static let mediaType = "application/partial-upload"

  /// The dialect stored in the terms of uploads of this version.
  var name: String { Self.prefix + "\(number)" }
  private static let prefix = "draft-"

  /// Returns the version with the dialect `name`, or `nil` if it is that of another protocol. Returns the newest
  /// version for one that is no longer known.
  static func named(_ name: String) -> DraftDialect? {
    guard name.hasPrefix(prefix) else { return nil }
    return all.first { $0.name == name } ?? newest
  }

  /// Returns whether a request with `fields` completes its upload, or `nil` if it doesn't specify it.
  func completes(_ fields: HTTPFields) -> Bool? {
    switch field {
    case .complete: StructuredItem.boolean(fields[.uploadComplete])
    case .incomplete: StructuredItem.boolean(fields[.uploadIncomplete]).map { !$0 }
    }
  }

  /// Returns whether an append with `fields` completes its upload, or `nil` if it lacks a required field.
  func completesAppend(_ fields: HTTPFields) -> Bool? {
    completes(fields) ?? (mayOmitField ? false : nil)
  }

  /// Throws if a `HEAD` or `DELETE` request has fields about bytes. Drafts 01 to 05 require this check; later ones
  /// ignore the fields.
  func requireNoUploadFields(_ fields: HTTPFields) throws(HTTPProblem) {
    guard number <= 6 else { return }
    for name in [HTTPField.Name.uploadOffset, .uploadComplete, .uploadIncomplete, .uploadLength]
    where fields.contains(name) {
      throw .badRequest("\(name.rawName) is not allowed in a request without bytes.")
    }
  }

  /// Returns the response fields that state the version and whether the upload is complete.
  func fields(isComplete: Bool) -> HTTPFields {
    switch field {
    case .complete:
      [.uploadDraftInteropVersion: "\(number)", .uploadComplete: StructuredItem.text(isComplete)]
    case .incomplete:
      [.uploadDraftInteropVersion: "\(number)", .uploadIncomplete: StructuredItem.text(!isComplete)]
    }
  }
}

/// The version of the draft that a request specifies.
enum DraftVersion: Sendable, Hashable {
  /// A supported version.
  case supported(DraftDialect)
  /// No version.
  case missing
  /// An unsupported version.
  case unknown

  init(_ fields: HTTPFields) {
    guard let text = fields[.uploadDraftInteropVersion] else {
      self = .missing
      return
    }
    let number = StructuredItem.count(text)
    self = DraftDialect.all.first { Int64($0.number) == number }.map(DraftVersion.supported) ?? .unknown
  }

  /// The version to use for an existing upload: a client that has one understands some version.
  var dialect: DraftDialect { if case .supported(let dialect) = self { dialect } else { .newest } }
}
