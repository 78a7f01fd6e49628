import Synchronization

/// Keeps blocks of one size for reuse, and counts how many are out, so that memory has a bound.
public final class IOBufferPool: Sendable {
  /// The size of every block, in bytes.
  public let bufferSize: Int
  /// The most blocks that are out at once.
  public let limit: Int
  private let state = Mutex(State())

  /// Bytes owned by the pool alone while they lie in it.
  private struct State: @unchecked Sendable {
    var free: [UnsafeMutableRawBufferPointer] = []
    var out = 0
  }

  /// A pool of at most `limit` blocks of `bufferSize` bytes each, none allocated yet.
  public init(bufferSize: Int = 256 * 1024, limit: Int) {
    self.bufferSize = bufferSize
    self.limit = limit
  }

  deinit {
    state.withLock { for storage in $0.free { storage.deallocate() } }
  }

  /// A block, or `nil` while `limit` of them are out.
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
      // A short reserve serves the steady state; memory of a burst goes back to the system.
      if state.free.count < 32 { state.free.append(storage) } else { storage.deallocate() }
    }
  }
}
