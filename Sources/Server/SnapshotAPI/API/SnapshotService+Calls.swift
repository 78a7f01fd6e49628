import AccessControl
import Observability
package import SnapshotStore

extension SnapshotService {
  /// The bundle that `call` is about, if the caller may read it.
  package func bundle(for call: APIRequest) async throws -> StoredBundle {
    let id = try call.value(of: .id)
    // The record first: who may not see a damaged bundle is not told that it is damaged.
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
