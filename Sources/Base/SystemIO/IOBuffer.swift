import Synchronization

/// A block of bytes on its way from one thread to another, without a copy.
///
/// - Invariant: one owner fills it (``fill(_:)``) before anybody else sees it; from then on it is only read.
///   That is what makes `@unchecked Sendable` true.
public final class IOBuffer: @unchecked Sendable {
  private let storage: UnsafeMutableRawBufferPointer
  private let pool: IOBufferPool?
  /// Stored after the bytes that it counts and loaded before them, so that whoever reads them sees them filled by
  /// this alone. Whatever hands a buffer over orders that as well, but of a continuation that is resumed before its
  /// task waits ThreadSanitizer sees nothing.
  private let filled = Atomic(0)

  init(storage: UnsafeMutableRawBufferPointer, pool: IOBufferPool?) {
    self.storage = storage
    self.pool = pool
  }

  /// A buffer of its own that holds a copy of `bytes`.
  public convenience init(_ bytes: some Collection<UInt8>) {
    let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: Swift.max(bytes.count, 1), alignment: 16)
    self.init(storage: storage, pool: nil)
    storage.copyBytes(from: bytes)
    filled.store(bytes.count, ordering: .releasing)
  }

  /// An empty buffer of its own for `capacity` bytes.
  public convenience init(capacity: Int) {
    self.init(storage: .allocate(byteCount: Swift.max(capacity, 1), alignment: 16), pool: nil)
  }

  deinit {
    if let pool { pool.takeBack(storage) } else { storage.deallocate() }
  }

  /// How many bytes are filled.
  public var count: Int { filled.load(ordering: .acquiring) }

  /// How many bytes fit.
  public var capacity: Int { storage.count }

  /// Appends at most ``capacity`` − ``count`` bytes: `body` writes into the free rest and says how many it wrote.
  @discardableResult
  public func fill<Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) -> Int {
    let count = count
    let written = try body(UnsafeMutableRawBufferPointer(rebasing: storage[count...]))
    precondition(written >= 0 && written <= storage.count - count)
    filled.store(count + written, ordering: .releasing)
    return written
  }

  /// The filled bytes, valid only during `body`.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let count = count
    return try body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
  }

  /// A copy of the filled bytes.
  public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
