import SystemIO

/// The unsent output of a connection. Detects clients that receive too slowly.
///
/// It sends and reports the progress; the exchange decides how to continue. Not thread-safe: owned by the connection's
/// loop.
final class ConnectionOutput {
  /// The result of sending.
  enum Progress {
    /// Everything was sent.
    case done
    /// The socket's buffer is full.
    case blocked
    /// The connection has sent its share of this round, and there is more to send.
    case shareSent
    /// The client has disconnected.
    case failed
    /// A file is shorter than its part of the body.
    case fileTooShort(path: String)
  }

  /// The maximum size of bodies and pieces that are sent in one call with the bytes before them.
  private static let joinedSize = 32 * 1024
  /// The maximum size of a head and the start of a file that a session sends together: one record of TLS.
  private static let joinedFileSize = 16 * 1024
  /// The maximum number of bytes that a connection sends before others continue.
  private static let fairShare = 1 << 20
  /// The maximum number of bytes of a response that are sent before waiting senders continue, so that large responses
  /// do not delay small ones.
  private static let firstShare = 128 * 1024

  private let channel: Channel
  private let loop: EventLoop
  private var queue = OutputQueue()
  private var progress = ProgressFloor()
  private var sendsFullSegments = false
  /// Tasks waiting until the queue is empty.
  private var writers: [CheckedContinuation<Void, any Error>] = []

  /// Whether the socket accepted fewer bytes than were passed, so that it must become writable first.
  private(set) var isBlocked = false
  /// When to check the client's progress next.
  private(set) var deadline = DeadlineTable.none
  /// The number of bytes written to the socket since the connection was accepted.
  private(set) var bytesSent: Int64 = 0

  init(channel: Channel, loop: EventLoop) {
    self.channel = channel
    self.loop = loop
  }

  var isEmpty: Bool { queue.isEmpty }

  // MARK: Queueing

  /// Writes a response's head into the loop's buffer, and queues its body unless it is a stream.
  func begin(
    _ response: borrowing HTTPServerResponse, _ head: inout ResponseHead
  ) throws(ResponseHead.Unlawful) {
    loop.output.removeAll()
    try head.write(response, into: loop.output, date: loop.dateField, serverName: loop.context.serverName)
    guard head.sendsBody else { return }
    switch response.body {
    case .empty, .stream: break
    case .bytes(let bytes):
      if bytes.count <= Self.joinedSize { loop.output.append(bytes) } else { queue.append(bytes) }
    case .parts(let parts): for part in parts { queue.append(part) }
    }
  }

  /// Queues the contents of the loop's buffer.
  func appendBuffer() { queue.append(Array(loop.output.bytes)) }

  /// Resumes `continuation` when all queued bytes were sent.
  func waitUntilEmpty(_ continuation: CheckedContinuation<Void, any Error>) {
    if isEmpty { continuation.resume() } else { writers.append(continuation) }
  }

  /// Discards all output, after the client has disconnected.
  func discard() {
    queue.removeAll()
    unblock()
    resumeWriters(with: .failure(HTTPBodyError.disconnected))
  }

  // MARK: Sending

  /// Sends the loop's buffer, then the queue. The queue must not contain older output.
  func sendBuffer() -> Progress {
    do {
      if channel.isSecure { try joinFile() }
      let bytes = loop.output.bytes
      let isAlone = queue.isEmpty
      let sent = try channel.send(bytes, more: !isAlone && !sendsHeadAhead) ?? 0
      bytesSent += Int64(sent)
      if sent < bytes.count {
        queue.prepend(Array(bytes[sent...]))
        return block()
      }
      return isAlone ? finish() : sendFirst()
    } catch {
      return .failed
    }
  }

  /// Whether the head is sent before the file after it, so that the client reads the head while the file is sent.
  /// With several clients the server is the bottleneck, and one call for both takes less of its time.
  private var sendsHeadAhead: Bool {
    guard loop.eventsInRound <= 1, case .file(_, _, let remaining) = queue.first else { return false }
    return remaining > Self.joinedSize
  }

  /// Appends the start of a file to the head before it, so that a session protects both as one record.
  private func joinFile() throws(SystemError) {
    guard case .file(let file, let offset, let remaining) = queue.first else { return }
    let count = Int(min(remaining, Int64(max(Self.joinedFileSize - loop.output.count, 0))))
    guard count > 0 else { return }
    let bytes = try file.read(upTo: count, at: offset)
    loop.output.append(bytes)
    queue.advance(bytes.count)
  }

  /// Sends a piece of a stream.
  func sendStreamed(_ piece: [UInt8], _ framing: ResponseHead.Framing) -> Progress {
    guard framing == .chunked else {
      queue.append(piece)
      return sendFirst()
    }
    let buffer = loop.output
    buffer.removeAll()
    buffer.append(Int64(piece.count), radix: 16)
    buffer.append(literal: "\r\n")
    if piece.count <= Self.joinedSize {
      buffer.append(piece)
      buffer.append(literal: "\r\n")
    } else {
      queue.append(piece)
      queue.append([.carriageReturn, .lineFeed])
    }
    return sendBuffer()
  }

