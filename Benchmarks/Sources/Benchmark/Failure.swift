import Glibc

/// The reason why something could not be measured.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// The message for `errno`.
  static var lastError: String { String(cString: strerror(errno)) }
}
