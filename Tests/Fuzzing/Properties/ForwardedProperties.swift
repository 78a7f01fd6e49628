import HTTPSemantics
import HTTPTypes
import SystemIO

extension FuzzedParser {
  /// Fields and elements before the last proxy's element do not change it. An address is formatted as it is parsed.
  ///
  /// Each line of `input` is a field.
  func checkForwarded(_ input: [UInt8]) throws {
    let lines = String(decoding: input, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter(HTTPField.isValidValue)
    let hops = Array(ForwardedHops(in: Self.fields(lines)))
    try require(
      hops.count <= lines.reduce(lines.count) { $0 + $1.utf8.count { $0 == UInt8(ascii: ",") } },
      "\(hops.count) hops")
    for hop in hops {
      switch hop {
      case .address(let text, _):
        try require(
          text.utf8.allSatisfy { "0123456789abcdefABCDEF.:".utf8.contains($0) }, "an address: \(text)")
        if let address = IPAddress(text) {
          try require(IPAddress(address.description) == address, "\(text) is written as \(address)")
        }
      case .obfuscated(let text):
        try require(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a name: \(text.debugDescription)")
      case .unknown: break
      }
    }
    let proxy = #"for="[2001:db8::17]:4711";proto=http"#
    let node = ForwardedNode.address("2001:db8::17", port: 4711)
    for forged in [lines + [proxy], [(lines + [proxy]).joined(separator: ", ")]] {
      var hops = ForwardedHops(in: Self.fields(forged))
      try require(hops.next() == node, "\(forged) hides the proxy's element")
    }
    if let line = lines.first, let block = AddressBlock(line) {
      try require(AddressBlock(block.description) == block, "\(line) is written as \(block)")
    }
  }

  private static func fields(_ lines: [String]) -> HTTPFields {
    HTTPFields(lines.map { HTTPField(name: .forwarded, value: $0) })
  }
}
