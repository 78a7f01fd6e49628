/// The bytes of one request on their way into an upload: counts, and does nothing.
public struct UploadAppend: Sendable, Hashable {
  /// Where the bytes begin.
  public let start: Int64
  /// Where those end that came.
  public private(set) var end: Int64
  /// Whether the upload is complete with them; `nil` where it is when its length is reached.
  public let completes: Bool?
  /// Whether none of them counts before all of them have come.
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

  /// A request that brings nothing, but asks how the upload ended.
  init(asking session: UploadSession) {
    start = session.offset
    end = session.offset
    completes = nil
    countsAtOnce = false
    ceiling = session.offset
    excess = .completed
  }

  /// Takes so many bytes more, or throws, and takes none of them.
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

  /// As far as what came counts where the body breaks off now.
  public var countable: Int64 { countsAtOnce ? start : end }
}
