#if canImport(Glibc)
  private import CPlatform
  import Glibc
#endif

/// The program's machine code, as far as it lies in memory.
public enum ProgramCode {
  /// Lets go of the pages that starting has touched, most of which nothing asks for again; what is, comes back from the
  /// system's cache of the file, or from the file. Gives whether it did: on Linux alone, and not under a debugger, which
  /// keeps its breakpoints in copies of these pages.
  ///
  /// For the whole process; meant to be called once, when all is ready.
  @discardableResult
  public static func releasePages() -> Bool {
    #if canImport(Glibc)
      guard !isTraced else { return false }
      let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
      let start = (UInt(bitPattern: snapshot_code_start()) + page - 1) / page * page
      let end = UInt(bitPattern: snapshot_code_end()) / page * page
      guard start < end else { return false }
      return madvise(UnsafeMutableRawPointer(bitPattern: start), Int(end - start), MADV_DONTNEED) == 0
    #else
      return false
    #endif
  }

  #if canImport(Glibc)
    private static var isTraced: Bool {
      do {
        let status = try File("/proc/self/status").read(upTo: 4096, at: 0)
        return !String(decoding: status, as: UTF8.self).contains("TracerPid:\t0\n")
      } catch {
        return true
      }
    }
  #endif
}
