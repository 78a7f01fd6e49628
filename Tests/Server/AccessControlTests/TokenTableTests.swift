import Foundation
import Logging
import SnapshotServer
import SystemIO
import TestSupport
import Testing

@testable import AccessControl

@Suite struct TokenTableTests {
  @Test func `calls that arrived before a comparison share its result, and later ones see every change`()
    async throws
  {
    let temporary = try TemporaryFolder()
    let store = TokenStore(storage: temporary.file("storage").path)
    let table = TokenTable(store, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let (first, _) = try store.create(.init(scopes: [.read]))
    let arrival = SystemClock.monotonicNanoseconds
    #expect(try await table.current().token(id: first.id) != nil)
    let (second, _) = try store.create(.init(scopes: [.read]))
    #expect(try await table.current(since: arrival).token(id: second.id) == nil)
    #expect(try await table.current().token(id: second.id) != nil)
    #expect(try await table.current(since: arrival).token(id: second.id) != nil)
  }

  @Test func `calls need a token although all tokens and their key were removed while the server runs`()
    async throws
  {
    let temporary = try TemporaryFolder()
    let store = TokenStore(storage: temporary.file("storage").path)
    let table = TokenTable(store, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    #expect(try await !table.current().wereMade)
    _ = try store.create(.init(scopes: [.read]))
    #expect(try await table.current().wereMade)
    try Folder.removeTree(temporary.file("storage").path)
    #expect(try await table.current().wereMade)
  }
}
