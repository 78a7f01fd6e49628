package import Foundation
import SnapshotFormat
import SystemIO

/// The newest actions on one snapshot in an audit log, without refused ones.
package struct AuditTrail: Sendable, Hashable {
  /// The limits of reading.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes that are read from the files, beginning with the newest line.
    package var bytes: Int64 = 16 << 20
    /// The maximum number of actions.
    package var events = 100

    /// Creates the default limits.
    package init() {}

    /// The default limits.
    package static let `default` = Limits()
  }

  /// An action, as the log describes it.
  package struct Event: Sendable, Hashable, Decodable {
    /// The time at which the action ended.
    package let time: Date
    /// The name of an ``AuditAction``, also one of another version of the server.
    package let action: String
    /// The id of the token that was used.
    package let token: String?
    /// The name of the user whom a trusted proxy has named, instead of a token.
    package let user: String?
    /// Whether a download link was used instead of a token.
    package let usesLink: Bool
    /// The address of the client.
    package let address: String?
    /// The result.
    package let result: String

    private enum CodingKeys: String, CodingKey {
      case time, action, token, user, address, result
      case usesLink = "link"
    }

    /// Creates an event from its parts.
    package init(
      _ action: String, result: AuditEvent.Result = .done, time: Date, token: String? = nil,
      user: String? = nil,
      usesLink: Bool = false, address: String? = nil
    ) {
      self.time = time
      self.action = action
      self.token = token
      self.user = user
      self.usesLink = usesLink
      self.address = address
      self.result = result.rawValue
    }

    /// Decodes a line of the log.
    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      time = try values.decode(Date.self, forKey: .time)
      action = try values.decode(String.self, forKey: .action)
      token = try values.decodeIfPresent(String.self, forKey: .token)
      user = try values.decodeIfPresent(String.self, forKey: .user)
      usesLink = try values.decodeIfPresent(Bool.self, forKey: .usesLink) ?? false
      address = try values.decodeIfPresent(String.self, forKey: .address)
      result = try values.decode(String.self, forKey: .result)
    }
  }

  /// The actions, newest first.
  package var events: [Event]
  /// Whether older lines were not read, or older actions not included, because of the limits.
  package var isCut: Bool
  /// Whether the actions at other servers are missing, because the database does not answer.
  package var isIncomplete = false

  /// Creates a trail from its parts.
  package init(_ events: [Event] = [], isCut: Bool = false) {
    self.events = events
    self.isCut = isCut
  }
}

extension AuditTrail {
  /// Creates a trail from lines about one snapshot, newest first.
  init(_ lines: [String], limit: Int) {
    self.init(lines.prefix(limit).compactMap { Self.decode(Data($0.utf8)) }, isCut: lines.count > limit)
  }

  /// The number of bytes that are read at once. A longer line is read completely.
  private static let pieceBytes: Int64 = 256 << 10

  /// Reads the files from the newest to the oldest line. Lines that can't be parsed are skipped. Blocks.
  init(
    of id: SnapshotID, in log: AuditLog.Configuration, limits: Limits
  ) throws(SystemError) {
    self.init()
    var rest = limits.bytes
    // If the log renames its files meanwhile, a file has another name than before, but is read once.
    var seen: Set<FileIdentity> = []
    for number in 0...max(log.keptFiles, 1) {
      let path = number == 0 ? log.path : "\(log.path).\(number)"
      guard try Folder.exists(path) else { continue }
      let file = try File(path)
      guard try seen.insert(file.identity).inserted else { continue }
      try read(file, about: Array(id.description.utf8), &rest, limits)
      if isCut { return }
    }
  }

  private mutating func read(
    _ file: File, about id: [UInt8], _ rest: inout Int64, _ limits: Limits
  ) throws(SystemError) {
    var end = try file.size
    /// The beginning of the line that starts before `end`.
    var tail: [UInt8] = []
    while end > 0 {
      guard rest > 0 else {
        isCut = true
        return
      }
      let start = max(end - min(Self.pieceBytes, rest), 0)
      let piece = try file.read(upTo: Int(end - start), at: start) + tail
      rest -= end - start
      end = start
      var lines = piece.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
      // The first line may start before the piece.
      tail = start > 0 ? Array(lines.removeFirst()) : []
      for line in lines.reversed() where Self.contains(line, id) {
        guard let event = Self.event(line, about: id) else { continue }
        guard events.count < limits.events else {
          isCut = true
          return
        }
        events.append(event)
      }
    }
  }

  /// Returns the event in `line`, or `nil` if it is not about the snapshot or not valid.
  private static func event(_ line: ArraySlice<UInt8>, about id: [UInt8]) -> Event? {
    // The id could also be part of another value, such as a report.
    struct Subject: Decodable {
      var snapshot: String?
      var comparedWith: String?
    }
    let data = Data(line)
    do {
      let subject = try SnapshotJSON.decode(Subject.self, from: data)
      let id = String(decoding: id, as: UTF8.self)
      guard subject.snapshot == id || subject.comparedWith == id else { return nil }
      return decode(data)
    } catch {
      return nil
    }
  }

  /// Returns the event in a line; `nil` if it is not valid.
  private static func decode(_ line: Data) -> Event? {
    do { return try SnapshotJSON.decode(Event.self, from: line) } catch { return nil }
  }

  /// Whether `line` contains `text`. Compares bytes, because most lines are about other snapshots.
  private static func contains(_ line: ArraySlice<UInt8>, _ text: [UInt8]) -> Bool {
    guard line.count >= text.count, let first = text.first else { return false }
    for start in line.startIndex...line.endIndex - text.count
    where line[start] == first && line[start..<start + text.count] == text[...] {
      return true
    }
    return false
  }
}
