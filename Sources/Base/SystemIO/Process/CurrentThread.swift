#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The thread that asks.
public enum CurrentThread {
  /// Unlike that of every other thread that runs now; never 0.
  public static var id: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }

  /// Leaves the processor to all others that want it, from now on and for good: only for threads that end with their
  /// work.
  public static func giveWay() {
    #if canImport(Darwin)
      pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0)
    #else
      // For Linux, process 0 is the calling thread.
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
    #endif
  }
}
