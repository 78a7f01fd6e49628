import Foundation
package import HTTPTypes
import SystemIO

/// Takes a response as it comes in and puts its body where it belongs.
///
/// Not for two threads at once.
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

  /// Looks at the destination: a file must reach as far as the offset at which it is to go on.
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
        throw .file("\(url.lastPathComponent) ends before the offset at which it is to go on")
      }
    }
  }

  /// Whether the whole response is here; only one that declares its length tells before the connection ends.
  package var isComplete: Bool { head != nil && declared.map { received >= $0 } ?? false }

  /// Takes the final response's head.
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

  /// Takes the next bytes of the body.
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

  /// Takes the end of the response.
  package mutating func finish() throws(TransportError) -> TransportResponse {
    guard let head else { throw .interrupted("the connection ended without a response") }
    if let declared, received < declared, head.headerFields[.contentEncoding] == nil {
      throw .interrupted("the response ended \(declared - received) bytes too early")
    }
    meter.finish()
    return TransportResponse(head: head, body: body)
  }

  /// Decides whether the body goes into the file, and from which byte on.
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
      // The server chose the number.
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
