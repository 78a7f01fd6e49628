import Foundation
import HTTPArchive
import SnapshotFormat

extension FuzzedParser {
  /// An archive is read in the same parts in any pieces. An entry without its bodies has none, and with them again it is
  /// the same exchange, and is written in the same way.
  func checkArchive(_ input: [UInt8]) throws {
    var limits = ArchiveLimits()
    limits.entrySize = 20_000
    let whole = Self.parts(of: input, size: max(input.count, 1), limits)
    let single = Self.parts(of: input, size: 1, limits)
    try require(whole.parts == single.parts, "the pieces make a difference")
    try require(whole.error == single.error, "the error is \(whole.error) or \(single.error)")
    for part in whole.parts {
      guard case .entry(let value, let isWhole) = part else { continue }
      try checkEntry(ArchiveEntry(value, isWhole: isWhole))
    }
  }

  private func checkEntry(_ read: ArchiveEntry) throws {
    var entry = read
    try require(ArchiveEntry(entry.value).value == entry.value, "it lacks something that is required")
    let exchange: ArchivedExchange
    do {
      exchange = try entry.exchange { name in
        try require(!name.contains("/") && !name.hasPrefix("."), "the file \(name) is read")
        return Data([0, 255])
      }
    } catch let omission as ArchiveOmission {
      return try require(!omission.description.isEmpty, "no description for \(omission.reason)")
    }
    let kept = entry.withoutBodies(bodySize: exchange.body.count)
    let places = [kept["response"]?["content"], kept["request"]?["_content"], kept["request"]?["postData"]]
    for place in places {
      try require((place?["text"]?.text ?? "").isEmpty, "a body is left in \(kept)")
    }
    let merged = ArchiveEntry.merge(
      kept, requestBody: Array(exchange.requestBody), body: Array(exchange.body))
    let parts = Self.parts(
      of: Array("{\"log\":{\"entries\":[".utf8) + merged.json + Array("]}}".utf8), size: 4096, ArchiveLimits()
    )
    guard parts.parts.count == 5, case .entry(let value, true) = parts.parts[2] else {
      throw BrokenProperty(description: "it is not read again: \(parts.error)")
    }
    var again = ArchiveEntry(value)
    var second: ArchivedExchange
    do {
      second = try again.exchange { _ in nil }
    } catch {
      throw BrokenProperty(description: "it has no exchange any more: \(error)")
    }
    second.statedSize = exchange.statedSize
    try require(
      second == exchange, "the exchange is another one: \(String(decoding: merged.json, as: UTF8.self))")
  }

  private static func parts(
    of input: [UInt8], size: Int, _ limits: ArchiveLimits
  ) -> (parts: [ArchiveReader.Part], error: String) {
    var rest = input[...]
    var reader = ArchiveReader(limits: limits) {
      let piece = rest.prefix(size)
      rest = rest.dropFirst(size)
      return piece.isEmpty ? nil : Array(piece)
    }
    var parts: [ArchiveReader.Part] = []
    do {
      while let part = try reader.next() { parts.append(part) }
      return (parts, "")
    } catch {
      return (parts, "\(error)")
    }
  }
}
