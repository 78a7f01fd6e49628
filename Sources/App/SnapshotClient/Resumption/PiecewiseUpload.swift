import HTTPSemantics
import HTTPTypes

/// The state machine of a resumable upload, without network, disk or clock access.
///
/// Only the server knows how many bytes it has stored. After any failure that leaves this unknown, the client first
/// asks for the offset, which also ends a request that is still pending on the server
/// (draft-ietf-httpbis-resumable-upload §4.3, §4.6).
struct PiecewiseUpload: Sendable {
  /// The next request.
  enum Step: Sendable, Hashable {
    /// Create an upload.
    case create
    /// Ask the upload at this path for its offset.
    case ask(String)
    /// Send these bytes to the upload at this path. The last bytes complete it; the range is empty if the server
    /// already has all bytes.
    case append(String, Range<Int64>)

    /// Whether the step completes an upload of `size` bytes.
    func completes(_ size: Int64) -> Bool {
      if case .append(_, let range) = self { range.upperBound == size } else { false }
    }
  }

  /// The interpretation of a response.
  enum Verdict: Sendable, Hashable {
    /// Continue with the next step immediately.
    case goOn
    /// Continue with the next step after a delay.
    case pause
    /// The upload is over. This is its final response, successful or not.
    case end
    /// The upload still exists, but can't be continued now.
    case refused
    /// The server does not support resumable uploads, or not in a usable way: send the bundle in one request.
    case notOffered
    /// Something else than the server answered, so requests of this kind may not get through: try to send the bundle in
    /// one request. The upload still exists.
    case blocked
  }

  /// The maximum number of restarts, and of consecutive responses without progress.
  static let maximumRestarts = 3
  static let maximumStalls = 20
  /// Statuses that reject the token.
  private static let refusals: Set<Int> = [401, 403, 407]

  /// The size of the bundle in bytes.
  let size: Int64
  /// The path of the upload on the server, once it exists.
  private(set) var location: String?
  /// The number of bytes that the server has reported as stored.
  private(set) var kept: Int64 = 0
  /// The maximum number of bytes that the server has ever reported.
  private(set) var furthest: Int64 = 0
  private var pieces: PieceSize
  private var isSure = false
  private var mayHaveMore: Bool
  /// The reasons of all restarts.
  private(set) var restarts: [UploadRestart] = []
  private var stalls = 0

  /// An upload of `size` bytes, which is resumed at `location` or, if that is `nil`, created.
  init(size: Int64, location: String?, policy: ResumptionPolicy) {
    self.size = size
    self.location = location
    mayHaveMore = location != nil
    pieces = PieceSize(policy)
  }

  /// Whether the server can have bytes that a bundle in one request would send again.
  var mayHaveBytes: Bool { furthest > 0 || mayHaveMore }

  /// The next step.
  var next: Step {
    guard let location else { return .create }
    return isSure ? .append(location, kept..<min(size, kept + pieces.bytes)) : .ask(location)
  }

  /// Processes the final response to `step`, which arrived after `elapsed` seconds.
  /// - Parameters:
  ///   - isForeign: whether something else than a snapshot server rejected the request.
  ///   - path: resolves a `Location`.
  mutating func take(
    _ answer: HTTPResponse, isForeign: Bool, to step: Step, after elapsed: Double, path: (String) -> String?
  ) -> Verdict {
    let fields = UploadFields(answer.headerFields)
    let former = furthest
    var verdict: Verdict
    switch step {
    case _ where isForeign: verdict = rejected(answer, to: step)
    case .create: verdict = created(answer, fields, path)
    case .ask: verdict = told(answer, fields)
    case .append(_, let range): verdict = appended(answer, fields, range, elapsed)
    }
    if let limits = fields.limits {
      pieces.keep(atLeast: limits.minimumAppendSize, atMost: limits.maximumAppendSize)
    }
    stalls = furthest > former ? 0 : stalls + 1
    if verdict == .goOn, stalls > Self.maximumStalls { verdict = .notOffered }
    return verdict
  }

