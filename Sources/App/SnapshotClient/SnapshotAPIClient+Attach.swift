public import Foundation
import HTTPSemantics
import HTTPTransport
import HTTPTypes
public import SnapshotFormat
import SystemIO

extension SnapshotAPIClient {
  /// Attaches the bundle at `bundle` to `report`.
  ///
  /// The bundle's digest goes along, and the server keeps nothing that differs from it. Under an `id` of the
  /// caller's choice the upload is repeated where it fails, which is safe: the same bytes again are taken as
  /// done. Without one the server chooses, and the upload is repeated only where no connection was made.
  ///
  /// A bundle that is large enough for ``ResumptionPolicy`` is gone on with where it broke, with or without an `id`;
  /// where the server does not offer that, it goes out as any other.
  /// - Parameters:
  ///   - bundle: a zip file, read in pieces.
  ///   - id: the snapshot's name, which the report can carry before the upload ends.
  ///   - end: when the server is to let it go by itself; without one its rules alone say so.
  ///   - state: a file of this upload's own, where what is needed to go on with it is kept as long as it is under way: a
  ///     later call with the same bundle, report, `id` and `end`, in this process or another, sends only the rest. Its
  ///     folder is there. Without it only this call itself goes on.
  ///   - progress: told how far it is.
  ///   - restarted: told why an upload that was begun, by this call or an earlier one, is sent again from its first byte.
  /// - Returns: what the server knows of the bundle.
  @discardableResult
  public func attach(
    _ bundle: URL, to report: ReportID, as id: SnapshotID?, expires end: SnapshotEnd? = nil,
    state: URL? = nil, progress: ProgressHandler? = nil,
    restarted: (@Sendable (UploadRestart) -> Void)? = nil
  ) async throws(SnapshotClientError) -> SnapshotRecord {
    let digest = try await disk.run { (isCancelled) throws(SnapshotClientError) in
      try FileDigest.compute(bundle, isCancelled: isCancelled)
    }
    let outgoing = OutgoingBundle(
      file: bundle, digest: digest, report: report, id: id, end: end, state: state)
    let record = try await upload(outgoing, UploadListener(progress: progress, restarted: restarted))
    try await forget(state)
    return record
  }

  /// Removes the state file of an upload: what is left would lead a later call to the same answer.
  private func forget(_ state: URL?) async throws(SnapshotClientError) {
    guard let state else { return }
    try await disk.run { (_) throws(SnapshotClientError) in
      do {
        try Folder.removeIfPresent(state.path)
      } catch {
        // The upload's own outcome is what the caller has to know; a later upload checks the state that is left.
      }
    }
  }

  /// Uploads `bundle`. Its state file, where it has one, is left to the caller after a success.
  func upload(
    _ bundle: OutgoingBundle, _ listener: UploadListener
  ) async throws(SnapshotClientError) -> SnapshotRecord {
    let snapshots = ["reports", bundle.report.description, "snapshots"]
    var request =
      if let id = bundle.id { address.request(.put, snapshots + [id.description]) } else {
        address.request(.post, snapshots)
      }
    request.headerFields[.contentType] = "application/zip"
    request.headerFields[.reprDigest] = DigestField(sha256: bundle.digest.bytes).fieldValue
    request.headerFields[.snapshotExpires] = bundle.end?.description
    let size = try await disk.run { (_) throws(SnapshotClientError) in
      do throws(SystemError) {
        return try File(bundle.file.resolvingSymlinksInPath().path).size
      } catch {
        throw SnapshotClientError(.file, error.description, cause: error)
      }
    }
    var answer: TransportResponse?
    if configuration.resumption.applies(to: size) {
      answer = try await uploadInPieces(bundle, size: size, opening: request, listener)
    }
    let response =
      if let answer { answer } else {
        try await perform(request, body: .file(bundle.file), progress: listener.progress)
      }
    let record = try decode(SnapshotRecord.self, from: response)
    if let contradiction = bundle.contradiction(of: record) {
      try await forget(bundle.state)
      throw SnapshotClientError(.unexpectedAnswer, contradiction, status: response.head.status.code)
    }
    return record
  }
}
