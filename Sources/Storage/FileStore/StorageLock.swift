import SystemIO

/// Keeps all other servers out of a storage folder.
///
/// The folder itself is locked and not only the file `lock` in it: a file can be removed and made again, and the lock of
/// the new one is free. Some network file systems lock no folders; there the file alone counts.
struct StorageLock: Sendable {
  private let held: [File]

  /// Takes the lock; `nil` where another server holds it.
  init?(_ layout: StorageLayout) throws(SystemError) {
    var held: [File] = []
    let folder = try File(layout.root)
    do throws(SystemError) {
      guard try folder.tryLock() else { return nil }
      held.append(folder)
    } catch {
      guard error.isUnsupported else { throw error }
    }
    let file = try File(layout.lock, .openOrCreate(mode: 0o600))
    guard try file.tryLock() else { return nil }
    held.append(file)
    self.held = held
  }

  /// Gives the lock back.
  func release() throws(SystemError) {
    for file in held { try file.unlock() }
  }
}
