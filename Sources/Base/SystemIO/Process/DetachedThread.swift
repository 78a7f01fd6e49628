#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A detached system thread, for work that would block a queue's thread for too long.
///
/// Foundation's `Thread` would link Foundation into every program that embeds a server, at a cost of megabytes of
/// memory and milliseconds of start-up time.
enum DetachedThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a new thread, which ends when `body` returns.
  /// - Returns: `false` if the system cannot create a thread. `body` is then not called.
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

/// The calling thread.
public enum CurrentThread {
  /// Identifies the thread among all running threads; never 0.
  public static var id: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }

  /// Gives the thread the lowest priority, permanently. Only for threads that end with their work.
  public static func giveWay() {
    #if canImport(Darwin)
      pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0)
    #else
      // For Linux, process 0 is the calling thread.
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
    #endif
  }
}
