/// Every bound that the server keeps, with the answer that a client gets beyond it.
///
/// All values are positive. A limit holds what is exactly as large as it says.
public struct HTTPLimits: Sendable, Hashable {
  /// The request line without its line end, in bytes. Beyond: 414.
  public var requestLineBytes = 8 * 1024
  /// The whole head, from the request line to the empty line, in bytes. Beyond: 431.
  public var headBytes = 32 * 1024
  /// Fields in a head. Beyond: 431.
  public var fieldCount = 100
  /// From a head's first byte to its last. Beyond: 408.
  public var headTime: Duration = .seconds(10)

  /// A client's own name for its request, `X-Request-Id`, in bytes. Beyond: the server makes one.
  public var requestIDBytes = 128

  /// A body, in bytes without its coding. Beyond: 413, before anything is read where the head tells the length.
  public var bodyBytes: Int64 = 2 << 30
  /// The slowest body, in bytes per second over ``bodyWindow``, counted only while the server waits for the client.
  /// Below: 408.
  public var bodyBytesPerSecond: Int64 = 1024
  /// Over how long the body's rate is taken.
  public var bodyWindow: Duration = .seconds(10)
  /// How long a body may take to get going before its rate counts.
  public var bodyGrace: Duration = .seconds(20)
  /// Chunk extensions and trailer fields of one body, in bytes. Beyond: 400.
  public var chunkOverheadBytes = 16 * 1024
  /// How much of a body that the handler left is read and dropped so that the connection can be kept, in bytes.
  /// Beyond: the connection is closed after the response.
  public var drainBytes: Int64 = 64 * 1024

  /// Between two requests, and before the first. Beyond: closed without a word.
  public var idleTime: Duration = .seconds(60)
  /// How long a client may take for the next ``writeProgressBytes`` of a response. Beyond: closed.
  ///
  /// Bytes count when the client's system has acknowledged them. A system acknowledges what a slow program reads in
  /// steps, mostly of 64 KiB, so this time must be longer than the slowest program that is to be served needs for
  /// such a step: 128 s at 512 bytes a second.
  public var writeStallTime: Duration = .seconds(180)
  /// How much of a response a client must take in every ``writeStallTime``, in bytes. With the defaults the slowest rate
  /// is 182 bytes a second.
  public var writeProgressBytes = 32 * 1024
  /// How long a closing connection stays readable, so that the client sees the response rather than a reset.
  public var lingerTime: Duration = .seconds(2)
  /// Requests on one connection; the last response says `Connection: close`.
  public var requestsPerConnection = 100_000
  /// How many requests that a client sent without waiting for answers are begun before other connections have their
  /// turn. Beyond: they wait, in order, in at most 64 KiB beside one head's, and the rest stays with the sender.
  public var pipelinedRequests = 32

  /// Connections in all. Beyond: 503 with `Retry-After`.
  public var connections = 10_000
  /// Connections from one client: an IPv4 address or the first 64 bits of an IPv6 address. For clients behind
  /// trusted proxies, who share the proxies' connections: requests at once. Beyond: 503 with `Retry-After`.
  public var connectionsPerAddress = 256
  /// Memory for bodies on their way to handlers, in 256 KiB blocks over all connections; beyond, uploads go on
  /// with blocks of 16 KiB.
  public var bodyBuffers = 256
  /// Descriptors that are kept for files, at most a quarter of those that the process may have. Fewer: accepting
  /// pauses, and who waits to be accepted goes on waiting.
  public var reservedDescriptors = 64
  /// How long accepting pauses when the process has no descriptor to spare.
  public var acceptPause: Duration = .milliseconds(250)

  /// The defaults.
  public init() {}
}

extension Duration {
  /// Whole milliseconds, rounded up, so that a positive duration is never nothing; what can't be counted is for ever.
  var milliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < Int64.max / 1000 else { return .max / 2 }
    return UInt64(seconds) * 1000 + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
