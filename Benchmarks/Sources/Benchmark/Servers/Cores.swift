import CBenchmark
import Glibc

/// The cores of the server and the generator: one for each if there are at least two.
enum Cores {
  static let count = Int32(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  static let server: Int32 = count > 1 ? 0 : -1
  static let generator: Int32 = count > 1 ? 1 : -1
  static let all: Int32 = -1

  /// Binds the calling thread, and the threads and processes that it starts from now on, to `core`.
  static func bind(to core: Int32) { _ = benchmark_pin(core) }
}
