import SystemIO

/// Locks a storage folder against other servers.
///
/// The folder itself is locked, not only the file `lock` in it: after that file is removed and created again, the new
/// file is not locked. Some network file systems can't lock folders; there only the file is locked.
struct StorageLock: Sendable {
  private let held: [File]

  /// Acquires the lock; `nil` if another server holds it.
  init?(_ layout: StorageLayout) throws(SystemError) {
    var held: [File] = []
    let folder = try File(layout.root)
    do {
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

  /// Releases the lock.
  func release() throws(SystemError) {
    for file in held { try file.unlock() }
  }
}
