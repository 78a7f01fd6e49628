public import Foundation
import HTTPSemantics
import HTTPTransport
import HTTPTypes
public import SnapshotFormat

extension SnapshotAPIClient {
  /// Attaches the bundle at `bundle` to `report`.
  ///
  /// The bundle's digest goes along, and the server keeps nothing that differs from it. Under an `id` of the
  /// caller's choice the upload is repeated where it fails, which is safe: the same bytes again are taken as
  /// done. Without one the server chooses, and the upload is repeated only where no connection was made.
  /// - Parameters:
  ///   - bundle: a zip file, read in pieces.
  ///   - id: the snapshot's name, which the report can carry before the upload ends.
  ///   - end: when the server is to let it go by itself; without one its rules alone say so.
  ///   - progress: told how much was sent.
  /// - Returns: what the server knows of the bundle.
  @discardableResult
  public func attach(
    _ bundle: URL, to report: ReportID, as id: SnapshotID?, expires end: SnapshotEnd? = nil,
    progress: ProgressHandler? = nil
  ) async throws(SnapshotClientError) -> SnapshotRecord {
    let digest = try await disk.run { (isCancelled) throws(SnapshotClientError) in
      try FileDigest.compute(bundle, isCancelled: isCancelled)
    }
    return try await upload(bundle, digest: digest, to: report, as: id, expires: end, progress: progress)
  }

  /// Uploads the bundle at `bundle`, whose digest is `digest`.
  func upload(
    _ bundle: URL, digest: ContentDigest, to report: ReportID, as id: SnapshotID?,
    expires end: SnapshotEnd? = nil, progress: ProgressHandler? = nil
  ) async throws(SnapshotClientError) -> SnapshotRecord {
    let snapshots = ["reports", report.description, "snapshots"]
    var request =
      if let id { address.request(.put, snapshots + [id.description]) } else {
        address.request(.post, snapshots)
      }
    request.headerFields[.contentType] = "application/zip"
    request.headerFields[.reprDigest] = DigestField(sha256: digest.bytes).fieldValue
    request.headerFields[.snapshotExpires] = end?.description
    let response = try await perform(request, body: .file(bundle), progress: progress)
    let record = try decode(SnapshotRecord.self, from: response)
    guard record.sha256 == digest, id == nil || record.id == id else {
      throw SnapshotClientError(
        .unexpectedAnswer, "it speaks of another bundle than the one that was sent",
        status: response.head.status.code)
    }
    return record
  }
}
