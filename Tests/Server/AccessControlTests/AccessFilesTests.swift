import AccessControl
import Foundation
import SystemIO
import TestSupport
import Testing

@Suite struct AccessFilesTests {
  private let folders: [TemporaryFolder]
  private let files: [AccessFiles]

  init() throws {
    folders = try [TemporaryFolder(), TemporaryFolder()]
    files = folders.map { AccessFiles(storage: $0.url.path) }
  }

  private func store(_ index: Int) -> TokenStore { TokenStore(storage: folders[index].url.path) }

  @Test func `an empty folder has no files`() throws { #expect(try files[0].read().isEmpty) }

  @Test func `copied files make the same tokens valid in another folder`() throws {
    let (token, _) = try store(0).create(.init(scopes: [.admin]))
    try files[0].createLinkKey()
    let contents = try files[0].read()
    #expect(contents.keys.sorted() == ["keys/links", "keys/tokens", "tokens/\(token.id).json"])
    try files[1].replace(with: contents)
    #expect(try files[1].read() == contents)
    #expect(try store(1).list().map(\.id) == [token.id])
    let attributes = try FileManager.default.attributesOfItem(atPath: folders[1].file("keys/tokens").path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func `files that differ are replaced, tokens that are gone are removed, and keys remain`() throws {
    for index in 0...1 { _ = try store(index).create(.init(scopes: [.read])) }
    try files[1].createLinkKey()
    let links = try files[1].read()["keys/links"]
    let contents = try files[0].read()
    try files[1].replace(with: contents)
    var expected = contents
    expected["keys/links"] = links
    #expect(try files[1].read() == expected)
  }

  @Test(arguments: [
    "tokens/../keys/evil", "tokens/short.json", "keys/other", "../tokens/0123456789abcdef.json", "audit.log",
  ])
  func `names of other files are ignored`(name: String) throws {
    try files[0].replace(with: [name: [1, 2, 3]])
    #expect(try Folder.entries(folders[0].url.path).isEmpty)
  }
}
