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
}
