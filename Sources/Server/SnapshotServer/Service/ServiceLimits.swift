import HTTPEngine
import SnapshotStore

/// How much one request may bring or ask for; every limit of the API has its name here.
public struct ServiceLimits: Sendable, Hashable {
  /// The most bytes of a bundle.
  public var bundleBytes: Int64 = 2 << 30
  /// The most fields of a form besides the bundle.
  public var metadataFields = 32
  /// The most bytes of such a field's name, in UTF-8.
  public var metadataNameBytes = 128
  /// The most bytes of such a field's value.
  public var metadataValueBytes = 16 << 10
  /// The most bytes of the head of a form's part.
  public var formHeadBytes = 8 << 10
  /// The most records on a page, at most ``PageRequest/maximumLimit``.
  public var pageLength = PageRequest.maximumLimit
  /// How many records are on a page that nobody gave a length.
  public var defaultPageLength = 100
  /// The most bytes of a file out of a bundle that are inflated for whoever doesn't take it as it lies there.
  public var inflatedFileBytes: Int64 = 1 << 30
  /// The most bytes of such a file that ranges are answered of.
  public var rangedFileBytes: Int64 = 64 << 20
  /// The most bytes of such a file that are inflated at once, and held in memory.
  public var inflatedAtOnce: Int64 = 256 << 10

  /// The limits above.
  public init() {}

  /// What a form may hold besides its parts' data: one part for the bundle and one for each field.
  var form: MultipartParser.Limits {
    var form = MultipartParser.Limits()
    form.parts = metadataFields + 1
    form.headBytes = formHeadBytes
    return form
  }

  /// The most bytes of a form that keeps all other limits: no request's body is longer.
  public var formBytes: Int64 {
    let parts = Int64(form.parts) * Int64(form.headBytes + MultipartParser.Limits.boundaryBytes)
    let (sum, overflow) = bundleBytes.addingReportingOverflow(
      parts + Int64(metadataFields * metadataValueBytes + form.paddingBytes))
    return overflow ? .max : sum
  }
}
