import HTTPTypes
import Synchronization
import SystemIO

/// A request's body on its way from the socket to the handler: at most one buffer is being filled while the handler
/// holds the one before, and nothing is read that isn't wanted.
///
/// - Invariant: everything but ``next()`` and `trailers` is touched on the connection's loop alone. That is what makes
///   `@unchecked Sendable` true.
final class IncomingBody: @unchecked Sendable {
  private let exchange: Exchange
  private let loop: EventLoop
  private let input: ConnectionInput
  private(set) var reader: BodyReader
  private var rate: RateFloor
  private var filling: IOBuffer?
  private var failure: HTTPBodyError?
  private var waiter: (read: PieceRead, continuation: CheckedContinuation<IOBuffer?, any Error>)?
  private var wasAskedFor = false
  private var isOver = false
  /// What came behind the body.
  private let trailers = Mutex<HTTPFields>([:])

  /// Bodies and rests of this size get a buffer of their own rather than a large one.
  private static let smallSize = 16 * 1024

  init(_ framing: RequestHead.Framing, of exchange: Exchange) {
    self.exchange = exchange
    loop = exchange.loop
    input = exchange.connection.input
    reader = BodyReader(framing, limits: loop.context.limits)
    rate = RateFloor(limits: loop.context.limits)
  }

  func forHandler(_ framing: RequestHead.Framing) -> HTTPRequestBody {
    let length: Int64? = if case .length(let length) = framing { length } else { nil }
    return HTTPRequestBody(
      declaredLength: length, trailers: { self.trailers.withLock { $0 } }, next: { try await self.next() })
  }

  /// Whether bytes should be read from the socket now.
  var wantsBytes: Bool {
    wasAskedFor && !isOver && failure == nil && !reader.isComplete
      && (filling.map { $0.count < $0.capacity } ?? true)
  }

  /// Whether the rest is so small that dropping it costs less than a new connection, or may be for all that is known.
  var isSmall: Bool { reader.remaining ?? reader.received <= loop.context.limits.drainBytes }

  /// Whether the rest is to be dropped so that the connection can be kept.
  var isWorthDraining: Bool { failure == nil && !exchange.awaitsContinue && isSmall }

  /// Reads and drops what has come of a chunked body that its handler left, so that one whose coding is broken is
  /// refused, whether or not anybody wanted it.
  /// - Returns: whether the coding is sound so far.
  func judgeUnread() -> Bool {
    guard failure == nil, reader.remaining == nil, !exchange.awaitsContinue else { return true }
    do throws(HTTPBodyError) {
      try drop()
    } catch {
      fail(error)
    }
    return failure != .malformed
  }

  /// Reads and drops what has come of a body that nobody wants, as long as that may cost less than a new connection.
  func drop() throws(HTTPBodyError) {
    while !reader.isComplete, isSmall {
      if input.isEmpty {
        let room = UnsafeMutableRawBufferPointer(
          rebasing: loop.scratch[..<reader.take(atMost: loop.scratch.count)])
        let count: Int
        do throws(SystemError) {
          guard let received = try input.receive(into: room) else { return }
          count = received
        } catch {
          throw .disconnected
        }
        guard count > 0 else { throw .disconnected }
        input.append(room[..<count])
      }
      try input.consume { (bytes) throws(HTTPBodyError) in
        try reader.read(bytes, into: loop.scratch).consumed
      }
    }
  }

  // MARK: The handler's side

