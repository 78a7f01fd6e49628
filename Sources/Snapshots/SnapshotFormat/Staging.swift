import Foundation
import SystemIO

/// A place beside a final name, where something is built before it gets that name.
struct Staging {
  /// The folder that holds both.
  let folder: String
  /// The place, which nobody else uses.
  let path: String

  init(beside final: URL) {
    folder = Folder.parent(of: final.path)
    path = folder + "/" + StagedName.make()
  }

  /// Removes what was built. Used after a failure, which is the one to tell; a second one adds nothing to it.
  func remove() {
    do { try Folder.removeTree(path) } catch {}
  }
}
