#if canImport(Glibc)
  private import CPlatform
#endif

/// Memory that the program has freed and may soon ask for again.
public enum FreedMemory {
  /// Lets each part of the heap keep up to `bytes` that were freed at its end rather than giving them back at once, and
  /// takes blocks of up to as many bytes from the heap. Gives whether it did: on Linux with glibc alone.
  ///
  /// Of its own accord glibc gives back all past 128 KiB. A thread that takes a little more for each file that it looks
  /// into would then ask the system for the same pages again and again, and have them cleared each time.
  ///
  /// For the whole process; meant to be called once, at its start.
  @discardableResult
  public static func keep(upTo bytes: Int32) -> Bool {
    #if canImport(Glibc)
      // Both, since to set one ends glibc's own adjusting of the other.
      return mallopt(Int32(SNAPSHOT_M_MMAP_THRESHOLD), bytes) == 1
        && mallopt(Int32(SNAPSHOT_M_TRIM_THRESHOLD), bytes) == 1
    #else
      return false
    #endif
  }
}
