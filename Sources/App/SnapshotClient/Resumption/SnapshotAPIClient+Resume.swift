import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes
import SnapshotFormat

extension SnapshotAPIClient {
  /// Uploads `bundle`, which has `size` bytes, in pieces; resumes the upload described by its state file, if there is
  /// one. The file is kept after a success, so that the response can be requested again until the caller has stored it.
  /// - Parameter opening: the request that would attach the bundle, without its body.
  /// - Returns: the server's response; `nil` if the bundle must be sent in one request instead.
  func uploadInPieces(
    _ bundle: OutgoingBundle, size: Int64, opening: HTTPRequest, _ listener: UploadListener
  ) async throws(SnapshotClientError) -> TransportResponse? {
    var memory: UploadMemory?
    if let state = bundle.state, let digest = bundle.digest.known {
      memory = UploadMemory(
        state, of: address.description, digest, limit: configuration.limits.resumptionBytes)
    }
    let location = try await disk.run { [memory] (_) throws(SnapshotClientError) in
      memory?.location(of: bundle, size: size)
    }
    var upload = PiecewiseUpload(size: size, location: location, policy: configuration.resumption)
    var remembered = location
    var retries = makeRetries()
    var former = bundle.underWay?.step(of: location, size: size)
    let tell = { @Sendable (kept: Int64) in
      listener.kept?(kept)
      listener.progress?(TransportProgress(completed: kept, total: size))
    }
    while true {
      let (step, before, start) = (former ?? upload.next, upload, ContinuousClock.now)
      former = nil
      var request = request(for: step, of: size, opening: opening)
      if step.completes(size), bundle.digest.known == nil {
        request.headerFields[.reprDigest] = try await finish(bundle.digest).fieldValue
      }
      let answer = await send(request, body: body(of: step, in: bundle)) { event in
        guard case .append(_, let range) = step else { return }
        switch event {
        case .informational(let head):
          guard let offset = UploadFields(head.headerFields).offset,
            range.lowerBound <= offset, offset <= range.upperBound
          else { return }
          tell(offset)
        // Its pieces can be so large that what the server has stored is no use as progress.
        case .progress(let sent) where configuration.resumption.pieceBytes != nil:
          listener.progress?(TransportProgress(completed: range.lowerBound + sent.completed, total: size))
        case .response, .progress: break
        }
      }
      let (verdict, error): (PiecewiseUpload.Verdict, SnapshotClientError)
      switch answer {
      case .success(let response):
        let elapsed = ContinuousClock.now - start
        let isForeign = response.head.status.kind != .successful && ForeignAnswer(failure: response) != nil
        verdict = upload.take(response.head, isForeign: isForeign, to: step, after: elapsed / .seconds(1)) {
          address.target(of: $0, from: request, limit: configuration.limits.uploadAddressBytes)
        }
        if verdict == .end, response.head.status.kind == .successful {
          tell(size)
          return response
        }
        error = failure(response, hint: Self.hint(at: response, to: step))
      case .failure(let failure):
        upload.broke(step)
        guard configuration.retries.allowsRepeating(.put, after: failure) else {
          throw SnapshotClientError(failure)
        }
        (verdict, error) = (.pause, SnapshotClientError(failure))
      }
      // The address is stored before any bytes are sent to it.
      let place = verdict == .end || verdict == .notOffered ? nil : upload.location
      if place != remembered, let memory {
        try await disk.run { (_) throws(SnapshotClientError) in
          if let place { memory.remember(place, of: bundle, size: size) } else { memory.forget() }
        }
      }
      remembered = place
      if upload.restarts.count > before.restarts.count, let reason = upload.restarts.last {
        listener.restarted?(reason)
      }
      switch verdict {
      case .goOn: if upload.location != nil { tell(upload.kept) }
      case .pause:
        do {
          try await retries.pause(after: error, if: true)
        } catch {
          // The way to the server may be free for another kind of request.
          guard error.isForeign, error.retryAfter == nil, !upload.mayHaveBytes else { throw error }
          return nil
        }
      case .end, .refused: throw error
      case .notOffered, .blocked: return nil
      }
      if upload.furthest > before.furthest { retries.startOver() }
    }
  }

  /// A hint for a piece that a proxy answered instead of the server.
  private static func hint(at response: TransportResponse, to step: PiecewiseUpload.Step) -> String? {
    guard case .append = step, [502, 503, 504].contains(response.head.status.code) else { return nil }
    return "if this persists, `interimAnswers: false` in the server's settings can help"
  }

  private func request(for step: PiecewiseUpload.Step, of size: Int64, opening: HTTPRequest) -> HTTPRequest {
    var request: HTTPRequest
    switch step {
    case .create:
      request = opening
      request.headerFields[.uploadComplete] = StructuredItem.text(false)
      request.headerFields[.uploadLength] = "\(size)"
    case .ask(let target):
      request = address.request(.head, target: target)
    case .append(let target, let range):
      request = address.request(.patch, target: target)
      request.headerFields[.contentType] = UploadFields.mediaType
      request.headerFields[.uploadOffset] = "\(range.lowerBound)"
      request.headerFields[.uploadComplete] = StructuredItem.text(step.completes(size))
    }
    request.headerFields[.uploadDraftInteropVersion] = UploadFields.interopVersion
    return request
  }

  private func body(of step: PiecewiseUpload.Step, in bundle: OutgoingBundle) -> TransportBody {
    guard case .append(_, let range) = step, !range.isEmpty else { return .none }
    return .part(of: bundle.file, range)
  }
}
