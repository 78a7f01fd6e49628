import Foundation
import SystemIO
import TestSupport
import Testing
import Webhooks

/// The addresses that events are sent to.
@Suite struct WebhookDestinationTests {
  @Test(arguments: [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255",
    "192.168.1.1", "192.0.0.170", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "::ffff:8.8.8.8",
    "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "fe80::1", "fc00::1",
    "fd00:ec2::254",
    "fec0::1", "ff02::1", "2001::1", "2001:db8::1", "2002:7f00:1::1", "2002:808:808::1", "100::1", "5f00::1",
  ])
  func `an address that is not public is refused unless its network is named`(text: String) throws {
    let address = try #require(IPAddress(text))
    #expect(!DestinationRule().allows(address))
    #expect(DestinationRule(allowedNetworks: [try #require(AddressBlock(text))]).allows(address))
  }

  @Test(arguments: ["8.8.8.8", "172.15.255.255", "172.32.0.0", "192.0.1.1", "2606:4700::1", "2a00:1450::1"])
  func `a public address is allowed`(text: String) throws {
    #expect(DestinationRule().allows(try #require(IPAddress(text))))
  }

  @Test func `every special block is read`() {
    #expect(DestinationRule.specialTexts.allSatisfy { AddressBlock($0) != nil })
  }

  @Test func `a request goes to the address that was checked, whatever the host is`() async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      var settings = try fixture.settings(port)
      settings.endpoints = [try #require(WebhookEndpoint("http://hooks.invalid:\(port)/a?b=c"))]
      try await fixture.use(settings)
      fixture.addresses.set(["127.0.0.1"])
      try await fixture.webhooks.attached(try fixture.record())
      #expect(await fixture.webhooks.deliverDue() == nil)
      #expect(receiver.received.map(\.path) == ["/a"])
    }
  }

  @Test func `a name is refused if one of its addresses is`() async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      try await fixture.use(try fixture.settings(port))
      fixture.addresses.set(["127.0.0.1", "10.0.0.1"])
      try await fixture.webhooks.attached(try fixture.record())
      #expect(await fixture.webhooks.deliverDue() == fixture.now + 5)
      #expect(receiver.received.isEmpty)
      #expect(
        try await fixture.state().problem
          == "10.0.0.1 is not a public address, and no block of allowedNetworks contains it")
    }
  }

  @Test(arguments: ["127.0.0.1", "0x7f.1", "2130706433", "127.1", "localhost", "[::ffff:127.0.0.1]"])
  func `loopback is refused in every notation`(host: String) async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      var settings = try fixture.settings(port)
      settings.endpoints = [try #require(WebhookEndpoint("https://\(host):\(port)/"))]
      settings.allowedNetworks = []
      try await fixture.use(settings)
      try await fixture.webhooks.attached(try fixture.record())
      #expect(await fixture.webhooks.deliverDue() == fixture.now + 5)
      #expect(receiver.received.isEmpty)
      #expect(try await fixture.state().problem?.contains("is not a public address") == true)
    }
  }

  @Test func `http is refused outside of named networks`() async throws {
    let fixture = try WebhookFixture()
    try await fixture.use(try fixture.settings(1))
    fixture.addresses.set(["8.8.8.8"])
    try await fixture.webhooks.attached(try fixture.record())
    #expect(await fixture.webhooks.deliverDue() == fixture.now + 5)
    #expect(
      try await fixture.state().problem
        == "http is used only in allowedNetworks, and no block contains 8.8.8.8")
  }

  @Test(arguments: [
    "https://hooks.example", "http://127.0.0.1:8080/a?b=c", "HTTPS://hooks.example/%2C", "https://[::1]/",
  ])
  func `an absolute URL is an endpoint`(text: String) { #expect(WebhookEndpoint(text) != nil) }

  @Test(arguments: [
    "", "hooks.example", "ftp://hooks.example/", "https://", "https:///a", "https://user@hooks.example/",
    "https://user:secret@hooks.example/", "https://hooks.example/#a", "https://hooks.example/a b",
    "https://hooks.example:0/", "https://hooks.example:65536/", "https://hooks.example/ä",
  ])
  func `another text is no endpoint`(text: String) { #expect(WebhookEndpoint(text) == nil) }

  @Test func `the length of a URL is limited, and its name has no part of its path`() throws {
    let prefix = "https://hooks.example/"
    let longest = prefix + String(repeating: "a", count: WebhookLimits.urlBytes - prefix.utf8.count)
    let endpoint = try #require(WebhookEndpoint(longest))
    #expect(WebhookEndpoint(longest + "a") == nil)
    #expect(endpoint.name.firstMatch(of: /^hooks\.example-[0-9a-f]{8}$/) != nil, "\(endpoint.name)")
  }
}
