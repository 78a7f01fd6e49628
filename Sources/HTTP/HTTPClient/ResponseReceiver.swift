import Foundation
package import HTTPTypes
import SystemIO

/// Processes a response as it arrives and writes its body to the destination.
///
/// Not thread-safe.
package struct ResponseReceiver {
  private let method: HTTPRequest.Method
  private let destination: TransportDestination
  private let events: (@Sendable (TransportEvent) -> Void)?
  private var meter: ProgressMeter
  private var head: HTTPResponse?
  private var file: File?
  private var body = Data()
  private var start: Int64 = 0
  private var received: Int64 = 0
  private var declared: Int64?
  private var total: Int64?

  /// Checks the destination. A file must have at least as many bytes as the offset at which the download continues.
  package init(
    method: HTTPRequest.Method, destination: TransportDestination,
    events: (@Sendable (TransportEvent) -> Void)?
  ) throws(TransportError) {
    self.method = method
    self.destination = destination
    self.events = events
    meter = ProgressMeter(events)
    if case .file(let url, let offset, _) = destination, offset != 0 {
      let size: Int64
      do { size = try File(url.path, .read).size } catch { throw .file(error.description) }
      guard offset > 0, size >= offset else {
        throw .file("\(url.lastPathComponent) is shorter than the offset at which to continue")
      }
    }
  }

  /// Whether the whole response has arrived. Without a declared length this is known only when the connection ends.
  package var isComplete: Bool { head != nil && declared.map { received >= $0 } ?? false }

  /// Processes the head of the final response.
  package mutating func begin(_ head: HTTPResponse) throws(TransportError) {
    self.head = head
    declared = Self.declaredLength(of: head, to: method)
    switch destination {
    case .memory(let limit):
      if let declared, declared > limit { throw .responseTooLarge(limit: Int64(limit)) }
    case .file(let url, _, let limit):
      guard try choosePlace(in: head) else { break }
      if let total, total > limit { throw .responseTooLarge(limit: limit) }
      try open(url)
      meter.move(to: start, of: total)
    }
    events?(.response(head))
  }

  /// Processes the next bytes of the body.
  package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(TransportError) {
    let position = start + received
    received += Int64(bytes.count)
    switch destination {
    case .memory(let limit):
      guard received <= limit else { throw .responseTooLarge(limit: Int64(limit)) }
      unsafe body.append(contentsOf: bytes)
    case .file(_, _, let limit):
      guard let file else {
        guard received <= TransportLimits.discardedBytes else {
          throw .responseTooLarge(limit: Int64(TransportLimits.discardedBytes))
        }
        unsafe body.append(contentsOf: bytes.prefix(TransportLimits.problemBytes - body.count))
        return
      }
      guard start + received <= limit else { throw .responseTooLarge(limit: limit) }
      do {
        try unsafe file.write(bytes, at: position)
      } catch {
        throw .file(error.description)
      }
      meter.move(to: start + received, of: total)
    }
  }

  /// Processes the end of the response and returns the response.
  package mutating func finish() throws(TransportError) -> TransportResponse {
    guard let head else { throw .interrupted("the connection ended without a response") }
    if let declared, received < declared, head.headerFields[.contentEncoding] == nil {
      throw .interrupted("the response ended \(declared - received) bytes too early")
    }
    meter.finish()
    return TransportResponse(head: head, body: body)
  }

  /// Decides whether the body is written to the file, and at which offset.
  private mutating func choosePlace(in head: HTTPResponse) throws(TransportError) -> Bool {
    guard case .file(_, let offset, _) = destination else { return false }
    switch head.status.code {
    case 200:
      start = 0
      total = declared
    case 206:
      guard let range = head.headerFields[.contentRange].flatMap(ContentRange.init), range.first == offset
      else {
        throw .unexpectedRange
      }
      start = offset
      // The server controls this number, so the sum can overflow.
      let end = declared.map { offset.addingReportingOverflow($0) }
      total = range.complete ?? end.flatMap { $0.overflow ? nil : $0.partialValue }
    default:
      return false
    }
    return method != .head
  }

  private mutating func open(_ url: URL) throws(TransportError) {
    do {
      let file = try File(url.path, .openOrCreate(mode: 0o600))
      try file.truncate(to: start)
      self.file = file
    } catch {
      throw .file(error.description)
    }
  }

  private static func declaredLength(of head: HTTPResponse, to method: HTTPRequest.Method) -> Int64? {
    if method == .head || head.status.code == 204 || head.status.code == 304 { return 0 }
    guard head.headerFields[.transferEncoding] == nil else { return nil }
    return head.headerFields[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
  }
}

/// The field `Content-Range: bytes first-last/complete` (RFC 9110 §14.4).
package struct ContentRange: Hashable, Sendable {
  /// The position of the first byte.
  package let first: Int64
  /// The position of the last byte.
  package let last: Int64
  /// The length of the complete representation, if the server knows it.
  package let complete: Int64?

  /// Reads the form above. Returns `nil` for other units, for `*` instead of a range, and for inconsistent numbers.
  package init?(_ text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
    let halves = parts[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last
    else {
      return nil
    }
    if halves[1] == "*" {
      complete = nil
    } else {
      guard let complete = Self.number(halves[1]), last < complete else { return nil }
      self.complete = complete
    }
    self.first = first
    self.last = last
  }

  private static func number(_ text: Substring) -> Int64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
  }
}

/// Reports progress: never backwards, at most ten times a second, and always the last state.
package struct ProgressMeter {
  private let events: (@Sendable (TransportEvent) -> Void)?
  private var latest: TransportProgress?
  private var reported: TransportProgress?
  private var due = ContinuousClock.now

  /// Creates a meter that reports to `events`.
  package init(_ events: (@Sendable (TransportEvent) -> Void)?) { self.events = events }

  /// Creates a meter for a request's body. If the response goes to a file, progress describes that file and this meter
  /// reports nothing.
  package init(
    uploadAnsweredTo destination: TransportDestination, _ events: (@Sendable (TransportEvent) -> Void)?
  ) {
    if case .file = destination { self.init(nil) } else { self.init(events) }
  }

  /// Records that `completed` bytes of `total` were transferred.
  package mutating func move(to completed: Int64, of total: Int64?) {
    guard events != nil else { return }
    latest = TransportProgress(completed: max(completed, latest?.completed ?? 0), total: total)
    guard ContinuousClock.now >= due else { return }
    report()
  }

  /// Reports the last state if it was not reported yet.
  package mutating func finish() {
    if latest != reported { report() }
  }

  private mutating func report() {
    guard let events, let latest, latest != reported else { return }
    events(.progress(latest))
    reported = latest
    due = .now + .milliseconds(100)
  }
}
