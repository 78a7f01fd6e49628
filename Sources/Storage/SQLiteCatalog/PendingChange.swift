import Foundation
import SnapshotStore

/// A change that waits to be written, together with others that wait.
struct PendingChange: Sendable {
  enum Kind: Sendable {
    case insert([PreparedRecord])
    case remove(Data)
  }

  let kind: Kind
  let finish: @Sendable (CatalogError?) -> Void
}
