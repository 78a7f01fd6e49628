import FileStore
import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport

@testable import FileStore

/// The storage folder of one test, and its contents as seen from outside a store.
struct StorageFixture: Sendable {
  let folder: TemporaryFolder
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/Storage"
  }

  /// Opens the store.
  /// - Parameter waits: whether to return only when the store is repaired.
  func open(
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

  /// Copies the storage as a killed server would leave it.
  func copyAfterCrash(_ name: String = "crashed") throws -> String {
    let copy = folder.path + "/" + name
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try Folder.removeIfPresent(copy + "/clean")
    return copy
  }

  func file(_ id: SnapshotID, _ suffix: String) -> String {
    "\(path)/bundles/\(id.description.prefix(2))/\(id).\(suffix)"
  }

  /// Every file and folder of the storage by its relative path.
  func entries(of path: String? = nil) throws -> [String] {
    let root = path ?? self.path
    return try FileManager.default.subpathsOfDirectory(atPath: root).sorted()
  }

  /// The permission bits of a file or folder.
  func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }
}

/// Records the steps of a store, and makes selected ones fail.
final class StepProbe: Sendable {
  private struct State {
    var failing: [Step: Int32] = [:]
    var seen: [Step] = []
  }

  private let state = Lock(State())

  /// The hooks to open a store with.
  var faults: FaultInjection { FaultInjection(before: { step throws(SystemError) in try self.meet(step) }) }

  /// From now on `step` fails with `code`, until ``stopFailing()`` is called.
  func fail(_ step: Step, with code: POSIXErrorCode = .EIO) {
    state.withLock { $0.failing[step] = code.rawValue }
  }

  func stopFailing() { state.withLock { $0.failing = [:] } }

  func stopFailing(_ step: Step) { state.withLock { $0.failing[step] = nil } }

  /// The steps since the last call.
  func takeSeen() -> [Step] {
    state.withLock { state in
      defer { state.seen = [] }
      return state.seen
    }
  }

  private func meet(_ step: Step) throws(SystemError) {
    let code = state.withLock { state in
      state.seen.append(step)
      return state.failing[step]
    }
    if let code { throw SystemError(operation: "\(step)", code: code) }
  }
}

extension FaultInjection {
  /// Hooks under which every folder seems unchanged.
  static let unchangedFolders = FaultInjection(stamp: { _ in "unchanged" })
}
