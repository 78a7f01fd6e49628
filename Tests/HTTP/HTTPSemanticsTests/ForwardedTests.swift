import HTTPSemantics
import HTTPTypes
import Testing

@Suite struct ForwardedNodeTests {
  @Test(arguments: [
    ("192.0.2.1", ForwardedNode.address("192.0.2.1", port: nil)),
    ("192.0.2.1:4711", .address("192.0.2.1", port: 4711)), ("192.0.2.1:0", .address("192.0.2.1", port: 0)),
    ("192.0.2.1:65535", .address("192.0.2.1", port: 65535)),
    ("192.0.2.1:99999", .address("192.0.2.1", port: nil)),
    ("192.0.2.1:_port", .address("192.0.2.1", port: nil)),
    ("[2001:db8::1]", .address("2001:db8::1", port: nil)),
    ("[2001:DB8::1]:80", .address("2001:DB8::1", port: 80)),
    ("[::ffff:1.2.3.4]", .address("::ffff:1.2.3.4", port: nil)),
    ("unknown", .unknown), ("Unknown", .unknown), ("unknown:80", .unknown),
    ("_hidden", .obfuscated("_hidden")), ("_A-z.0_9:1", .obfuscated("_A-z.0_9")),
  ]) func `a node is parsed`(text: String, node: ForwardedNode) {
    #expect(ForwardedNode(text) == node)
  }

  @Test(arguments: [
    "", ":80", "_", "_a b", "_ä", "hidden", "example.org", "192.0.2.1:", "192.0.2.1:123456", "192.0.2.1:1:2",
    "192.0.2.1:-1", "2001:db8::1", "[2001:db8::1", "2001:db8::1]", "[]", "[192.0.2.1]", "[::1]80",
    "[::1%eth0]",
    "[::1]]", "192.0.2.1 ", "unknown ", "-",
  ]) func `invalid nodes are rejected`(text: String) {
    #expect(ForwardedNode(text) == nil)
  }
}

@Suite struct ForwardedHopsTests {
  private func hops(_ lines: String...) -> [ForwardedNode] {
    var fields = HTTPFields()
    for line in lines { fields.append(HTTPField(name: .forwarded, value: line)) }
    return Array(ForwardedHops(in: fields))
  }

  private func address(_ text: String) -> ForwardedNode { .address(text, port: nil) }

  @Test func `the last hop comes first, across elements and lines`() {
    #expect(hops() == [])
    #expect(hops("for=1.1.1.1") == [address("1.1.1.1")])
    #expect(hops("for=1.1.1.1, For=2.2.2.2,for=3.3.3.3") == ["3.3.3.3", "2.2.2.2", "1.1.1.1"].map(address))
    #expect(
      hops("for=1.1.1.1, for=2.2.2.2", "for=3.3.3.3") == ["3.3.3.3", "2.2.2.2", "1.1.1.1"].map(address))
  }

  @Test func `other parameters and quotes are ignored`() {
    #expect(
      hops(#"for="[2001:db8:cafe::17]:4711";proto=http;by="_a,b;c", proto=https; for=_x ;host="a,b""#)
        == [.obfuscated("_x"), .address("2001:db8:cafe::17", port: 4711)])
    #expect(hops("for=1.1.1.1,, ,for=2.2.2.2,") == ["2.2.2.2", "1.1.1.1"].map(address))
  }

  @Test(arguments: [
    "for=", "for", "by=2.2.2.2", "for=2.2.2.2:80", "for=[::1]", #"for="2.2.2.2"#, #"for=2.2.2.2""#,
    "for=2.2.2.2;for=3.3.3.3", "for = 2.2.2.2", "2.2.2.2", "for=2.2.2.2 for=3.3.3.3", "for=localhost",
  ]) func `the first malformed element ends the sequence`(broken: String) {
    #expect(hops("for=1.1.1.1, \(broken)") == [])
    #expect(hops("for=1.1.1.1, \(broken)", "for=4.4.4.4") == [address("4.4.4.4")])
  }

  @Test(arguments: [#"for=""#, #"for="\"#, "\"", "for=9.9.9.9;", #"for="a, for=8.8.8.8"#, "\\", ",,,", "=;="])
  func `text of a client does not change the element of its proxy`(forged: String) {
    #expect(hops("\(forged), for=1.1.1.1").first == address("1.1.1.1"))
    #expect(hops(#"\#(forged),for="1.1.1.1:80";proto=http"#).first == .address("1.1.1.1", port: 80))
  }
}
