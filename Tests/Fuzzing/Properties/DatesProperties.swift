import Foundation
import HTTPSemantics
import SnapshotFormat
import SystemIO

extension FuzzedParser {
  /// A time that is parsed, formatted and parsed again is the same, in the formats of fields and of manifests.
  func checkDates(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    if let date = HTTPDate(text) {
      let written = date.description
      try require(written.utf8.count == 29, "‘\(text)’ is written as ‘\(written)’")
      try require(HTTPDate(written) == date, "‘\(text)’ is parsed in two ways")
      try require(
        HTTPDate(secondsSince1970: date.secondsSince1970) == date, "‘\(text)’ is out of range")
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
