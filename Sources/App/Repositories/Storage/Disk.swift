package import SystemIO

/// The two things that a repository asks of a disk, so that tests can have one that fails.
package struct Disk: Sendable {
  /// What the system says when it fails.
  package typealias Failure = SystemError

  /// The contents of a file, up to a number of bytes; `nil` where there is no file.
  package var read: @Sendable (_ path: String, _ limit: Int) throws(Failure) -> [UInt8]?
  /// Replaces a file, its folder made where it is missing: the old contents or the new, never anything between.
  package var replace: @Sendable (_ path: String, _ bytes: [UInt8]) throws(Failure) -> Void

  package init(
    read: @escaping @Sendable (_ path: String, _ limit: Int) throws(Failure) -> [UInt8]?,
    replace: @escaping @Sendable (_ path: String, _ bytes: [UInt8]) throws(Failure) -> Void
  ) {
    self.read = read
    self.replace = replace
  }

  /// The disk of this machine.
  package static let real = Disk(read: readFile, replace: replaceFile)

  private static func readFile(_ path: String, upTo limit: Int) throws(SystemError) -> [UInt8]? {
    do throws(SystemError) {
      let file = try File(path)
      return try file.read(upTo: min(limit, Int(clamping: file.size)), at: 0)
    } catch  where error.isNotFound {
      return nil
    }
  }

  private static func replaceFile(_ path: String, with bytes: [UInt8]) throws(SystemError) {
    do throws(SystemError) {
      try DurableFile.replace(path, with: bytes)
    } catch  where error.isNotFound {
      try Folder.createDurably(Folder.parent(of: path))
      try DurableFile.replace(path, with: bytes)
    }
  }
}

extension RepositoryError {
  /// Why a file could not be written.
  init(notWritten error: SystemError) {
    self.init(error.isOutOfSpace ? .outOfSpace : .notWritten, "\(error)")
  }
}
