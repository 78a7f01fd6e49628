package import Foundation
import JSONText
package import SnapshotFormat
import SystemIO

/// An action on a snapshot, or an attempt at one, and its author.
package struct AuditEvent: Sendable, Hashable {
  /// The result of the action.
  package enum Result: String, Sendable, Hashable, CaseIterable {
    /// The action succeeded.
    case done
    /// The caller was not permitted to do it, or the request could not be fulfilled.
    case refused
    /// The server failed, or the client disconnected.
    case failed
  }

  /// The time at which the action ended.
  package var time: Date
  /// The request's id, as in its response and in the server's log; `nil` for actions of the server itself.
  package var request: String?
  /// The id of the token that was used. The token's secret is never recorded.
  package var token: String?
  /// The name of the user whom a trusted proxy has named, instead of a token.
  package var user: String?
  /// Whether a download link was used instead of a token.
  package var usesLink: Bool
  package var action: AuditAction
  /// The snapshot that was accessed.
  package var snapshot: SnapshotID?
  /// The snapshot with which it was compared.
  package var comparedWith: SnapshotID?
  /// The report to which the snapshot is attached.
  package var report: ReportID?
  /// The address of the client.
  package var address: String?
  /// The result of the action.
  package var result: Result
  /// The status of the response; `nil` if there was none.
  package var status: Int?
  /// The kind of problem in the response.
  package var problem: String?
  /// The number of refusals that share this line.
  package var count: Int

  /// Creates an event from its parts.
  package init(
    _ action: AuditAction, _ result: Result, time: Date = Date(), request: String? = nil,
    token: String? = nil, user: String? = nil,
    usesLink: Bool = false, snapshot: SnapshotID? = nil, comparedWith: SnapshotID? = nil,
    report: ReportID? = nil, address: String? = nil,
    status: Int? = nil, problem: String? = nil, count: Int = 1
  ) {
    self.time = time
    self.request = request
    self.token = token
    self.user = user
    self.usesLink = usesLink
    self.action = action
    self.snapshot = snapshot
    self.comparedWith = comparedWith
    self.report = report
    self.address = address
    self.result = result
    self.status = status
    self.problem = problem
    self.count = count
  }

  /// The event as a JSON object on one line, including the line end. Unknown values are omitted. Control characters are
  /// escaped, so that no value can end a line or control a terminal.
  package var line: String { String(decoding: bytes, as: UTF8.self) }

  /// ``line`` in UTF-8.
  package var bytes: [UInt8] {
    var line = AuditLine(time)
    line.append(#","request":"#, request)
    line.append(#","token":"#, token)
    line.append(#","user":"#, user)
    if usesLink { line.append(plain: #","link":true"#) }
    line.append(#","action":"#, action.rawValue)
    line.append(#","snapshot":"#, snapshot)
    line.append(#","comparedWith":"#, comparedWith)
    line.append(#","report":"#, report?.description)
    line.append(#","address":"#, address)
    line.append(#","result":"#, result.rawValue)
    line.append(#","status":"#, status)
    line.append(#","problem":"#, problem)
    if count > 1 { line.append(#","count":"#, count) }
    line.append(plain: "}\n")
    return line.bytes
  }
}

/// Builds a JSON object on one line (RFC 8259). Most requests write one, so it appends to bytes instead of creating
/// strings, and a key brings its punctuation.
struct AuditLine {
  /// The bytes written so far.
  private(set) var bytes: [UInt8] = []

  init(_ time: Date) {
    bytes.reserveCapacity(384)
    bytes.append(contentsOf: #"{"time":""#.utf8)
    UTCTime(secondsSince1970: time.timeIntervalSince1970).append(to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends a member. Does nothing if `value` is `nil`.
  /// - Parameter key: a comma, the key in quotes, and a colon.
  mutating func append(_ key: StaticString, _ value: String?) {
    guard let value else { return }
    append(plain: key)
    JSONString.append(value, to: &bytes)
  }

  /// Appends a member whose value is an identifier. Does nothing if `value` is `nil`.
  mutating func append(_ key: StaticString, _ value: SnapshotID?) {
    guard let value else { return }
    append(plain: key)
    bytes.append(UInt8(ascii: "\""))
    value.append(to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends text that needs no escapes.
  mutating func append(plain text: StaticString) {
    text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }

  /// Appends a member whose value is a number. Does nothing if `value` is `nil`.
  mutating func append(_ key: StaticString, _ value: Int?) {
    guard let value else { return }
    append(plain: key)
    bytes.append(contentsOf: String(value).utf8)
  }
}
