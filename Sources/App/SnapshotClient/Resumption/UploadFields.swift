import HTTPSemantics
import HTTPTypes

/// The fields of a response for resumable uploads (draft-ietf-httpbis-resumable-upload §4.1). An invalid field counts
/// as missing, as the draft requires.
struct UploadFields: Sendable, Hashable {
  /// The number of bytes that the server has stored.
  let offset: Int64?
  /// Whether the response concerns a complete upload.
  let isComplete: Bool?
  /// The size of the whole upload in bytes.
  let length: Int64?
  /// The server's limits.
  let limits: UploadLimitField?

  /// The supported version of the draft, which drafts 09 to 11 share.
  static let interopVersion = "8"
  /// The media type of a piece.
  static let mediaType = "application/partial-upload"

  /// Parses `fields`.
  init(_ fields: HTTPFields) {
    offset = StructuredItem.count(fields[.uploadOffset])
    isComplete = StructuredItem.boolean(fields[.uploadComplete])
    length = StructuredItem.count(fields[.uploadLength])
    limits = fields[.uploadLimit].flatMap(UploadLimitField.init)
  }

  /// Whether the responder supports resumable uploads.
  var areAny: Bool { offset != nil || isComplete != nil || length != nil || limits != nil }
}
