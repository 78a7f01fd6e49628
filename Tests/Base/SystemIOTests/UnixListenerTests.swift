import Foundation
import SystemIO
import TestSupport
import Testing

@Suite struct UnixListenerTests {
  private let folder: TemporaryFolder
  private let path: SocketPath

  init() throws {
    folder = try TemporaryFolder()
    path = try #require(SocketPath(folder.path + "/http.sock"))
  }

  private func permissions() throws -> UInt16? { try Folder.ownership(of: path.text)?.permissions }

  @Test func `a path has at most as many bytes as the system permits`() {
    let longest = String(repeating: "a", count: SocketPath.maximumLength)
    #expect(SocketPath(longest)?.text == longest)
    #expect(SocketPath(longest + "a") == nil)
    #expect(SocketPath(String(longest.dropLast()) + "ä") == nil)
    #expect(SocketPath("") == nil)
    #expect(SocketPath("a\0b") == nil)
    #expect(SocketPath("/run/a.sock")?.description == "unix:/run/a.sock")
    #if os(Linux)
      #expect(SocketPath.maximumLength == 107)
    #endif
  }

  @Test func `the longest path can be listened at`() throws {
    let rest = SocketPath.maximumLength - folder.path.utf8.count - 1
    let path = try #require(SocketPath(folder.path + "/" + String(repeating: "a", count: rest)))
    let listener = try UnixListener(at: path, mode: 0o600)
    #expect(try listener.socket.localAddress == .unix(path))
    #expect(try UnixListener.isListening(path))
  }

  @Test(arguments: [0o600, 0o660, 0o666, 0o777] as [UInt16])
  func `the file has the given permissions, and is removed`(mode: UInt16) throws {
    let listener = try UnixListener(at: path, mode: mode)
    #expect(try permissions() == mode)
    let address = try listener.socket.localAddress
    #expect(address == .unix(path) && address.port == 0 && address.isLocal)
    _ = try RawHTTPClient(path: path, tls: nil)
    // A connection that waits is accepted without the file too.
    try listener.removeFile()
    #expect(try permissions() == nil)
    let accepted = try #require(try listener.socket.accept())
    #expect(accepted.peer == nil)
    // Options of TCP are left out.
    try accepted.socket.sendFullSegments(true)
    try listener.removeFile()
  }

  @Test func `the file of a socket on which nobody listens is replaced, and no other`() throws {
    let former = try UnixListener(at: path, mode: 0o600)
    #expect(try UnixListener.isListening(path))
    #expect(throws: UnixListener.Failure.inUse) { try UnixListener(at: path, mode: 0o600) }
    former.socket.close()
    #expect(try permissions() == 0o600)
    #expect(try !UnixListener.isListening(path))
    let next = try UnixListener(at: path, mode: 0o660)
    #expect(try permissions() == 0o660)
    // The file now belongs to the other one.
    try former.removeFile()
    #expect(try UnixListener.isListening(path))
    try next.removeFile()
    #expect(try !UnixListener.isListening(path))
  }

  @Test func `a file of another kind is never replaced`() throws {
    let contents = Data("a".utf8)
    try contents.write(to: URL(filePath: path.text))
    #expect(throws: UnixListener.Failure.notSocket) { try UnixListener(at: path, mode: 0o600) }
    #expect(try Data(contentsOf: URL(filePath: path.text)) == contents)
    try Folder.remove(path.text)
    try FileManager.default.createDirectory(atPath: path.text, withIntermediateDirectories: false)
    #expect(throws: UnixListener.Failure.notSocket) { try UnixListener(at: path, mode: 0o600) }
    try Folder.remove(path.text)
    // A link is not followed, even to a socket on which nobody listens.
    let target = try #require(SocketPath(folder.path + "/target"))
    try UnixListener(at: target, mode: 0o600).socket.close()
    try FileManager.default.createSymbolicLink(atPath: path.text, withDestinationPath: target.text)
    #expect(throws: UnixListener.Failure.notSocket) { try UnixListener(at: path, mode: 0o600) }
  }

  @Test func `a folder that does not exist is an error`() throws {
    let path = try #require(SocketPath(folder.path + "/none/http.sock"))
    #expect {
      try UnixListener(at: path, mode: 0o600)
    } throws: { error in
      if case .system(let failure) = error as? UnixListener.Failure { failure.isNotFound } else { false }
    }
  }

  @Test func `several pollers can accept from one Unix socket`() throws {
    let sockets = try UnixListener(at: path, mode: 0o600).socket.sharing(count: 2)
    #expect(sockets.count == 2)
    _ = try RawHTTPClient(path: path, tls: nil)
    #expect(try sockets[1].accept()?.peer == nil)
    #expect(try sockets[0].accept() == nil)
  }
}
