import HTTPEngine
import HTTPTypes
import Testing

@Suite struct PublicAddressTests {
  @Test(arguments: [
    ("https://tools.example/snapshots", "https://tools.example/snapshots", "/snapshots"),
    ("https://tools.example", "https://tools.example", ""),
    ("http://tools.example/", "http://tools.example", ""),
    ("HTTPS://Tools.Example:443/a/b.c-d_e~f/", "https://tools.example/a/b.c-d_e~f", "/a/b.c-d_e~f"),
    ("http://tools.example:80/A", "http://tools.example/A", "/A"),
    ("http://tools.example:443", "http://tools.example:443", ""),
    ("https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443/x", "/x"),
  ])
  func `a URL is parsed and written in its normal form`(text: String, normal: String, path: String) throws {
    let address = try #require(PublicAddress(text))
    #expect(address.description == normal)
    #expect(address.basePath == path)
    #expect(address.isSecure == normal.hasPrefix("https"))
    #expect(PublicAddress(normal) == address)
  }

  @Test(arguments: [
    "", "tools.example", "/snapshots", "ftp://tools.example", "https://", "https:///a",
    "https://u@tools.example",
    "https://tools.example?a", "https://tools.example/a?b", "https://tools.example/a#b",
    "https://tools.example//",
    "https://tools.example//a", "https://tools.example/a//b", "https://tools.example/./a",
    "https://tools.example/a/..", "https://tools.example/%61", "https://tools.example/a b",
    "https://tools.example/\u{E9}", "https://tools.example/\"", "https://tools.example:",
    "https://tools.example:x",
    "https://tools.example:65536", "https://tools..example", "https://tools.example/a;b",
    "https://\u{130}.example",
  ])
  func `anything else is refused`(text: String) { #expect(PublicAddress(text) == nil) }

  @Test func `a path has a maximum length`() {
    let longest = "/" + String(repeating: "a", count: PublicAddress.maximumPathLength - 1)
    #expect(PublicAddress("https://a" + longest) != nil)
    #expect(PublicAddress("https://a" + longest + "a") == nil)
    #expect(PublicAddress.isBasePath("") && !PublicAddress.isBasePath("a"))
  }

  @Test func `a request shows what the client of a proxy sees`() throws {
    let request = HTTPServerRequest(method: .get, path: "/snapshots/x", authority: "127.0.0.1:8080")
    #expect(request.basePath.isEmpty && request.publicURL == nil)
    let seen = request.seen(
      at: "/x", below: "/snapshots", of: PublicAddress("https://tools.example/snapshots"))
    #expect((seen.path, seen.basePath, seen.authority) == ("/x", "/snapshots", "tools.example"))
    #expect(seen.isSecure && seen.publicURL == "https://tools.example/snapshots" && seen.statedURL == nil)
    let unknown = request.seen(at: "/x", below: "/snapshots", of: nil)
    #expect((unknown.path, unknown.basePath, unknown.authority) == ("/x", "/snapshots", "127.0.0.1:8080"))
    #expect(!unknown.isSecure && unknown.publicURL == nil)
  }

  @Test func `interim responses refer to paths that the client sees`() async throws {
    let (sent, continuation) = AsyncStream.makeStream(of: HTTPFields.self)
    let request = HTTPServerRequest(method: .post, path: "/x") { _, fields in
      continuation.yield(fields)
      return true
    }
    let seen = request.seen(at: "/x", below: "/a", of: nil)
    await seen.sendInterim(.init(code: 104), [.location: "/v1/uploads/1"])
    var iterator = sent.makeAsyncIterator()
    #expect(await iterator.next() == [.location: "/a/v1/uploads/1"])
  }

  @Test(arguments: [
    ("/x", "/a/x"), ("//x", "//x"), ("https://b/x", "https://b/x"), ("x", "x"),
  ])
  func `only paths in Location get the path of the server`(location: String, expected: String) {
    #expect(([.location: location] as HTTPFields).below("/a") == [.location: expected])
    #expect(([.location: location] as HTTPFields).below("") == [.location: location])
  }
}
