#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A sanitizer that the tests are built with, and that costs them several times the time and the memory.
public enum Sanitizer {
  /// Whether there is one.
  public static let isActive: Bool = {
    guard let program = dlopen(nil, RTLD_NOW) else { return false }
    defer { dlclose(program) }
    return dlsym(program, "__asan_init") != nil || dlsym(program, "__tsan_init") != nil
  }()

  /// How many times as long as without one a test may take.
  public static let slowness = isActive ? 10 : 1
}

extension Duration {
  /// A limit that a test has to keep: this, or more under a sanitizer.
  public var patient: Duration { self * Sanitizer.slowness }
}
