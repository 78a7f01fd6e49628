import DataSnapshots
import Foundation
import Redaction
import SnapshotDiff
import SnapshotFormat
import SystemIO

/// A call that has no recording, described for the developer.
struct ReplayMiss: Sendable {
  /// The maximum number of bytes of a body that are shown.
  static let shownBytes = 1 << 20
  /// The maximum number of changes that are listed.
  static let shownChanges = 100

  /// What was asked for, what the nearest recording is, and what differs: one sentence.
  let message: String
  /// The identifier, and the body of the request.
  let request: String
  /// The same of the nearest recording, and its contents; `nil` if none is near.
  let nearest: String?
  /// What differs between the two; `nil` if none is near.
  let difference: String?

  /// - Parameters:
  ///   - event: the event of the miss.
  ///   - name: the name of the fixture.
  ///   - manifest: the manifest of the fixture.
  ///   - folder: the unpacked fixture.
  init(_ event: SnapshotMode.Event, _ name: String, _ manifest: Manifest, in folder: URL) {
    let identifier = event.identifier ?? ""
    let body = event.requestBody.map { Placeholders.unified(Array($0)) } ?? []
    request = identifier + "\n" + Self.text(body)
    // Behind the last recorded call, that one is the nearest.
    let candidates = event.nearest + [identifier]
    let near = candidates.lazy.compactMap { candidate in
      manifest.recordings.last { $0.identifier == candidate }
    }.first
    guard let near else {
      message = "\(name) has no recording of ‘\(identifier)’, and none that is similar."
      (nearest, difference) = (nil, nil)
      return
    }
    let nearBody = Placeholders.unified(Self.read(near.requestBodyPath, of: near, in: folder))
    let contents = Self.read(near.path, of: near, in: folder)
    let status = near.exchange.flatMap(\.response).map { "\nAnswered with status \($0.status):" } ?? ""
    nearest = near.identifier + "\n" + Self.text(nearBody) + status + "\n" + Self.text(contents)
    if near.identifier == identifier {
      message = "\(name): \(event)."
      difference = event.reason
      return
    }
    let changes = body == nearBody ? [] : Self.changes(from: nearBody, to: body)
    if near.exchange == nil {
      let words = Self.words(identifier, near.identifier)
      message = """
        \(name) has no recording of ‘\(identifier)’; the nearest is ‘\(near.identifier)’, which has \(words).
        """
    } else {
      message = "\(name): \(event)." + (changes.first.map { " In the body: \($0)." } ?? "")
    }
    difference = ([message] + changes).joined(separator: "\n")
  }

  /// The words in which two identifiers differ, such as `‘feed’ instead of ‘fed’`.
  private static func words(_ wanted: String, _ recorded: String) -> String {
    func parts(_ text: String) -> [Substring] {
      var parts: [Substring] = []
      var start = text.startIndex
      for index in text.indices where !text[index].isLetter && !text[index].isNumber {
        parts += [text[start..<index], text[index...index]]
        start = text.index(after: index)
      }
      return parts + [text[start...]]
    }
    var (wanted, recorded) = (parts(wanted)[...], parts(recorded)[...])
    while let first = wanted.first, first == recorded.first {
      wanted.removeFirst()
      recorded.removeFirst()
    }
    while let last = wanted.last, last == recorded.last {
      wanted.removeLast()
      recorded.removeLast()
    }
    return "‘\(recorded.joined())’ instead of ‘\(wanted.joined())’"
  }

  /// The changes from one body to another, each on a line.
  private static func changes(from recorded: [UInt8], to wanted: [UInt8]) -> [String] {
    let detail = RecordingDifference.Detail(recorded, wanted, limits: .default, limit: shownChanges)
    switch detail {
    case .json(let changes): return changes.rows.map { line("\($0.place)", $0.first, $0.second) }
    case .text(let changes): return changes.rows.map { line("line \($0.place)", $0.first, $0.second) }
    case .omitted, .bytes, .beyondLimits: return [detail.remark ?? ""]
    }
  }

  private static func line(_ place: String, _ recorded: String?, _ wanted: String?) -> String {
    "\(place) is \(wanted ?? "missing") instead of \(recorded ?? "missing")"
  }

  /// The beginning of a file of a recording; empty if it can't be read.
  private static func read(_ path: String, of recording: Manifest.Recording, in folder: URL) -> [UInt8] {
    guard path == recording.path || recording.exchange?.request.body != nil else { return [] }
    do {
      return try File(folder.path + "/" + path).read(upTo: shownBytes, at: 0)
    } catch {
      return Array("(\(error))".utf8)
    }
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self) ?? "(\(bytes.count) bytes, no text)"
  }
}
