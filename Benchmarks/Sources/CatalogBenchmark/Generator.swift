import Foundation
import SnapshotFormat

/// Generates records like those of a team's apps. The same number gives the same record, so that runs are comparable.
struct Generator {
  private static let applications = (0..<12).map { "com.example.app\($0)" }
  private static let modules = ["News", "Profile", "Payments", "Search", "Map", "Settings", "Chat", "Feed"]
  private static let models = (10..<18).flatMap { ["iPhone\($0),1", "iPhone\($0),2", "iPad\($0),1"] }
  private static let words = """
    the balance was negative after a refund screen stayed white when offline crash on start list empty login failed \
    twice picture upside down wrong currency price missing total rounding slow scroll keyboard covers button
    """.split(separator: " ")

  /// Returns the numbers of the first `count` records, in the order of their ids.
  func order(_ count: Int) -> [UInt32] {
    (0..<UInt32(count)).map { (number: $0, beginning: Self.beginning(of: id(Int($0)))) }
      .sorted { $0.beginning < $1.beginning }.map(\.number)
  }

  private static func beginning(of id: SnapshotID) -> UInt64 {
    id.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func id(_ index: Int) -> SnapshotID {
    var random = Random(seed: UInt64(index))
    return SnapshotID(UUID(uuid: random.bytes()))
  }

  /// Returns the record with the given index in the order of receipt.
  func record(_ index: Int) throws -> SnapshotRecord {
    var random = Random(seed: UInt64(index))
    let id = SnapshotID(UUID(uuid: random.bytes()))
    // One or two per minute. Later records have later versions.
    let received = Date(
      timeIntervalSince1970: 1_700_000_000 + Double(index) * 40 + Double(random.next(40_000)) / 1000)
    let major = 1 + index / 250_000
    let version = "\(major).\(random.next(20)).\(random.next(12))"
    let modules = (0..<3).map { _ in Self.modules[random.next(Self.modules.count)] }
    let manifest = Manifest(
      id: id, createdAt: received,
      application: .init(
        identifier: Self.applications[random.next(Self.applications.count)], version: version,
        build: "\(1000 + random.next(9000))"),
      device: .init(
        model: Self.models[random.next(Self.models.count)], system: "iOS",
        systemVersion: "\(20 + random.next(7)).\(random.next(4))",
        locale: "de_AT"),
      modules: Set(modules).sorted().map { Module(name: $0, files: ["\($0)/feed", "\($0)/profile"]) })
    var note = (0..<12).map { _ in String(Self.words[random.next(Self.words.count)]) }.joined(separator: " ")
    if index % 20 == 0 { note += " 返金後に残高がマイナスになった" }
    var record = SnapshotRecord(
      id: id, report: try ReportID(validating: "BUG-\(index / 3)"),
      size: Int64(20_000 + random.next(2_000_000)),
      sha256: ContentDigest.of(Array(id.description.utf8)),
      receivedAt: SnapshotJSON.milliseconds(of: received),
      verified: .intact, manifest: manifest,
      metadata: ["note": note, "user": "user-\(random.next(100_000))"])
    record.recordingCount = 8
    record.identifiers = (0..<8).map {
      "\(modules[$0 % 3])/endpoint-\(random.next(50))" + ($0 == 0 ? "/item-\(random.next(20_000))" : "")
    }
    return record
  }
}

/// SplitMix64.
private struct Random {
  var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func next(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  mutating func bytes() -> uuid_t {
    var (a, b) = (next(), next())
    func take(_ word: inout UInt64) -> UInt8 {
      defer { word >>= 8 }
      return UInt8(truncatingIfNeeded: word)
    }
    return (
      take(&a), take(&a), take(&a), take(&a), take(&a), take(&a), 0x40 | take(&a) & 0x0F, take(&a),
      0x80 | take(&b) & 0x3F, take(&b), take(&b), take(&b), take(&b), take(&b), take(&b), take(&b)
    )
  }
}
