package import SystemIO

/// The two disk operations of a repository. Tests replace them to simulate failures.
package struct Disk: Sendable {
  /// The operating system's error.
  package typealias Failure = SystemError

  /// Reads a file up to a number of bytes; returns `nil` if the file does not exist.
  package var read: @Sendable (_ path: String, _ limit: Int) throws(Failure) -> [UInt8]?
  /// Replaces a file atomically and durably. Creates its folder if it is missing.
  package var replace: @Sendable (_ path: String, _ bytes: [UInt8]) throws(Failure) -> Void

  package init(
    read: @escaping @Sendable (_ path: String, _ limit: Int) throws(Failure) -> [UInt8]?,
    replace: @escaping @Sendable (_ path: String, _ bytes: [UInt8]) throws(Failure) -> Void
  ) {
    self.read = read
    self.replace = replace
  }

  /// The operations of the real file system.
  package static let real = Disk(read: readFile, replace: replaceFile)

  private static func readFile(_ path: String, upTo limit: Int) throws(SystemError) -> [UInt8]? {
    do {
      let file = try File(path)
      return try file.read(upTo: min(limit, Int(clamping: file.size)), at: 0)
    } catch  where error.isNotFound {
      return nil
    }
  }

  private static func replaceFile(_ path: String, with bytes: [UInt8]) throws(SystemError) {
    do {
      try DurableFile.replace(path, with: bytes)
    } catch  where error.isNotFound {
      try Folder.createDurably(Folder.parent(of: path))
      try DurableFile.replace(path, with: bytes)
    }
  }
}

extension RepositoryError {
  /// Maps a failed write to `outOfSpace` or `notWritten`.
  init(notWritten error: SystemError) {
    self.init(error.isOutOfSpace ? .outOfSpace : .notWritten, "\(error)")
  }
}