  /// Processes the failure of `step` without a response.
  mutating func broke(_ step: Step) {
    isSure = false
    if case .append = step {
      mayHaveMore = true
      pieces.broke()
    }
  }

  /// Interprets the response of something else than the server, which says nothing about the upload.
  private mutating func rejected(_ answer: HTTPResponse, to step: Step) -> Verdict {
    isSure = false
    switch (answer.status.code, step) {
    case (413, .append(_, let range)) where pieces.refused(range.upperBound - range.lowerBound): return .goOn
    case (let code, _): return RetryPolicy.retriedStatuses.contains(code) ? .pause : .blocked
    }
  }

  private mutating func created(
    _ answer: HTTPResponse, _ fields: UploadFields, _ path: (String) -> String?
  ) -> Verdict {
    if fields.isComplete == true { return ended(answer) }
    switch answer.status.code {
    case 200...299:
      guard fields.areAny, let location = answer.headerFields[.location].flatMap(path) else {
        return .notOffered
      }
      self.location = location
      return reach(fields.offset ?? 0)
    // Too many uploads can be open, for example because responses were lost. A single request does not need one.
    case 429: return .notOffered
    case let code where Self.refusals.contains(code): return .refused
    case let code where RetryPolicy.retriedStatuses.contains(code): return .pause
    case 500, 507: return .refused
    // A server that does not know the fields answers for the empty body; that does not concern the bundle.
    default: return fields.areAny ? .end : .notOffered
    }
  }

  /// Interprets a response to the whole bundle. After a temporary server error, the bytes already stored can be used
  /// later.
  private func ended(_ answer: HTTPResponse) -> Verdict {
    switch answer.status.code {
    case let code where RetryPolicy.retriedStatuses.contains(code): .pause
    case 500...599: .refused
    default: .end
    }
  }

  private mutating func told(_ answer: HTTPResponse, _ fields: UploadFields) -> Verdict {
    switch answer.status.code {
    case 200...299:
      // A captive portal answers every request with success, so a response without an offset is not trusted.
      guard let offset = fields.offset else { return .pause }
      if let length = fields.length, length != size { return restart(.otherLength(length)) }
      guard fields.isComplete != true || offset == size else { return restart(.impossibleOffset(offset)) }
      return reach(offset)
    case let code where Self.refusals.contains(code): return .refused
    case let code where RetryPolicy.retriedStatuses.contains(code): return .pause
    case let code where (400...499).contains(code): return restart(.lost(status: code))
    default: return .pause
    }
  }

  private mutating func appended(
    _ answer: HTTPResponse, _ fields: UploadFields, _ range: Range<Int64>, _ elapsed: Double
  ) -> Verdict {
    isSure = false
    if fields.isComplete == true { return ended(answer) }
    switch answer.status.code {
    case 200...299:
      guard range.upperBound < size, fields.isComplete == false || fields.offset != nil else { return .pause }
      pieces.arrived(range.upperBound - range.lowerBound, after: elapsed)
      return reach(fields.offset ?? range.upperBound)
    case 409:
      guard let offset = fields.offset else { return .pause }
      return reach(offset)
    case 413: return pieces.refused(range.upperBound - range.lowerBound) ? .goOn : .refused
    case 507: return .refused
    case 405, 501: return .notOffered
    case let code where Self.refusals.contains(code): return .refused
    case let code where RetryPolicy.retriedStatuses.contains(code): return .pause
    case let code where (400...499).contains(code): return restart(.lost(status: code))
    default: return .pause
    }
  }

  /// Stores the offset that the server reports, and restarts the upload if the offset is impossible.
  private mutating func reach(_ offset: Int64) -> Verdict {
    guard (0...size).contains(offset) else { return restart(.impossibleOffset(offset)) }
    kept = offset
    mayHaveMore = false
    furthest = max(furthest, offset)
    isSure = true
    return .goOn
  }

  /// Restarts with a new upload on the server.
  private mutating func restart(_ reason: UploadRestart) -> Verdict {
    location = nil
    kept = 0
    isSure = false
    mayHaveMore = false
    restarts.append(reason)
    return restarts.count <= Self.maximumRestarts ? .goOn : .notOffered
  }
}
