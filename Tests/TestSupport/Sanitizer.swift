#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The sanitizer that the tests are built with, if any. It multiplies their time and memory.
public enum Sanitizer {
  /// Whether the tests are built with a sanitizer.
  public static let isActive: Bool = {
    guard let program = dlopen(nil, RTLD_NOW) else { return false }
    defer { dlclose(program) }
    return dlsym(program, "__asan_init") != nil || dlsym(program, "__tsan_init") != nil
  }()

  /// The factor for the time limits of tests.
  public static let slowness = isActive ? 10 : 1
}

extension Duration {
  /// A time limit for a test, multiplied if a sanitizer is active.
  public var patient: Duration { self * Sanitizer.slowness }
}
