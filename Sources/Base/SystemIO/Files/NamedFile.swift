/// A small file that a setting or an argument names, such as a certificate. It may be a link.
public enum NamedFile {
  /// Why a file can't be read.
  public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    case missing
    case folder
    /// A pipe, a device or a socket. It is not read, because it could keep the reader waiting for ever.
    case notRegular
    case tooLong(limit: Int)
    case system(SystemError)

    /// The reason, as the end of a sentence.
    public var description: String {
      switch self {
      case .missing: "there is no such file"
      case .folder: "it is a folder, not a file"
      case .notRegular: "it is a pipe, a device or a socket, not a regular file"
      case .tooLong(let limit): "it has more than \(limit) bytes"
      case .system(let failure): "\(failure)"
      }
    }
  }

  /// Returns all bytes of the file at `path`. Never waits for the writer of a pipe.
  /// - Parameters:
  ///   - path: the file, or a link to one.
  ///   - limit: the most bytes that the file may have.
  public static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
    let file = try open(path)
    let bytes: [UInt8]
    do { bytes = try file.read(upTo: limit + 1, at: 0) } catch { throw .system(error) }
    guard bytes.count <= limit else { throw .tooLong(limit: limit) }
    return bytes
  }

  private static func open(_ path: String) throws(Failure) -> File {
    let resolved: String
    let kind: OpenFolder.Status.Kind?
    do {
      resolved = try Folder.resolvingLink(path)
      kind = try Folder.kind(of: resolved)
      // A device is not even opened: that can have an effect. Another file can get the name in between.
      if kind == .file, let file = try regular(resolved) { return file }
    } catch {
      throw error.isNotFound ? .missing : .system(error)
    }
    switch kind {
    case nil: throw .missing
    case .folder: throw .folder
    case .file, .link, .other: throw .notRegular
    }
  }

  private static func regular(_ path: String) throws(SystemError) -> File? {
    let file = try File(path)
    return try file.isRegular ? file : nil
  }
}
