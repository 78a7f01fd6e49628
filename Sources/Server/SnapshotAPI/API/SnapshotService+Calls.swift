package import AccessControl
import Foundation
import HTTPEngine
import Observability
package import SnapshotFormat
package import SnapshotService
package import SnapshotStore

/// What a request may do with the snapshot in its path.
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

  /// Returns the record of the snapshot in the path of `call`, to delete or change it. Throws if the caller may not
  /// delete it.
  package func deletable(for call: APIRequest) async throws -> SnapshotRecord {
    let id = try call.value(of: .id)
    do {
      let record = try await call.caller.lookUp { () throws(StoreError) in
        try await self.record(id)
      } visible: {
        call.caller.mayDelete($0)
      }
      call.concerns(record)
      return record
    } catch StoreError.deleted {
      // A client that repeats a deletion whose server ended relies on its effect.
      try await completeDeletion(of: id)
      throw StoreError.deleted
    }
  }

  /// Returns the id of the snapshot in the path of `call`. Throws if the caller may not comment on it.
  package func commentable(for call: APIRequest) async throws -> SnapshotID {
    let id = try call.value(of: .id)
    let record = try await call.caller.lookUp { () throws(StoreError) in
      try await self.record(id)
    } visible: {
      call.caller.mayComment(on: $0)
    }
    call.concerns(record)
    return id
  }

  /// Adds a comment of `caller`, and returns it.
  package func comment(
    _ text: String, on id: SnapshotID, by caller: Caller, limits: SnapshotComment.Limits
  ) async throws -> SnapshotComment {
    let comment = SnapshotComment(
      text, writtenAt: Date(), author: caller.name ?? caller.token, token: caller.account, limits: limits)
    guard let comment else {
      throw HTTPProblem.malformedChange(
        "A comment must have 1 to \(limits.textBytes) bytes, and no NUL character.")
    }
    return try await self.comment(comment, on: id)
  }
}
