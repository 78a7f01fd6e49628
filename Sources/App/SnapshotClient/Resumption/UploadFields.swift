import HTTPSemantics
import HTTPTypes

/// What an answer says of a resumable upload (draft-ietf-httpbis-resumable-upload §4.1). A field that can't be read
/// counts as missing, as the draft has it.
struct UploadFields: Sendable, Hashable {
  /// How many bytes the server has.
  let offset: Int64?
  /// Whether the answer is about an upload that is complete.
  let isComplete: Bool?
  /// The length of all of it.
  let length: Int64?
  /// What the server takes.
  let limits: UploadLimitField?

  /// The version of the draft that is spoken: that of its drafts 09 to 11.
  static let interopVersion = "8"
  /// The type of a piece.
  static let mediaType = "application/partial-upload"

  /// Reads `fields`.
  init(_ fields: HTTPFields) {
    offset = StructuredItem.count(fields[.uploadOffset])
    isComplete = StructuredItem.boolean(fields[.uploadComplete])
    length = StructuredItem.count(fields[.uploadLength])
    limits = fields[.uploadLimit].flatMap(UploadLimitField.init)
  }

  /// Whether whoever answered knows what a resumable upload is.
  var areAny: Bool { offset != nil || isComplete != nil || length != nil || limits != nil }
}
