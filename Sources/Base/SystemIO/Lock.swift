#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A value that only one thread uses at a time. Safe to use from any thread.
///
/// Like the standard library's `Mutex`, which needs iOS 18. A thread that waits for the lock is blocked; one that has it
/// must not lock it again. The value should not be empty: it would have the address of the lock itself, whose use
/// ThreadSanitizer would take for a race.
///
/// - Invariant: `protected` is accessed only by the thread that has locked `primitive`. This makes `@unchecked Sendable`
///   correct.
public final class Lock<Value: ~Copyable>: @unchecked Sendable {
  #if canImport(Darwin)
    private typealias Primitive = os_unfair_lock
  #else
    private typealias Primitive = pthread_mutex_t
  #endif

  /// Allocated, because the system requires that the address does not change.
  private let primitive: UnsafeMutablePointer<Primitive>
  @usableFromInline nonisolated(unsafe) var protected: Value

  /// Creates a lock that protects `value`.
  public init(_ value: consuming sending Value) {
    protected = value
    primitive = .allocate(capacity: 1)
    primitive.initialize(to: Primitive())
    #if !canImport(Darwin)
      // With no attributes, this can't fail.
      pthread_mutex_init(primitive, nil)
    #endif
  }

  deinit {
    #if !canImport(Darwin)
      pthread_mutex_destroy(primitive)
    #endif
    primitive.deinitialize(count: 1)
    primitive.deallocate()
  }

  /// Waits until no other thread uses the value, and calls `body` with it.
  @inlinable public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock()
    defer { unlock() }
    return try body(&protected)
  }

  @usableFromInline func lock() {
    #if canImport(Darwin)
      os_unfair_lock_lock(primitive)
    #else
      pthread_mutex_lock(primitive)
    #endif
  }

  @usableFromInline func unlock() {
    #if canImport(Darwin)
      os_unfair_lock_unlock(primitive)
    #else
      pthread_mutex_unlock(primitive)
    #endif
  }
}

extension Lock where Value: Sendable {
  /// A copy of the value.
  @inlinable public var value: Value { withLock { $0 } }

  /// Replaces the value.
  @inlinable public func set(_ value: Value) { withLock { $0 = value } }

  /// Replaces the value, and returns the former one.
  @inlinable public func exchange(_ value: Value) -> Value {
    withLock { current in
      let former = current
      current = value
      return former
    }
  }
}

extension Lock where Value: FixedWidthInteger & Sendable {
  /// Adds `number`, which must not overflow, and returns the sum.
  @discardableResult @inlinable public func add(_ number: Value) -> Value {
    withLock { value in
      value += number
      return value
    }
  }
}