  /// Sends the end of a stream.
  func endStream(_ framing: ResponseHead.Framing) -> Progress {
    guard framing == .chunked else { return send() }
    loop.output.removeAll()
    loop.output.append(literal: "0\r\n\r\n")
    return sendBuffer()
  }

  /// Sends the first part of newly queued output.
  private func sendFirst() -> Progress {
    let isFirst = !loop.turns.hasSenders && loop.turns.sendingLeft > 0
    return send(upTo: isFirst ? Self.fairShare : Self.firstShare)
  }

  /// Sends the queue, up to `limit` and until the socket's buffer is full.
  func send(upTo limit: Int = fairShare) -> Progress {
    var share = limit
    do {
      while share > 0, let item = queue.first {
        let sent: Int?
        let asked: Int
        switch item {
        case .bytes(let bytes, let start):
          asked = bytes.count - start
          sent = try send(bytes, from: start)
        case .file(let file, let offset, let remaining):
          if remaining > Self.fairShare { try sendFullSegments(true) }
          asked = Int(min(remaining, Int64(min(share, channel.filePiece))))
          sent = try channel.send(file, offset: offset, count: asked)
          if sent == 0 { return .fileTooShort(path: file.path) }
        }
        guard let sent else { return block() }
        bytesSent += Int64(sent)
        queue.advance(sent)
        if isEmpty { try sendFullSegments(false) }
        share -= sent
        loop.turns.sendingLeft -= sent
        // A partial write means that the buffer is full. Another attempt would read from the file for nothing.
        if sent < asked { return block() }
      }
    } catch {
      return .failed
    }
    return isEmpty ? finish() : .shareSent
  }

  /// Sets whether bytes that do not fill a segment wait for more. Otherwise each acknowledgement that arrives while a file
  /// is being sent would send what there is, in many small segments.
  private func sendFullSegments(_ value: Bool) throws(SystemError) {
    guard sendsFullSegments != value else { return }
    sendsFullSegments = value
    try channel.sendFullSegments(value)
  }

  private func send(_ bytes: [UInt8], from start: Int) throws(SystemError) -> Int? {
    let more = queue.hasMore
    var outcome: Result<Int?, SystemError> = .success(nil)
    bytes.withUnsafeBytes { bytes in
      outcome = Result { () throws(SystemError) -> Int? in
        try channel.send(UnsafeRawBufferPointer(rebasing: bytes[start...]), more: more)
      }
    }
    return try outcome.get()
  }

  private func finish() -> Progress {
    unblock()
    resumeWriters(with: .success(()))
    return .done
  }

  private func resumeWriters(with result: Result<Void, any Error>) {
    guard !writers.isEmpty else { return }
    for writer in writers { writer.resume(with: result) }
    writers = []
  }

  // MARK: The client's progress

  /// Waits until the socket is writable, with a deadline for the client's progress.
  private func block() -> Progress {
    _ = renewDeadline()
    isBlocked = true
    return .blocked
  }

  private func unblock() {
    isBlocked = false
    deadline = DeadlineTable.none
  }

  /// Sets the time of the next check of the client's progress. Returns `false` if the client is too slow.
  ///
  /// Only acknowledged bytes count: the system's buffer can hold megabytes, and becomes writable only when a third of
  /// it was sent, which can take minutes on a slow connection.
  func renewDeadline() -> Bool {
    let taken = bytesSent - Int64(channel.socket.unacknowledgedBytes)
    if !isBlocked { progress.begin(at: loop.now, taken: taken) }
    guard let next = progress.deadline(at: loop.now, taken: taken, limits: loop.context.limits) else {
      return false
    }
    deadline = next
    return true
  }
}

/// Detects a client that receives a response too slowly: it must receive `writeProgressBytes` in every
/// `writeStallTime`.
///
/// Has no clock of its own: times are in milliseconds on the caller's clock. Received bytes are counted from any
/// starting point.
struct ProgressFloor {
  /// The last time at which the client had received enough, and the number of bytes received until then.
  private var since: UInt64 = 0
  private var taken: Int64 = 0

  /// Starts to wait for the client.
  mutating func begin(at now: UInt64, taken: Int64) { (since, self.taken) = (now, taken) }

  /// Returns the time of the next check, or `nil` if the client is too slow.
  mutating func deadline(at now: UInt64, taken: Int64, limits: HTTPLimits) -> UInt64? {
    if taken - self.taken >= Int64(limits.writeProgressBytes) { begin(at: now, taken: taken) }
    let time = limits.writeStallTime.milliseconds
    let end = since + time
    guard now < end else { return nil }
    // Checks more often than the limit requires. Otherwise a client that stops would be detected only after up to twice
    // the time.
    return min(end, now + max(time / 4, 1))
  }
}
