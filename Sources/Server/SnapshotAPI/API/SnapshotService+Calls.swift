import AccessControl
import HTTPEngine
import Observability
import SnapshotFormat
package import SnapshotService
package import SnapshotStore

extension SnapshotService {
  /// Returns the bundle of the snapshot in the path of `call`, to read its contents. Throws if the caller may not read it,
  /// or if it is sealed.
  package func bundle(for call: APIRequest) async throws -> StoredBundle {
    // The record is checked first: a caller who may not read it must not learn that the bundle is damaged.
    let id = try call.value(of: .id)
    let bundle = try await call.caller.lookUp { () throws(StoreError) in
      try await store.open(id, if: call.caller.mayRead)
    }
    call.concerns(bundle.record)
    guard bundle.record.sealed == nil else { throw HTTPProblem.sealed(bundle.record) }
    return bundle
  }

  /// Returns the bundle of the snapshot in the path of `call`, to be sent. Throws if the caller may not read it.
  func contents(for call: APIRequest) async throws -> BundleContents {
    let id = try call.value(of: .id)
    let contents = try await call.caller.lookUp { () throws(StoreError) in
      try await store.contents(id, if: call.caller.mayRead)
    }
    call.concerns(contents.record)
    return contents
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
