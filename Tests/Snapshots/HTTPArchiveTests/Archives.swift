import Foundation
import HTTPArchive
import SnapshotFormat

/// Reads all parts of an archive that arrives in pieces of `size` bytes.
func parts(
  of json: String, in size: Int = 7, limits: ArchiveLimits = ArchiveLimits()
) throws -> [ArchiveReader.Part] {
  try parts(of: Array(json.utf8), in: size, limits: limits)
}

func parts(
  of json: [UInt8], in size: Int = 7, limits: ArchiveLimits = ArchiveLimits()
) throws -> [ArchiveReader.Part] {
  var rest = json[...]
  var reader = ArchiveReader(limits: limits) {
    let piece = rest.prefix(size)
    rest = rest.dropFirst(size)
    return piece.isEmpty ? nil : Array(piece)
  }
  var parts: [ArchiveReader.Part] = []
  while let part = try reader.next() { parts.append(part) }
  return parts
}

/// The entries of an archive whose list of entries is `entries`.
func entries(_ entries: String, limits: ArchiveLimits = ArchiveLimits()) throws -> [ArchiveEntry] {
  try parts(of: "{\"log\":{\"entries\":[\(entries)]}}", limits: limits).compactMap { part in
    guard case .entry(let value, let isWhole) = part else { return nil }
    return ArchiveEntry(value, isWhole: isWhole)
  }
}

/// An entry with a request and a response, whose members can be replaced.
func entry(
  _ request: String = #""method":"GET","url":"https://example.com/feed""#,
  _ response: String = #""status":200,"content":{"size":2,"mimeType":"text/plain","text":"ok"}"#,
  _ rest: String = ""
) -> String {
  """
  {"startedDateTime":"2026-03-01T10:00:00.250+01:00","time":41,"request":{\(request)},"response":{\(response)}\(rest)}
  """
}

/// The exchange of one entry.
func exchange(
  _ entry: String, limits: ArchiveLimits = ArchiveLimits(), files: [String: Data] = [:]
) throws -> ArchivedExchange {
  var entry = try entries(entry, limits: limits)[0]
  return try entry.exchange(limits) { files[$0] }
}

/// Why one entry has no exchange; `nil` if it has one.
func omission(
  _ entry: String, limits: ArchiveLimits = ArchiveLimits(), files: [String: Data] = [:]
) throws -> ArchiveOmission.Reason? {
  do {
    _ = try exchange(entry, limits: limits, files: files)
    return nil
  } catch let omission as ArchiveOmission {
    return omission.reason
  }
}

/// Writes an entry without bodies, and merges the bodies of its exchange again.
func exported(_ text: String, files: [String: Data] = [:]) throws -> ArchiveValue {
  var entry = try entries(text)[0]
  let exchange = try entry.exchange { files[$0] }
  let kept = entry.withoutBodies(bodySize: exchange.body.count)
  return ArchiveEntry.merge(kept, requestBody: Array(exchange.requestBody), body: Array(exchange.body))
}
