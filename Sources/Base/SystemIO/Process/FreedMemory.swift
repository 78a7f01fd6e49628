#if canImport(Glibc)
  private import CPlatform
#endif

/// Memory that the program has freed and is likely to allocate again soon.
public enum FreedMemory {
  /// Lets each heap keep up to `bytes` of freed memory at its end instead of returning it to the system at once, and
  /// allocates blocks of up to `bytes` from the heap. Affects the whole process; call it once, at its start.
  ///
  /// By default, glibc returns everything above 128 KiB. A thread that allocates a little more for each file that it
  /// reads would then request the same pages from the system repeatedly, and the system would clear them each time.
  ///
  /// - Returns: Whether the setting was applied. Always `false` on systems other than Linux with glibc.
  @discardableResult
  public static func keep(upTo bytes: Int32) -> Bool {
    #if canImport(Glibc)
      // Both are set, because setting either turns off glibc's automatic adjustment of the other.
      return mallopt(Int32(SNAPSHOT_M_MMAP_THRESHOLD), bytes) == 1
        && mallopt(Int32(SNAPSHOT_M_TRIM_THRESHOLD), bytes) == 1
    #else
      return false
    #endif
  }

  /// Returns the pages of all heaps that contain only freed memory to the system. It takes some milliseconds for each
  /// 100 MB, in which other threads can wait for their heaps.
  ///
  /// By default, glibc returns only what is at the end of a heap, so that a single block keeps everything before it.
  ///
  /// - Returns: Whether memory was returned. Always `false` on systems other than Linux with glibc.
  @discardableResult
  public static func returnToSystem() -> Bool {
    #if canImport(Glibc)
      return malloc_trim(0) == 1
    #else
      return false
    #endif
  }
}
