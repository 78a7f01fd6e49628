import AccessControl
import Observability
import SnapshotFormat
package import SnapshotStore

extension SnapshotService {
  /// Returns the bundle of the snapshot in the path of `call`. Throws if the caller may not read it.
  package func bundle(for call: APIRequest) async throws -> StoredBundle {
    // The record is checked first: a caller who may not read it must not learn that the bundle is damaged.
    let bundle = try await open(try await readableRecord(for: call).id)
    call.concerns(bundle.record)
    return bundle
  }

  /// Returns the record of the snapshot in the path of `call`. Throws if the caller may not read the bundle.
  func readableRecord(for call: APIRequest) async throws -> SnapshotRecord {
    let id = try call.value(of: .id)
    return try await call.caller.lookUp { () throws(StoreError) in
      try await record(id)
    } visible: {
      call.caller.mayRead($0)
    }
  }
}
