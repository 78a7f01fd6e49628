import HTTPEngine
package import SnapshotFormat
import SnapshotStore

/// The limits on single requests to the API.
package struct ServiceLimits: Sendable, Hashable {
  /// The maximum size of a bundle, in bytes.
  package var bundleBytes = UploadLimits().length
  /// The maximum number of fields in a form besides the bundle.
  package var metadataFields = 32
  /// The maximum length of a field's name, in bytes of UTF-8.
  package var metadataNameBytes = 128
  /// The maximum length of a field's value, in bytes.
  package var metadataValueBytes = 16 << 10
  /// The maximum length of the field `note`, the user's words, in bytes.
  package var noteBytes = 32 << 10
  /// The maximum length of the head of a form's part, in bytes.
  package var formHeadBytes = 8 << 10
  /// The maximum number of records on a page. At most ``PageRequest/maximumLimit``.
  package var pageLength = PageRequest.maximumLimit
  /// The number of records on a page if the request does not specify it.
  package var defaultPageLength = 100
  /// The maximum size of a file that is inflated for clients that don't accept gzip, in bytes.
  package var inflatedFileBytes: Int64 = 1 << 30
  /// The maximum size of an inflated file of which ranges are sent, in bytes.
  package var rangedFileBytes: Int64 = 64 << 20
  /// The maximum size of a file that is inflated completely in memory, in bytes.
  package var inflatedAtOnce: Int64 = 256 << 10

  /// The maximum number of files of a folder that is sent as an archive.
  package var archivedFiles = 5000
  /// The maximum total length of their names, in bytes. The headers of the archive are in memory while it is sent.
  package var archivedNameBytes = 512 << 10
  /// The limits of comments.
  package var comments = SnapshotComment.Limits.default

  /// Creates limits with the default values.
  package init() {}

  /// The limits of a form's structure: one part for the bundle and one for each field.
  var form: MultipartParser.Limits {
    var form = MultipartParser.Limits()
    form.parts = metadataFields + 1
    form.headBytes = formHeadBytes
    return form
  }

  /// The maximum length of a form within all other limits, in bytes. No request's body can be longer.
  package var formBytes: Int64 {
    let parts = Int64(form.parts) * Int64(form.headBytes + MultipartParser.Limits.boundaryBytes)
    let (sum, overflow) = bundleBytes.addingReportingOverflow(
      parts + Int64(metadataFields * metadataValueBytes + noteBytes + form.paddingBytes))
    return overflow ? .max : sum
  }
}
