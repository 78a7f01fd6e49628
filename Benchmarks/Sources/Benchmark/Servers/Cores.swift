import CBenchmark
import Glibc

/// Server and generator each get a core, where there are two.
enum Cores {
  static let count = Int32(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  static let server: Int32 = count > 1 ? 0 : -1
  static let generator: Int32 = count > 1 ? 1 : -1
  static let all: Int32 = -1

  /// Binds the calling thread, and what it starts from here on.
  static func bind(to core: Int32) { _ = benchmark_pin(core) }
}
