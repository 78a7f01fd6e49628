import SystemIO

/// The disk space for copies of viewed files. The copies leave a reserve free, and give all of their space back at once
/// when an upload needs it. Thread-safe.
package final class CopySpace: Sendable {
  private struct Weak {
    weak var copy: CopyFile?
  }

  private let folder: String
  private let reserve: Int64
  private let availableBytes: @Sendable (String) throws(SystemError) -> Int64
  private let copies = Lock<[ObjectIdentifier: Weak]>([:])

  /// - Parameters:
  ///   - folder: the folder on whose disk the copies are.
  ///   - reserve: the number of bytes of the disk that copies leave free.
  package convenience init(folder: String, reserve: Int64 = 0) {
    self.init(folder: folder, reserve: reserve) { path throws(SystemError) in
      try Folder.availableBytes(path)
    }
  }

  /// - Parameter availableBytes: measures the free space on the disk of a folder.
  init(
    folder: String, reserve: Int64, availableBytes: @escaping @Sendable (String) throws(SystemError) -> Int64
  ) {
    (self.folder, self.reserve, self.availableBytes) = (folder, reserve, availableBytes)
  }

  /// Gives the space of all copies back. Reading one of them then throws ``ViewerError/outOfSpace``. Blocks for the disk.
  package func reclaim() {
    for copy in copies.withLock({ $0.values.compactMap(\.copy) }) { copy.giveBack() }
  }

  /// Creates an empty copy.
  func makeCopy() throws(ViewerError) -> CopyFile {
    let file: File
    do { file = try File(temporaryIn: folder) } catch { throw ViewerError(writing: error) }
    let copy = CopyFile(file, in: self)
    copies.withLock { $0[ObjectIdentifier(copy)] = Weak(copy: copy) }
    return copy
  }

  fileprivate func forget(_ copy: ObjectIdentifier) { copies.withLock { _ = $0.removeValue(forKey: copy) } }

  /// Throws ``ViewerError/outOfSpace`` if `count` more bytes would use the reserve.
  fileprivate func requireRoom(for count: Int) throws(ViewerError) {
    let available: Int64
    do { available = try availableBytes(folder) } catch { throw .system(error) }
    guard available - Int64(count) >= reserve else { throw .outOfSpace }
  }
}

/// A copy in a ``CopySpace``: a file without a name, which the system removes with the last reference, also after a
/// crash. Thread-safe.
final class CopyFile: Sendable {
  let file: File
  private let space: CopySpace
  private let hasGivenBack = Lock(false)

  fileprivate init(_ file: File, in space: CopySpace) { (self.file, self.space) = (file, space) }

  deinit { space.forget(ObjectIdentifier(self)) }

  /// Whether the contents are lost.
  var isLost: Bool { hasGivenBack.value }

  /// Throws ``ViewerError/outOfSpace`` if the contents are lost. Call it after reading.
  func requireContents() throws(ViewerError) {
    if isLost { throw .outOfSpace }
  }

  /// Writes `bytes` at `offset`. Blocks.
  func write(_ bytes: [UInt8], at offset: Int) throws(ViewerError) {
    try requireContents()
    try space.requireRoom(for: bytes.count)
    do { try file.write(bytes, at: Int64(offset)) } catch { throw ViewerError(writing: error) }
    // The space was possibly given back before these bytes were written.
    guard isLost else { return }
    truncate()
    throw .outOfSpace
  }

  fileprivate func giveBack() {
    hasGivenBack.set(true)
    truncate()
  }

  /// A file that can't be truncated gives its space back when it is closed.
  private func truncate() {
    do { try file.truncate(to: 0) } catch {}
  }
}

extension ViewerError {
  /// The error of writing a copy.
  fileprivate init(writing error: SystemError) { self = error.isOutOfSpace ? .outOfSpace : .system(error) }
}
