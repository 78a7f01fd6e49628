package import SystemIO

/// Counts the bytes of one request that appends to an upload. It is a pure value and does no I/O.
public struct UploadAppend: Sendable, Hashable {
  /// The offset at which the bytes begin.
  public let start: Int64
  /// The offset at which the bytes received so far end.
  public private(set) var end: Int64
  /// Whether the upload is complete after these bytes; `nil` if it is complete once its length is reached.
  public let completes: Bool?
  /// Whether the bytes count only once all of them have arrived and their digest is verified.
  public let countsAtOnce: Bool
  private let ceiling: Int64
  private let excess: Excess

  private enum Excess { case completed, exceeded, tooLarge }

  init(to session: UploadSession, _ request: AppendRequest, limit: Int64) {
    start = session.offset
    end = session.offset
    completes = request.completes
    countsAtOnce = request.digest != nil
    ceiling = session.length ?? limit
    excess = session.length == nil ? .tooLarge : .exceeded
  }

  /// A request without bytes that asks for the outcome of a complete upload.
  init(asking session: UploadSession) {
    start = session.offset
    end = session.offset
    completes = nil
    countsAtOnce = false
    ceiling = session.offset
    excess = .completed
  }

  /// Counts `count` more bytes. Throws, and counts none of them, if they exceed the upload's length or limit.
  public mutating func receive(_ count: Int) throws(UploadError) {
    let (sum, overflow) = end.addingReportingOverflow(Int64(count))
    guard !overflow, sum <= ceiling else {
      switch excess {
      case .completed: throw .completed
      case .exceeded: throw .exceeded(length: ceiling)
      case .tooLarge: throw .tooLarge(limit: ceiling)
      }
    }
    end = sum
  }

  /// The offset up to which bytes count if the body breaks off now.
  public var countable: Int64 { countsAtOnce ? start : end }
}

/// A request without bytes to an upload that is complete: it asks for the outcome.
package struct OutcomeRequest: UploadAppending {
  private let append: UploadAppend
  private let session: UploadSession

  /// Creates the request as ``UploadSession/admit(_:bytes:limits:at:)`` admitted it.
  package init(_ append: UploadAppend, to session: UploadSession) {
    self.append = append
    self.session = session
  }

  /// Throws ``UploadError/completed`` for any bytes.
  package func write(_ bytes: IOBuffer) async throws(UploadError) {
    var append = append
    try append.receive(bytes.count)
  }

  /// Returns the offset, which does not change any more.
  package func checkpoint() async throws(UploadError) -> Int64 { session.offset }

  /// Returns the session.
  package func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession { session }
}
