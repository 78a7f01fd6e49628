package import SnapshotFormat
import SnapshotStore
package import SystemIO

/// The bundles of a storage folder that were published and whose files are gone. Reads the names of all files; a server
/// can use the storage at the same time.
package struct LostBundles: Sendable {
  /// Their number.
  package private(set) var count = 0
  /// The first of them.
  package private(set) var first: [SnapshotID] = []

  /// - Parameters:
  ///   - storage: the storage folder.
  ///   - limit: the most bundles that are named.
  package init(in storage: String, naming limit: Int) throws(SystemError) {
    let layout = StorageLayout(root: storage)
    for shard in SnapshotShard.allCases {
      for (id, kinds) in try layout.kinds(in: shard).sorted(by: { $0.key < $1.key }) where kinds.areLost {
        // It can have been changed while the names were read.
        guard try layout.kinds(of: id).areLost else { continue }
        count += 1
        if first.count < limit { first.append(id) }
      }
    }
  }
}

extension Set<StorageLayout.Kind> {
  fileprivate var areLost: Bool { contains(.record) && isDisjoint(with: [.bundle, .damaged, .tombstone]) }
}