  /// The next piece; `nil` at the end.
  private func next() async throws -> IOBuffer? {
    let read = PieceRead()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if !loop.execute({ self.begin(read, continuation) }) {
          continuation.resume(throwing: HTTPBodyError.disconnected)
        }
      }
    } onCancel: {
      // On the loop this runs at once, ahead of a read whose beginning is still in the mailbox: that one finds the mark.
      read.isCancelled.store(true, ordering: .releasing)
      loop.execute { self.giveUp(read) }
    }
  }

  private func begin(_ read: PieceRead, _ continuation: CheckedContinuation<IOBuffer?, any Error>) {
    waiter?.continuation.resume(throwing: CancellationError())
    waiter = (read, continuation)
    ask()
    if read.isCancelled.load(ordering: .acquiring) { giveUp(read) }
  }

  private func ask() {
    if isOver { return deliver() }
    if !wasAskedFor {
      wasAskedFor = true
      exchange.sendContinueIfAwaited()
    }
    // What lies in the kernel already is taken now, and behind a full piece the next one: a round through the poller
    // is saved.
    if let filling, filling.count < filling.capacity { return deliver() }
    handOver()
    receive()
  }

  /// Ends a read that still waits; but what lies in the kernel, of which the poller may not have told yet, is no waiting.
  private func giveUp(_ read: PieceRead) {
    guard waiter?.read === read else { return }
    receive()
    guard let waiter, waiter.read === read else { return }
    self.waiter = nil
    waiter.continuation.resume(throwing: CancellationError())
  }

  /// Gives a waiting handler what there is; then goes on filling, or pauses.
  private func deliver() {
    handOver()
    updateWaiting()
  }

  /// Gives a waiting handler what there is.
  private func handOver() {
    guard let continuation = waiter?.continuation else { return }
    if let piece = filling, piece.count > 0 {
      waiter = nil
      filling = nil
      continuation.resume(returning: piece)
    } else if let failure {
      waiter = nil
      continuation.resume(throwing: failure)
    } else if isOver {
      waiter = nil
      continuation.resume(throwing: HTTPBodyError.disconnected)
    } else if reader.isComplete {
      waiter = nil
      keepTrailers()
      continuation.resume(returning: nil)
    }
  }

  private func keepTrailers() {
    let lines = reader.trailerLines
    guard !lines.isEmpty else { return }
    trailers.withLock { $0 = HTTPFields(judgedLines: lines[...], without: FieldLines.neverTrailers) }
  }

  private func updateWaiting() {
    guard !isOver else { return }
    if wantsBytes { rate.resume(at: loop.now) } else { rate.pause(at: loop.now) }
    exchange.connection.setReadDeadline(rate.deadline ?? DeadlineTable.none)
    // Not wanting bytes is not told to the poller before some come: mostly none do.
    if wantsBytes { exchange.connection.setInterest(reading: true) }
  }

  // MARK: The socket's side

  /// Takes what has come.
  func receive() {
    do throws(HTTPBodyError) {
      try takeInput()
      if wantsBytes, input.isEmpty { try takeFromSocket() }
    } catch {
      fail(error)
    }
    deliver()
  }

  private func takeInput() throws(HTTPBodyError) {
    while wantsBytes, !input.isEmpty {
      let buffer = bufferToFill()
      let consumed = try input.consume { (bytes) throws(HTTPBodyError) in
        var consumed = 0
        try buffer.fill { (room) throws(HTTPBodyError) in
          let result = try reader.read(bytes, into: room)
          consumed = result.consumed
          return result.produced
        }
        return consumed
      }
      rate.count(consumed)
    }
  }

  private func takeFromSocket() throws(HTTPBodyError) {
    let buffer = bufferToFill()
    // A sender that is waited for holds no memory.
    defer { if buffer.count == 0 { filling = nil } }
    try buffer.fill { (room) throws(HTTPBodyError) in
      let room = UnsafeMutableRawBufferPointer(rebasing: room[..<reader.take(atMost: room.count)])
      let count: Int
      do throws(SystemError) {
        guard let received = try input.receive(into: room) else { return 0 }
        count = received
      } catch {
        throw .disconnected
      }
      guard count > 0 else { throw .disconnected }
      rate.count(count)
      // Data only ever moves to the front, so the coding is taken off in place.
      let received = UnsafeRawBufferPointer(rebasing: room[..<count])
      let (consumed, produced) = try reader.read(received, into: room)
      if consumed < count { input.append(received[consumed...]) }
      return produced
    }
  }

  private func bufferToFill() -> IOBuffer {
    if let filling { return filling }
    let buffer: IOBuffer
    if let remaining = reader.remaining, remaining <= Self.smallSize {
      buffer = IOBuffer(capacity: Int(remaining))
    } else {
      buffer = loop.context.bodyBuffers.take() ?? IOBuffer(capacity: Self.smallSize)
    }
    filling = buffer
    return buffer
  }

  /// The body is broken: the handler learns it when it asks, and no other request can follow on this connection.
  private func fail(_ error: HTTPBodyError) {
    guard failure == nil else { return }
    failure = error
    exchange.bodyFailed()
  }

  func deadlinePassed() {
    if wantsBytes, rate.isTooSlow(at: loop.now) { fail(.tooSlow) }
    deliver()
  }

  /// The request is over.
  /// - Parameter isAnswered: whether nobody wants any more of the body; else what has come of it is still handed out.
  func end(isAnswered: Bool = true) {
    isOver = true
    if isAnswered { filling = nil }
    failure = failure ?? (reader.isComplete ? nil : .disconnected)
    deliver()
  }
}

/// One call of ``IncomingBody/next()``: its task may be cancelled before the loop knows of it, while it waits, or after.
private final class PieceRead: Sendable {
  /// Set before the loop is told of the cancellation, so that whichever of the two gets to the loop last ends the read.
  let isCancelled = Atomic(false)
}
