import Foundation
import HTTPEngine
import SnapshotServer
import SystemIO

extension ServerSettings {
  /// A configurable limit of the HTTP engine, such as `server.limits.connections`. Its value is in ``limitRange``.
  struct LimitSetting: Sendable {
    let name: String
    let set: @Sendable (inout HTTPLimits, Int) -> Void
  }

  /// Every configurable limit.
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

  /// The allowed values of a limit, in bytes, seconds or a plain number. Larger numbers make no sense, and some would
  /// overflow.
  static let limitRange = 1...1_000_000_000

  /// The most file descriptors needed: one for each connection, one for its upload or download, and some for the rest.
  var descriptors: Int { 2 * limits.connections + 1024 }

  /// Parses blocks of addresses that are separated by commas. An empty text contains none; `nil` if one is malformed.
  static func addressBlocks(_ text: String) -> [AddressBlock]? {
    var blocks: [AddressBlock] = []
    for part in text.split(separator: ",") {
      guard let block = AddressBlock(part.trimmingCharacters(in: .whitespaces)) else { return nil }
      blocks.append(block)
    }
    return blocks
  }
}
