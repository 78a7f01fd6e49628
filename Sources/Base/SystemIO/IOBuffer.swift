/// A block of bytes that is passed between threads without copying.
///
/// - Invariant: A single owner fills the buffer (``fill(_:)``) before it shares it; from then on it is only read. This
///   makes `@unchecked Sendable` safe.
public final class IOBuffer: @unchecked Sendable {
  private let storage: UnsafeMutableRawBufferPointer
  private let pool: IOBufferPool?
  /// The number of filled bytes.
  public private(set) var count = 0

  init(storage: UnsafeMutableRawBufferPointer, pool: IOBufferPool?) {
    self.storage = storage
    self.pool = pool
  }

  /// Creates a buffer outside any pool with a copy of `bytes`.
  public convenience init(_ bytes: some Collection<UInt8>) {
    let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: Swift.max(bytes.count, 1), alignment: 16)
    self.init(storage: storage, pool: nil)
    storage.copyBytes(from: bytes)
    count = bytes.count
  }

  /// Creates an empty buffer outside any pool with room for `capacity` bytes.
  public convenience init(capacity: Int) {
    self.init(storage: .allocate(byteCount: Swift.max(capacity, 1), alignment: 16), pool: nil)
  }

  deinit {
    if let pool { pool.takeBack(storage) } else { storage.deallocate() }
  }

  /// The number of bytes that the buffer can hold.
  public var capacity: Int { storage.count }

  /// Appends up to ``capacity`` − ``count`` bytes. `body` writes to the free part of the buffer and returns the number
  /// of bytes that it wrote.
  @discardableResult
  public func fill<Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) -> Int {
    let written = try body(UnsafeMutableRawBufferPointer(rebasing: storage[count...]))
    precondition(written >= 0 && written <= storage.count - count)
    count += written
    return written
  }

  /// The filled bytes, valid only during `body`.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
  }

  /// A copy of the filled bytes.
  public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// Reuses blocks of one size and limits how many are in use, so that memory is bounded.
public final class IOBufferPool: Sendable {
  /// The size of every block, in bytes.
  public let bufferSize: Int
  /// The maximum number of blocks in use at once.
  public let limit: Int
  private let state = Lock(State())

  /// Only the pool accesses these blocks while they are free.
  private struct State: @unchecked Sendable {
    var free: [UnsafeMutableRawBufferPointer] = []
    var out = 0
  }

  /// Creates a pool of at most `limit` blocks of `bufferSize` bytes each. Blocks are allocated on demand.
  public init(bufferSize: Int = 256 * 1024, limit: Int) {
    self.bufferSize = bufferSize
    self.limit = limit
  }

  deinit {
    state.withLock { for storage in $0.free { storage.deallocate() } }
  }

  /// A free block, or `nil` if `limit` blocks are in use.
  public func take() -> IOBuffer? {
    let storage: UnsafeMutableRawBufferPointer? = state.withLock { state in
      guard state.out < limit else { return nil }
      state.out += 1
      return state.free.popLast() ?? .allocate(byteCount: bufferSize, alignment: 4096)
    }
    return storage.map { IOBuffer(storage: $0, pool: self) }
  }

  func takeBack(_ storage: UnsafeMutableRawBufferPointer) {
    state.withLock { state in
      state.out -= 1
      // A short reserve serves the steady load. The memory of a burst returns to the system.
      if state.free.count < 32 { state.free.append(storage) } else { storage.deallocate() }
    }
  }
}
