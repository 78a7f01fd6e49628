import AccessControl
import Observability
package import SnapshotStore

extension SnapshotService {
  /// Returns the bundle of the snapshot in the path of `call`. Throws if the caller may not read it.
  package func bundle(for call: APIRequest) async throws -> StoredBundle {
    let id = try call.value(of: .id)
    // The record is checked first: a caller who may not read it must not learn that the bundle is damaged.
    _ = try await call.caller.lookUp { () throws(StoreError) in
      try await record(id)
    } visible: {
      call.caller.mayRead($0)
    }
    let bundle = try await open(id)
    call.concerns(bundle.record)
    return bundle
  }
}
