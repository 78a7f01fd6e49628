import HTTPSemantics
import HTTPTypes

/// What a resumable upload does next, and what an answer means for it: no network, no disk, no clock.
///
/// The server alone knows how much it has. After anything that leaves this open it is asked first, which also ends a
/// request that still hangs there (draft-ietf-httpbis-resumable-upload §4.3, §4.6).
struct PiecewiseUpload: Sendable {
  /// What is to be done.
  enum Step: Sendable, Hashable {
    /// To ask for an upload.
    case create
    /// To ask the upload there how far it is.
    case ask(String)
    /// To send these bytes to the upload there. Those at the end complete it; where all are there already, none.
    case append(String, Range<Int64>)
  }

  /// What an answer means.
  enum Verdict: Sendable, Hashable {
    /// The next step follows at once.
    case goOn
    /// The next step may do better, after a while.
    case pause
    /// This is the answer to the whole upload, whatever it says; the upload is over.
    case end
    /// The upload stays, but the answer forbids to go on with it now.
    case refused
    /// The server does not offer it, or not so that it works: the bundle is to go out in one request.
    case notOffered
  }

  /// How often an upload that the server lost is begun anew, and how often in a row an answer may lead nowhere.
  static let maximumRestarts = 3
  static let maximumStalls = 20
  /// Statuses by which it is said that the caller may not, or not without another token.
  private static let refusals: Set<Int> = [401, 403, 407]

  /// The length of all of it.
  let size: Int64
  /// Where the upload is, once there is one.
  private(set) var location: String?
  /// How many bytes the server has said to have.
  private(set) var kept: Int64 = 0
  /// The most that it ever said.
  private(set) var furthest: Int64 = 0
  private var pieces: PieceSize
  private var isSure = false
  /// Why it began again, each time.
  private(set) var restarts: [UploadRestart] = []
  private var stalls = 0

  /// An upload of `size` bytes that goes on at `location`, or is to be opened.
  init(size: Int64, location: String?, policy: ResumptionPolicy) {
    self.size = size
    self.location = location
    pieces = PieceSize(policy)
  }

  /// What is to be done next.
  var next: Step {
    guard let location else { return .create }
    return isSure ? .append(location, kept..<min(size, kept + pieces.bytes)) : .ask(location)
  }

  /// Takes the final answer to `step`, which came after so many seconds; `path` reads where a `Location` leads to.
  mutating func take(
    _ answer: HTTPResponse, to step: Step, after elapsed: Double, path: (String) -> String?
  ) -> Verdict {
    let fields = UploadFields(answer.headerFields)
    let former = furthest
    var verdict: Verdict
    switch step {
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

  /// Takes that no answer came to `step`.
  mutating func broke(_ step: Step) {
    isSure = false
    if case .append = step { pieces.broke() }
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
    // Too many may be open, such as those whose answers got lost; in one request it needs none.
    case 429: return .notOffered
    case let code where Self.refusals.contains(code): return .refused
    case let code where RetryPolicy.retriedStatuses.contains(code): return .pause
    // Of a server that does not know the fields this is about an empty bundle, and says nothing.
    case 500, 507: return .refused
    default: return fields.areAny ? .end : .notOffered
    }
  }

  /// Takes an answer about all of the bundle. What a server can't do now it may do later, with the bytes that it has.
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
      // What a hotel's network answers to everything is not taken for the server's word.
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
    case let code where Self.refusals.contains(code): return .refused
    case let code where RetryPolicy.retriedStatuses.contains(code): return .pause
    case let code where (400...499).contains(code): return restart(.lost(status: code))
    default: return .pause
    }
  }

  /// Takes what the server says to have, and begins again where that can't be.
  private mutating func reach(_ offset: Int64) -> Verdict {
    guard (0...size).contains(offset) else { return restart(.impossibleOffset(offset)) }
    kept = offset
    furthest = max(furthest, offset)
    isSure = true
    return .goOn
  }

  /// Begins anew, with an upload that the server knows.
  private mutating func restart(_ reason: UploadRestart) -> Verdict {
    location = nil
    kept = 0
    isSure = false
    restarts.append(reason)
    return restarts.count <= Self.maximumRestarts ? .goOn : .notOffered
  }
}
