#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A thread of the system's own, for work that no queue's thread should do.
///
/// Foundation has one too, at the price of linking Foundation into whatever has a server: megabytes of memory and
/// milliseconds of start-up.
enum DetachedThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Does `body` on a new thread, which ends with it.
  /// - Returns: `false`, and nothing is done, where the system has no thread left.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Work(body)).toOpaque()
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    guard pthread_create(&thread, nil, run, work) == 0 else {
      Unmanaged<Work>.fromOpaque(work).release()
      return false
    }
    #if canImport(Darwin)
      if let thread { pthread_detach(thread) }
    #else
      pthread_detach(thread)
    #endif
    return true
  }

  fileprivate static func finish(_ work: UnsafeMutableRawPointer) {
    Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
  }
}

#if canImport(Darwin)
  private func run(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    DetachedThread.finish(work)
    return nil
  }
#else
  private func run(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work { DetachedThread.finish(work) }
    return nil
  }
#endif
