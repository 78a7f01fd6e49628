import Foundation
import HTTPEngine
import SystemIO

extension ServerSettings {
  /// A limit of the HTTP engine that can be set: `server.limits.connections`, a whole number from 1.
  struct LimitSetting: Sendable {
    let name: String
    let set: @Sendable (inout HTTPLimits, Int) -> Void
  }

  /// Every limit that can be set.
  static let limitSettings = [
    LimitSetting(name: "requestLineBytes") { $0.requestLineBytes = $1 },
    LimitSetting(name: "headBytes") { $0.headBytes = $1 },
    LimitSetting(name: "fieldCount") { $0.fieldCount = $1 },
    LimitSetting(name: "headSeconds") { $0.headTime = .seconds($1) },
    LimitSetting(name: "bodyBytesPerSecond") { $0.bodyBytesPerSecond = Int64($1) },
    LimitSetting(name: "bodyWindowSeconds") { $0.bodyWindow = .seconds($1) },
    LimitSetting(name: "bodyGraceSeconds") { $0.bodyGrace = .seconds($1) },
    LimitSetting(name: "idleSeconds") { $0.idleTime = .seconds($1) },
    LimitSetting(name: "writeStallSeconds") { $0.writeStallTime = .seconds($1) },
    LimitSetting(name: "pipelinedRequests") { $0.pipelinedRequests = $1 },
    LimitSetting(name: "connections") { $0.connections = $1 },
    LimitSetting(name: "connectionsPerAddress") { $0.connectionsPerAddress = $1 },
  ]

  /// What a limit may be: no number of bytes or seconds beyond makes sense, or fits everywhere.
  static let limitRange = 1...1_000_000_000

  /// The descriptors that are needed at most: one for each connection, one more for its upload or download, and some.
  var descriptors: Int { 2 * limits.connections + 1024 }

  /// Blocks of addresses, separated by commas; none in an empty text.
  static func addressBlocks(_ text: String) -> [AddressBlock]? {
    var blocks: [AddressBlock] = []
    for part in text.split(separator: ",") {
      guard let block = AddressBlock(part.trimmingCharacters(in: .whitespaces)) else { return nil }
      blocks.append(block)
    }
    return blocks
  }
}
