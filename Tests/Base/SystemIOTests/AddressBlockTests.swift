import SystemIO
import Testing

@Suite struct AddressBlockTests {
  @Test(arguments: [
    ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"), ("192.168.1.0/24", "192.168.1.255", "192.168.2.0"),
    ("10.0.0.1", "10.0.0.1", "10.0.0.2"), ("10.0.0.0/31", "10.0.0.1", "10.0.0.2"),
    ("0.0.0.0/1", "127.255.255.255", "128.0.0.0"), ("0.0.0.0/0", "255.255.255.255", "::1"),
    ("10.0.0.0/8", "::ffff:10.1.2.3", "::ffff:11.0.0.0"), ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
    ("2001:db8::/64", "2001:db8::ffff:0:0:1", "2001:db8:0:1::"),
    ("2001:db8::/65", "2001:db8::7fff:0:0:0", "2001:db8::8000:0:0:0"),
    ("2001:db8::/63", "2001:db8:0:1::", "2001:db8:0:2::"), ("::1", "::1", "::2"),
    ("::/0", "2001::", "0.0.0.1"),
    ("::ffff:10.0.0.0/104", "::ffff:10.9.9.9", "::ffff:11.0.0.0"),
  ]) func `a block contains only its addresses`(block: String, inside: String, outside: String) throws {
    let block = try #require(AddressBlock(block))
    #expect(block.contains(try #require(IPAddress(inside))))
    #expect(!block.contains(try #require(IPAddress(outside))))
  }

  @Test(arguments: [
    "", "/", "10.0.0.0/", "/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/ 8",
    "10.0.0.0/0008", "10.0.0.1/8", "10.0.0/8", "::/129", "2001:db8::1/64", "[::1]/128", "localhost", "all",
  ]) func `an invalid block is rejected`(text: String) {
    #expect(AddressBlock(text) == nil)
  }

  @Test(arguments: ["10.0.0.0/8", "10.0.0.1/32", "::/0", "2001:db8::/32"])
  func `a block is formatted as it was parsed`(text: String) {
    #expect(AddressBlock(text)?.description == text)
  }
}
