import SnapshotStore
import SystemIO

/// A storage folder that was locked and inspected for a store which does not use it yet.
struct OpenedFolder {
  let layout: StorageLayout
  let lock: StorageLock
  /// The clean stop that the folder was left with; `nil` if it has to be repaired.
  let stop: CleanStop?
  let shards: [SnapshotShard]
  /// The names in `uploads/`.
  let uploads: [String]

  /// Locks the folder, creating it if it is missing. Blocks.
  init(
    _ configuration: FileBundleStore.Configuration, faults: FaultInjection
  ) throws(FileBundleStore.OpeningError) {
    try Self.requireSound(configuration.path)
    try StorageCompleteness.requireStorage(configuration.path)
    let opened: Self?
    do {
      opened = try Self(locking: configuration, faults)
    } catch {
      throw .system(error)
    }
    guard let opened else { throw .inUse(path: configuration.path) }
    self = opened
  }

  /// `nil` if another server holds the lock.
  private init?(
    locking configuration: FileBundleStore.Configuration, _ faults: FaultInjection
  ) throws(SystemError) {
    layout = StorageLayout(root: configuration.path)
    try Folder.createDurably(layout.root)
    var isNew = false
    for folder in [layout.bundles, layout.uploads] where try Folder.kind(of: folder) == nil {
      try Folder.create(folder)
      isNew = true
    }
    // A lock without bundles is taken for a loss.
    if isNew { try Folder.synchronize(layout.root) }
    guard let lock = try StorageLock(layout) else { return nil }
    self.lock = lock
    stop = configuration.repairs ? nil : try CleanStop.read(layout, faults)
    shards = try layout.shards()
    uploads = try Folder.entries(layout.uploads)
    if stop == nil || isNew { try synchronize() }
  }

  /// Throws ``FileBundleStore/OpeningError/flawed(_:)`` before anything is made that would hide a loss.
  private static func requireSound(_ path: String) throws(FileBundleStore.OpeningError) {
    let flaws: [StorageFlaw]
    do { flaws = try StorageFlaw.all(in: path) } catch { throw .system(error) }
    if let flaw = flaws.first { throw .flawed(flaw) }
  }

  /// Makes the names of the shards' folders durable.
  private func synchronize() throws(SystemError) {
    // A process that was killed may have created the folder without flushing its name. It is then still empty.
    if shards.isEmpty { try Folder.synchronize(Folder.parent(of: layout.root)) }
    for folder in [layout.bundles, layout.root] { try Folder.synchronize(folder) }
  }

  /// The parts to repair.
  var damagedParts: [Recovery.Part] { [.uploads] + (stop == nil ? shards.map(Recovery.Part.shard) : []) }
}
