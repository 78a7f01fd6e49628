import Foundation
import HTTPSemantics
import SnapshotFormat
import SystemIO

extension FuzzedParser {
  /// A time that is read, written and read again is the same; as fields write it, and as manifests do.
  func checkDates(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    if let date = HTTPDate(text) {
      let written = date.description
      try require(written.utf8.count == 29, "‘\(text)’ is written as ‘\(written)’")
      try require(HTTPDate(written) == date, "‘\(text)’ is read in two ways")
      try require(
        HTTPDate(secondsSince1970: date.secondsSince1970) == date, "‘\(text)’ lies out of range")
    }
    if UTCTime.milliseconds(rfc3339: input[...]) != nil {
      let json = try SnapshotJSON.encode([text])
      let dates = try SnapshotJSON.decode([Date].self, from: json)
      let written = try SnapshotJSON.encode(dates)
      let again = try SnapshotJSON.decode([Date].self, from: written)
      try require(again == dates, "‘\(text)’ is written as \(String(decoding: written, as: UTF8.self))")
    }
  }
}
