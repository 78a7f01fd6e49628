import SystemIO

@testable import HTTPEngine

extension FuzzedParser {
  /// The beginnings of a header are incomplete, and what follows a header does not change it. A header is within its
  /// limit, and what is malformed remains so.
  func checkProxyHeader(_ input: [UInt8]) throws {
    let whole = ProxyHeader.parse(input)
    var hasEnded = false
    for end in 0..<input.count {
      let part = ProxyHeader.parse(Array(input[..<end]))
      switch part {
      case .incomplete: try require(!hasEnded, "incomplete again at \(end)")
      case .malformed:
        hasEnded = true
        try require(whole == .malformed, "malformed at \(end) only")
      case .complete(let header):
        hasEnded = true
        try require(part == whole, "another header at \(end)")
        try require(header.length <= end, "a header of \(header.length) bytes in \(end)")
      }
    }
    guard case .complete(let header) = whole else {
      try require(whole == .malformed || input.count < ProxyHeader.binaryLimit, "never complete")
      return
    }
    try require(header.length <= min(input.count, ProxyHeader.binaryLimit), "\(header.length) bytes")
    let isText = input.first == UInt8(ascii: "P")
    try require(!isText || header.length <= ProxyHeader.textLimit, "a line of \(header.length) bytes")
    if let client = header.client {
      try require(IPAddress(client.host.description) == client.host, "\(client) is another address")
    }
  }
}
