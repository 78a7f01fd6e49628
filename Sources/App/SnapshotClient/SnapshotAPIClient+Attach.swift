public import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes
public import SnapshotFormat
import SystemIO

extension SnapshotAPIClient {
  /// Attaches the bundle at `bundle` to `report`.
  ///
  /// Uploads the bundle with its digest; the server rejects bytes that differ from it. The bundle must not change until
  /// the upload ends. With an `id`, a failed upload is repeated, which is safe: the server accepts the same bytes again.
  /// Without an `id`, the server chooses one, and the upload is repeated only if no connection was made.
  ///
  /// A bundle that meets ``ResumptionPolicy`` is uploaded resumably, with or without an `id`. If the server does not
  /// support that, the bundle is sent in one request.
  /// - Parameters:
  ///   - bundle: a zip file. It is read in chunks.
  ///   - report: the bug report.
  ///   - id: the snapshot's UUID, which the report can contain before the upload ends.
  ///   - end: when the snapshot expires; `nil` leaves that to the server's rules.
  ///   - state: a file for this upload only, in an existing folder. It stores the upload's state until the upload ends:
  ///     a later call with the same bundle, report, `id` and `end`, in this process or another one, sends only the
  ///     remaining bytes. Without it, only this call can resume the upload.
  ///   - progress: called with the progress.
  ///   - restarted: called with the reason when an upload, of this call or an earlier one, is restarted from the first
  ///     byte.
  /// - Returns: the snapshot's record on the server.
  @discardableResult
  public func attach(
    _ bundle: URL, to report: ReportID, as id: SnapshotID?, expires end: SnapshotEnd? = nil,
    state: URL? = nil, progress: ProgressHandler? = nil,
    restarted: (@Sendable (UploadRestart) -> Void)? = nil
  ) async throws(SnapshotClientError) -> SnapshotRecord {
    let policy = configuration.resumption
    let digest = try await disk.run { (isCancelled) throws(SnapshotClientError) -> OutgoingDigest in
      // A stored state has to name the bytes from the start.
      if state == nil, try policy.applies(to: Self.size(of: bundle)) {
        return try .computing(FileDigest.begin(bundle))
      }
      return try .known(FileDigest.compute(bundle, isCancelled: isCancelled))
    }
    let outgoing = OutgoingBundle(
      file: bundle, digest: digest, report: report, id: id, end: end, state: state)
    let record = try await upload(outgoing, UploadListener(progress: progress, restarted: restarted))
    try await forget(state)
    return record
  }

  /// Attaches the bundle at `bundle` to `report` with the user's words beside it. The bundle is not changed: note and
  /// fields become metadata of the server's record only.
  ///
  /// Bundle and words are sent as one form, which is composed in a temporary file. Such an upload can't be resumed or
  /// sent in pieces: if the form is larger than ``ResumptionPolicy/maximumRequestBody``, nothing is sent, and the error
  /// has the code ``SnapshotClientError/Code/invalidRequest``.
  /// - Parameters:
  ///   - bundle: a zip file. It is read in chunks.
  ///   - report: the bug report.
  ///   - id: the snapshot's UUID; `nil` lets the server choose one.
  ///   - end: when the snapshot expires; `nil` leaves that to the server's rules.
  ///   - note: what the user wrote, as plain text of at most 32 KiB in UTF-8.
  ///   - fields: further descriptions by name: at most 31, names of at most 128 bytes, values of at most 16 KiB. The names
  ///     `note`, `snapshot` and `expires` are not permitted.
  ///   - progress: called with the progress.
  /// - Returns: the snapshot's record on the server.
  @discardableResult
  public func attach(
    _ bundle: URL, to report: ReportID, as id: SnapshotID?, expires end: SnapshotEnd? = nil, note: String?,
    fields: [String: String] = [:], progress: ProgressHandler? = nil
  ) async throws(SnapshotClientError) -> SnapshotRecord {
    for name in fields.keys { try Self.check(fieldName: name) }
    var all = fields
    if let note { all["note"] = note }
    let limit = configuration.resumption.maximumRequestBody
    let (digest, form) = try await disk.run { [all] (isCancelled) throws(SnapshotClientError) in
      let digest = try FileDigest.compute(bundle, isCancelled: isCancelled)
      let form = try OutgoingForm(
        bundle, digestField: digest.fieldValue, fields: all,
        limit: limit, isCancelled: isCancelled)
      return (digest, form)
    }
    let outgoing = OutgoingBundle(
      file: bundle, digest: .known(digest), report: report, id: id, end: end, state: nil)
    var request = attachment(outgoing)
    request.headerFields[.contentType] = form.contentType
    let result: Result<TransportResponse, SnapshotClientError>
    do {
      result = .success(try await perform(request, body: .file(form.file), progress: progress))
    } catch {
      result = .failure(error)
    }
    form.remove()
    return try record(in: result.get(), of: outgoing, digest)
  }

