import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The body of a request, which can be in memory or in a stream that can be read only once.
struct RequestBody: Sendable {
  /// The body; if it exceeds the limit, its beginning.
  var data = Data()
  /// What follows `data` if the body exceeds the limit.
  private var following: Stream?
  /// Whether the body exceeds the limit.
  var isTooLarge: Bool { following != nil }
  /// Whether it was a stream.
  private(set) var isStream = false

  /// Reads the body of a request, a stream of it up to `limit` bytes. Calls `completion` at once if there is no stream, and
  /// otherwise on another thread, because reading can wait for the app.
  static func read(
    of request: URLRequest, limit: Int, _ completion: @escaping @Sendable (RequestBody) -> Void
  ) {
    guard request.httpBody == nil, let stream = request.httpBodyStream else {
      return completion(RequestBody(data: request.httpBody ?? Data()))
    }
    let source = Stream(input: stream)
    DispatchQueue.global(qos: .userInitiated).async {
      var body = RequestBody(isStream: true)
      source.input.open()
      while body.data.count <= limit, let piece = source.input.nextPiece() { body.data += piece }
      if body.data.count > limit { body.following = source } else { source.input.close() }
      completion(body)
    }
  }

  /// No body.
  static let none = RequestBody()

  /// A stream that is passed on from one thread to the next.
  fileprivate struct Stream: @unchecked Sendable {
    let input: InputStream
  }

  private init(data: Data = Data(), isStream: Bool = false) {
    self.data = data
    self.isStream = isStream
  }

  /// A stream of the whole body. If it exceeds the limit, there can be only one.
  func makeStream() -> InputStream {
    guard let following else { return InputStream(data: data) }
    #if canImport(FoundationNetworking)
      return JoinedStream(data, following.input)
    #else
      return InputStream.joining(data, following) ?? InputStream(data: data)
    #endif
  }
}

extension InputStream {
  private static let pieceSize = 64 << 10

  /// Waits for the next bytes; `nil` at the end.
  fileprivate func nextPiece() -> Data? {
    var piece = [UInt8](repeating: 0, count: Self.pieceSize)
    let count = unsafe piece.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return 0 }
      return unsafe read(start, maxLength: buffer.count)
    }
    return count > 0 ? Data(piece[..<count]) : nil
  }
}

#if canImport(FoundationNetworking)
  /// A stream of bytes in memory, followed by those of another stream.
  private final class JoinedStream: InputStream {
    private let first: Data
    private var position = 0
    private let second: InputStream
    private var status = Status.notOpen

    init(_ first: Data, _ second: InputStream) {
      self.first = first
      self.second = second
      super.init(data: Data())
    }

    override func open() { status = .open }
    override func close() {
      second.close()
      status = .closed
    }
    override var streamStatus: Status { status }
    override var streamError: (any Error)? { second.streamError }
    override var hasBytesAvailable: Bool { position < first.count || second.hasBytesAvailable }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
      guard position < first.count else { return unsafe second.read(buffer, maxLength: maxLength) }
      let piece = first.dropFirst(position).prefix(maxLength)
      unsafe piece.copyBytes(to: buffer, count: piece.count)
      position += piece.count
      return piece.count
    }
  }
#else
  extension InputStream {
    /// A stream of `first`, followed by the bytes of `second`. A thread copies them, as they are read.
    fileprivate static func joining(_ first: Data, _ second: RequestBody.Stream) -> InputStream? {
      var (input, output): (InputStream?, OutputStream?)
      unsafe Stream.getBoundStreams(withBufferSize: pieceSize, inputStream: &input, outputStream: &output)
      guard let input, let output else { return nil }
      nonisolated(unsafe) let target = output
      Thread.detachNewThread {
        unsafe target.open()
        var piece: Data? = first
        while let bytes = piece, unsafe target.writeAll(bytes) { piece = second.input.nextPiece() }
        unsafe target.close()
        second.input.close()
      }
      return input
    }
  }

  extension OutputStream {
    /// Waits until all bytes are written. Returns `false` if the reader has closed the stream.
    fileprivate func writeAll(_ data: Data) -> Bool {
      var rest = Array(data)[...]
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBufferPointer { buffer in
          guard let start = buffer.baseAddress else { return 0 }
          return unsafe write(start, maxLength: buffer.count)
        }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }
#endif
