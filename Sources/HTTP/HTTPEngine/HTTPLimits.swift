/// The limits that the server enforces, and its response when a client exceeds them.
///
/// All values must be positive. A value equal to its limit is allowed.
public struct HTTPLimits: Sendable, Hashable {
  /// The maximum time from accepting a connection to the end of its handshake, if the server protects connections, and of
  /// the header of the PROXY protocol, if the server expects it.
  /// Beyond: the connection is closed.
  public var handshakeTime: Duration = .seconds(10)
  /// The maximum size of the request line without its line end, in bytes. Beyond: 414.
  public var requestLineBytes = 8 * 1024
  /// The maximum size of the head, from the request line to the empty line, in bytes. Beyond: 431.
  public var headBytes = 32 * 1024
  /// The maximum number of fields in a head. Beyond: 431.
  public var fieldCount = 100
  /// The maximum time from a head's first byte to its last. Beyond: 408.
  public var headTime: Duration = .seconds(10)

  /// The maximum size of a client's `X-Request-Id`, in bytes. Beyond: the server creates an id.
  public var requestIDBytes = 128

  /// The maximum size of a decoded body, in bytes. Beyond: 413, before any byte is read if the head declares the
  /// length.
  public var bodyBytes: Int64 = 2 << 30
  /// The minimum rate of a body, in bytes per second, averaged over ``bodyWindow``. Only time in which the server waits
  /// for the client counts. Below: 408.
  public var bodyBytesPerSecond: Int64 = 1024
  /// The period over which the body's rate is averaged.
  public var bodyWindow: Duration = .seconds(10)
  /// The time after which the minimum rate applies to a body.
  public var bodyGrace: Duration = .seconds(20)
  /// The maximum size of chunk extensions and trailer fields of one body, in bytes. Beyond: 400.
  public var chunkOverheadBytes = 16 * 1024
  /// How many bytes of a body that the handler did not read are read and discarded, so that the connection can be
  /// reused. Beyond: the connection is closed after the response.
  public var drainBytes: Int64 = 64 * 1024

  /// The maximum time between two requests, and before the first. Beyond: the connection is closed without a response.
  public var idleTime: Duration = .seconds(60)
  /// The maximum time in which a client must receive the next ``writeProgressBytes`` of a response. Beyond: the
  /// connection is closed.
  ///
  /// Bytes count when the client's system has acknowledged them. Systems acknowledge data in steps, mostly of 64 KiB,
  /// while a slow program reads. This time must therefore be longer than the slowest supported program needs for one
  /// step: 128 s at 512 bytes per second.
  public var writeStallTime: Duration = .seconds(180)
  /// How many bytes of a response a client must receive in every ``writeStallTime``. With the defaults, the minimum
  /// rate is 182 bytes per second.
  public var writeProgressBytes = 32 * 1024
  /// How long a closing connection remains readable, so that the client receives the response instead of a reset.
  public var lingerTime: Duration = .seconds(2)
  /// The maximum number of requests on one connection. The last response has `Connection: close`.
  public var requestsPerConnection = 100_000
  /// The maximum number of pipelined requests that start before other connections are served. Beyond: the requests
  /// wait, in order. At most 64 KiB more than one head is buffered; the rest remains with the client.
  public var pipelinedRequests = 32

  /// The maximum number of connections. Beyond: 503 with `Retry-After`.
  public var connections = 10_000
  /// The maximum number of connections from one client: an IPv4 address or the first 64 bits of an IPv6 address. For
  /// clients behind trusted proxies, which share the proxies' connections, the maximum number of concurrent requests.
  /// Beyond: 503 with `Retry-After`.
  public var connectionsPerAddress = 256
  /// The maximum number of 256 KiB buffers for request bodies, over all connections. Beyond: uploads use buffers of 16
  /// KiB.
  public var bodyBuffers = 256
  /// The number of file descriptors reserved for files, at most a quarter of the process's limit. When fewer are free,
  /// the server stops accepting connections, and new ones wait in the system's queue.
  public var reservedDescriptors = 64
  /// How long idle connections remain open when a server with inherited sockets stops. The next response on such a
  /// connection has `Connection: close`, so that the client continues with the next server.
  public var replacementTime: Duration = .seconds(2)
  /// How long the server stops accepting connections if the process has no free descriptor.
  public var acceptPause: Duration = .milliseconds(250)

  /// Creates limits with the default values.
  public init() {}
}

extension Duration {
  /// The duration in milliseconds, rounded up, so that a positive duration is never 0. Too large durations become a
  /// value that never elapses.
  var milliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < Int64.max / 1000 else { return .max / 2 }
    return UInt64(seconds) * 1000 + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
