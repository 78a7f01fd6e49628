import HTTPTypes
import SystemIO

/// The body of a request, on its way from the socket to the handler. At most one buffer is being filled while the
/// handler uses the one before. Bytes are read only on demand.
///
/// - Invariant: accessed only on the connection's loop, except for ``next()`` and `trailers`. This makes
///   `@unchecked Sendable` correct.
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
  /// The trailer fields.
  private let trailers = Lock<HTTPFields>([:])

  /// The maximum size of a body, or of its rest, that gets a small buffer instead of a large one.
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

  /// Whether the rest of the body is, or may be, so small that dropping it costs less than a new connection.
  var isSmall: Bool { reader.remaining ?? reader.received <= loop.context.limits.drainBytes }

  /// Whether to drop the rest of the body, so that the connection can be reused.
  var isWorthDraining: Bool { failure == nil && !exchange.awaitsContinue && isSmall }

  /// Reads and drops the received part of a chunked body that the handler did not read, so that a malformed body is
  /// rejected in any case.
  ///
  /// - Returns: whether the coding is valid so far.
  func judgeUnread() -> Bool {
    guard failure == nil, reader.remaining == nil, !exchange.awaitsContinue else { return true }
    do {
      try drop()
    } catch {
      fail(error)
    }
    return failure != .malformed
  }

  /// Reads and drops received bytes of a body that is not needed, as long as this costs less than a new connection.
  func drop() throws(HTTPBodyError) {
    while !reader.isComplete, isSmall {
      if input.isEmpty {
        let room = UnsafeMutableRawBufferPointer(
          rebasing: loop.scratch[..<reader.take(atMost: loop.scratch.count)])
        let count: Int
        do {
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

  /// Returns the next piece, or `nil` at the end.
  private func next() async throws -> IOBuffer? {
    let read = PieceRead()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if !loop.execute({ self.begin(read, continuation) }) {
          continuation.resume(throwing: HTTPBodyError.disconnected)
        }
      }
    } onCancel: {
      // On the loop's thread this runs immediately, possibly before the read itself, which is still in the mailbox.
      // Then the read finds the mark.
      read.isCancelled.set(true)
      loop.execute { self.giveUp(read) }
    }
  }

  private func begin(_ read: PieceRead, _ continuation: CheckedContinuation<IOBuffer?, any Error>) {
    waiter?.continuation.resume(throwing: CancellationError())
    waiter = (read, continuation)
    ask()
    if read.isCancelled.value { giveUp(read) }
  }

  private func ask() {
    if isOver { return deliver() }
    if !wasAskedFor {
      wasAskedFor = true
      exchange.sendContinueIfAwaited()
    }
    // Bytes that are already in the kernel are read now, and after a full piece the next one, which saves a round
    // through the poller.
    if let filling, filling.count < filling.capacity { return deliver() }
    handOver()
    receive()
  }

  /// Ends a read that still waits. Tries to receive first, because bytes can be in the kernel that the poller has not
  /// reported yet.
  private func giveUp(_ read: PieceRead) {
    guard waiter?.read === read else { return }
    receive()
    guard let waiter, waiter.read === read else { return }
    self.waiter = nil
    waiter.continuation.resume(throwing: CancellationError())
  }

  /// Passes available bytes to a waiting handler, then continues or pauses reading.
  private func deliver() {
    handOver()
    updateWaiting()
  }

  /// Passes available bytes, the end, or an error to a waiting handler.
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
    // If no bytes are needed, the poller is updated only when some arrive, which is rare.
    if wantsBytes { exchange.connection.setInterest(reading: true) }
  }

  // MARK: The socket's side

  /// Reads available bytes.
  func receive() {
    do {
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
    // An empty buffer is released, so that waiting for a sender holds no memory.
    defer { if buffer.count == 0 { filling = nil } }
    try buffer.fill { (room) throws(HTTPBodyError) in
      let room = UnsafeMutableRawBufferPointer(rebasing: room[..<reader.take(atMost: room.count)])
      let count: Int
      do {
        guard let received = try input.receive(into: room) else { return 0 }
        count = received
      } catch {
        throw .disconnected
      }
      guard count > 0 else { throw .disconnected }
      rate.count(count)
      // Decoding never moves data backwards, so it can be done in place.
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

  /// Records an error in the body. The handler gets it with its next read, and the connection can't be reused.
  private func fail(_ error: HTTPBodyError) {
    guard failure == nil else { return }
    failure = error
    exchange.bodyFailed()
  }

  func deadlinePassed() {
    if wantsBytes, rate.isTooSlow(at: loop.now) { fail(.tooSlow) }
    deliver()
  }

  /// Ends the body with the exchange.
  ///
  /// - Parameter isAnswered: whether the response was sent. Otherwise received bytes are still passed to the handler.
  func end(isAnswered: Bool = true) {
    isOver = true
    if isAnswered { filling = nil }
    failure = failure ?? (reader.isComplete ? nil : .disconnected)
    deliver()
  }
}

/// A call of ``IncomingBody/next()``. Its task can be cancelled before the read reaches the loop, while it waits, or
/// later.
private final class PieceRead: Sendable {
  /// Set before the cancellation is sent to the loop, so that the later one of read and cancellation ends the read.
  let isCancelled = Lock(false)
}
