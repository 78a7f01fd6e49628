import HTTPSemantics
import HTTPTypes
import SystemIO
import Testing

@testable import HTTPEngine

@Suite struct TrustedProxiesTests {
  private func client(_ forwarded: String?, trusted: [String] = ["10.0.0.0/8", "2001:db8::/32"]) throws
    -> TrustedProxies.Client
  {
    let proxies = TrustedProxies(try trusted.map { try #require(TrustedProxy($0)) }, fields: .forwarded)
    var fields = HTTPFields()
    fields[.forwarded] = forwarded
    return try proxies.read(fields, from: "10.0.0.1:80").client
  }

  @Test(arguments: [
    ("for=192.0.2.1", "192.0.2.1", "192.0.2.1"), (#"for="192.0.2.1:4711""#, "192.0.2.1:4711", "192.0.2.1"),
    (#"for="[2001:DB9::1]:4711""#, "[2001:db9::1]:4711", "2001:db9::"),
    (#"for="[2001:db9:0:0:1::1]""#, "[2001:db9::1:0:0:1]", "2001:db9::"),
    (#"for="[::ffff:192.0.2.1]""#, "[::ffff:192.0.2.1]", "192.0.2.1"),
    // The last hop that is not trusted, regardless of those before it.
    ("for=1.1.1.1, for=192.0.2.1", "192.0.2.1", "192.0.2.1"),
    (#"for=192.0.2.1, for=10.0.0.2, for="[2001:db8::1]""#, "192.0.2.1", "192.0.2.1"),
    ("for=10.0.0.9, for=192.0.2.1, for=10.0.0.2", "192.0.2.1", "192.0.2.1"),
    ("rubbish, for=192.0.2.1", "192.0.2.1", "192.0.2.1"),
  ]) func `the last hop that is not trusted is the client`(forwarded: String, name: String, counted: String)
    throws
  {
    let address = try #require(IPAddress(counted))
    #expect(try client(forwarded) == TrustedProxies.Client(name: name, counted: address))
  }

  @Test(
    arguments: [
      (nil, "10.0.0.1:80"), ("for=unknown", "unknown"), ("for=192.0.2.1, for=unknown", "unknown"),
      ("for=192.0.2.1, for=_hidden, for=10.0.0.2", "_hidden"), ("for=10.0.0.3", "10.0.0.3"),
      ("rubbish", "10.0.0.1:80"), ("for=192.0.2.1, rubbish", "10.0.0.1:80"),
      ("for=192.0.2.1, rubbish, for=10.0.0.2", "10.0.0.2"), ("for=192.0.2.1, for=999.1.1.1", "10.0.0.1:80"),
      ("by=192.0.2.1", "10.0.0.1:80"),
    ] as [(String?, String)])
  func `unknown clients are not counted`(forwarded: String?, name: String) throws {
    #expect(try client(forwarded) == TrustedProxies.Client(name: name, counted: nil))
  }
}