  private static func check(fieldName name: String) throws(SnapshotClientError) {
    guard !["note", "snapshot", "expires"].contains(name) else {
      throw SnapshotClientError(.invalidRequest, "a field can't have the name ‘\(name)’")
    }
    let isPlain = name.utf8.allSatisfy {
      $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
    guard isPlain else {
      throw SnapshotClientError(
        .invalidRequest, "the name of a field contains a quotation mark, a backslash or a control character")
    }
  }

  /// The request that attaches `bundle`, without its body and the fields that describe it.
  private func attachment(_ bundle: OutgoingBundle) -> HTTPRequest {
    let snapshots = ["reports", bundle.report.description, "snapshots"]
    var request =
      if let id = bundle.id { address.request(.put, snapshots + [id.description]) } else {
        address.request(.post, snapshots)
      }
    request.headerFields[.snapshotExpires] = bundle.end?.description
    return request
  }

  /// The record in the server's response to `bundle` with `digest`.
  private func record(
    in response: TransportResponse, of bundle: OutgoingBundle, _ digest: ContentDigest
  ) throws(SnapshotClientError) -> SnapshotRecord {
    let record = try decode(SnapshotRecord.self, from: response)
    if let contradiction = bundle.contradiction(of: record, digest) {
      throw SnapshotClientError(.unexpectedAnswer, contradiction, status: response.head.status.code)
    }
    return record
  }

  /// Removes the state file of an upload that has ended.
  private func forget(_ state: URL?) async throws(SnapshotClientError) {
    guard let state else { return }
    try await disk.run { (_) throws(SnapshotClientError) in
      do {
        try Folder.removeIfPresent(state.path)
      } catch {
        // The result of the upload matters more. A later upload checks the state file before it uses it.
      }
    }
  }

  /// Uploads `bundle`. After a success, the caller must remove the state file, if there is one.
  func upload(
    _ bundle: OutgoingBundle, _ listener: UploadListener
  ) async throws(SnapshotClientError) -> SnapshotRecord {
    defer { if case .computing(let digest) = bundle.digest { digest.stop() } }
    var request = attachment(bundle)
    request.headerFields[.contentType] = "application/zip"
    request.headerFields[.reprDigest] = bundle.digest.known?.fieldValue
    let size = try await disk.run { (_) throws(SnapshotClientError) in try Self.size(of: bundle.file) }
    var answer: TransportResponse?
    if configuration.resumption.applies(to: size) {
      answer = try await uploadInPieces(bundle, size: size, opening: request, listener)
    }
    let digest = try await finish(bundle.digest)
    let response: TransportResponse
    if let answer {
      response = answer
    } else {
      request.headerFields[.reprDigest] = digest.fieldValue
      response = try await perform(request, body: .file(bundle.file), progress: listener.progress)
    }
    let record = try decode(SnapshotRecord.self, from: response)
    if let contradiction = bundle.contradiction(of: record, digest) {
      try await forget(bundle.state)
      throw SnapshotClientError(.unexpectedAnswer, contradiction, status: response.head.status.code)
    }
    return record
  }

  /// The value of `digest`, once it is computed.
  func finish(_ digest: OutgoingDigest) async throws(SnapshotClientError) -> ContentDigest {
    switch digest {
    case .known(let known): known
    case .computing(let growing):
      try await disk.run { (isCancelled) throws(SnapshotClientError) in
        try FileDigest.finish(growing, isCancelled: isCancelled)
      }
    }
  }

  private static func size(of file: URL) throws(SnapshotClientError) -> Int64 {
    do {
      return try File(file.resolvingSymlinksInPath().path).size
    } catch {
      throw SnapshotClientError(.file, error.description, cause: error)
    }
  }
}
