import HTTPEngine
import SnapshotStore

/// How much one request may bring or ask for; every limit of the API has its name here.
package struct ServiceLimits: Sendable, Hashable {
  /// The most bytes of a bundle.
  package var bundleBytes: Int64 = 2 << 30
  /// The most fields of a form besides the bundle.
  package var metadataFields = 32
  /// The most bytes of such a field's name, in UTF-8.
  package var metadataNameBytes = 128
  /// The most bytes of such a field's value.
  package var metadataValueBytes = 16 << 10
  /// The most bytes of the head of a form's part.
  package var formHeadBytes = 8 << 10
  /// The most records on a page, at most ``PageRequest/maximumLimit``.
  package var pageLength = PageRequest.maximumLimit
  /// How many records are on a page that nobody gave a length.
  package var defaultPageLength = 100
  /// The most bytes of a file out of a bundle that are inflated for whoever doesn't take it as it lies there.
  package var inflatedFileBytes: Int64 = 1 << 30
  /// The most bytes of such a file that ranges are answered of.
  package var rangedFileBytes: Int64 = 64 << 20
  /// The most bytes of such a file that are inflated at once, and held in memory.
  package var inflatedAtOnce: Int64 = 256 << 10

  /// The limits above.
  package init() {}

  /// What a form may hold besides its parts' data: one part for the bundle and one for each field.
  var form: MultipartParser.Limits {
    var form = MultipartParser.Limits()
    form.parts = metadataFields + 1
    form.headBytes = formHeadBytes
    return form
  }

  /// The most bytes of a form that keeps all other limits: no request's body is longer.
  package var formBytes: Int64 {
    let parts = Int64(form.parts) * Int64(form.headBytes + MultipartParser.Limits.boundaryBytes)
    let (sum, overflow) = bundleBytes.addingReportingOverflow(
      parts + Int64(metadataFields * metadataValueBytes + form.paddingBytes))
    return overflow ? .max : sum
  }
}
