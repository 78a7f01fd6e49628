import Foundation
import HTTPEngine
import SnapshotServer
import SystemIO

extension ServerSettings {
  /// Every setting below `server.limits`.
  static let limitSettings: [Setting<HTTPLimits>] = [
    limit("requestLineBytes") { $0.requestLineBytes = $1 },
    limit("headBytes") { $0.headBytes = $1 },
    limit("fieldCount") { $0.fieldCount = $1 },
    limit("headSeconds") { $0.headTime = .seconds($1) },
    limit("bodyBytesPerSecond") { $0.bodyBytesPerSecond = Int64($1) },
    limit("bodyWindowSeconds") { $0.bodyWindow = .seconds($1) },
    limit("bodyGraceSeconds") { $0.bodyGrace = .seconds($1) },
    limit("idleSeconds") { $0.idleTime = .seconds($1) },
    limit("writeStallSeconds") { $0.writeStallTime = .seconds($1) },
    limit("pipelinedRequests") { $0.pipelinedRequests = $1 },
    limit("connections") { $0.connections = $1 },
    limit("connectionsPerAddress") { $0.connectionsPerAddress = $1 },
    limit("handshakeSeconds") { $0.handshakeTime = .seconds($1) },
  ]

  /// A limit whose value is in ``limitRange``.
  private static func limit(
    _ name: String, _ set: @escaping @Sendable (inout HTTPLimits, Int) -> Void
  ) -> Setting<HTTPLimits> {
    let wanted = "a number from \(limitRange.lowerBound) to \(limitRange.upperBound)"
    return Setting(name: name, wanted: wanted) { limits, text in
      guard let value = Int(text), limitRange.contains(value) else { return false }
      set(&limits, value)
      return true
    }
  }

  /// The allowed values of a limit, in bytes, seconds or a plain number. Larger numbers make no sense, and some would
  /// overflow.
  static let limitRange = 1...1_000_000_000

  /// The most file descriptors needed: one for each connection, one for its upload or download, and some for the rest.
  var descriptors: Int { 2 * limits.connections + 1024 }

  /// Parses blocks of addresses that are separated by commas. An empty text contains none; `nil` if one is malformed.
  static func addressBlocks(_ text: String) -> [AddressBlock]? { list(text, AddressBlock.init) }

  /// The same for proxies.
  static func trustedProxies(_ text: String) -> [TrustedProxy]? { list(text, TrustedProxy.init) }

  private static func list<Element>(_ text: String, _ parse: (String) -> Element?) -> [Element]? {
    var elements: [Element] = []
    for part in text.split(separator: ",") {
      guard let element = parse(part.trimmingCharacters(in: .whitespaces)) else { return nil }
      elements.append(element)
    }
    return elements
  }
}
