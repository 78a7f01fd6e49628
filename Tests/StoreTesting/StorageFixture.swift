package import FileStore
import Foundation
import Logging
package import SnapshotFormat
import SnapshotStore
import SystemIO
package import TestSupport

/// The storage folder of one test, and its contents as seen from outside a store.
package struct StorageFixture: Sendable {
  package let folder: TemporaryFolder
  package let path: String

  package init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/Storage"
  }

  /// Opens the store.
  /// - Parameter waits: whether to return only when the store is repaired.
  package func open(
    _ configure: (inout FileBundleStore.Configuration) -> Void = { _ in },
    faults: FaultInjection = FaultInjection(),
    at path: String? = nil, waits: Bool = true
  ) async throws -> FileBundleStore {
    var configuration = FileBundleStore.Configuration(
      path: path ?? self.path, validator: .samples, reserve: 0)
    configure(&configuration)
    let store = try await FileBundleStore.open(configuration, logger: .quiet, faults: faults)
    if waits { await store.recovered() }
    return store
  }

  /// Opens a copy of a storage, and does not wait until it is repaired.
  package static func open(
    _ path: String, faults: FaultInjection = FaultInjection()
  ) async throws -> FileBundleStore {
    try await FileBundleStore.open(
      FileBundleStore.Configuration(path: path, validator: .samples, reserve: 0), logger: .quiet,
      faults: faults)
  }

  /// Copies the storage as a killed server would leave it.
  package func copyAfterCrash(_ name: String = "crashed") throws -> String {
    let copy = folder.path + "/" + name
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try Folder.removeIfPresent(copy + "/clean")
    return copy
  }

  package func file(_ id: SnapshotID, _ suffix: String) -> String {
    "\(path)/bundles/\(id.description.prefix(2))/\(id).\(suffix)"
  }

  /// Every file and folder of the storage by its relative path.
  package func entries(of path: String? = nil) throws -> [String] {
    let root = path ?? self.path
    return try FileManager.default.subpathsOfDirectory(atPath: root).sorted()
  }

  /// The permission bits of a file or folder.
  package func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }
}
