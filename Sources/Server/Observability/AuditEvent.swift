package import Foundation
package import SnapshotFormat

/// Who did what to which snapshot, or tried to.
package struct AuditEvent: Sendable, Hashable {
  /// How it ended.
  package enum Result: String, Sendable, Hashable, CaseIterable {
    /// It was done.
    case done
    /// The caller may not, or what it asked for can't be done.
    case refused
    /// The server failed, or the client went away.
    case failed
  }

  /// When it ended.
  package var time: Date
  /// The request's id, as in its answer and in the server's log; `nil` for what no request asked for.
  package var request: String?
  /// The id of the token that it was done with; never the token.
  package var token: String?
  /// Whether a download link was used in place of a token.
  package var usesLink: Bool
  /// What was done, such as `fetchBundle`: the name of the operation in the description of the API, whether it was done
  /// by the API or by a web page.
  package var action: String
  /// The snapshot that it was done to.
  package var snapshot: SnapshotID?
  /// What it was compared with.
  package var comparedWith: SnapshotID?
  /// The report that the snapshot is attached to.
  package var report: ReportID?
  /// Where the request came from.
  package var address: String?
  /// How it ended.
  package var result: Result
  /// The status of the answer; `nil` where there was none.
  package var status: Int?
  /// The kind of problem that the caller was told.
  package var problem: String?
  /// How many times, where refusals that are alike share a line.
  package var count: Int

  /// An event by its parts.
  package init(
    _ action: String, _ result: Result, time: Date = Date(), request: String? = nil, token: String? = nil,
    usesLink: Bool = false, snapshot: SnapshotID? = nil, comparedWith: SnapshotID? = nil,
    report: ReportID? = nil, address: String? = nil,
    status: Int? = nil, problem: String? = nil, count: Int = 1
  ) {
    self.time = time
    self.request = request
    self.token = token
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

  /// The event as a JSON object on a line of its own, its end included. What is not known is left out, and no
  /// character that could move a cursor or end a line gets out as it is.
  package var line: String { String(decoding: bytes, as: UTF8.self) }

  /// ``line`` in UTF-8.
  package var bytes: [UInt8] {
    var line = AuditLine()
    line.append("time", time)
    line.append("request", request)
    line.append("token", token)
    if usesLink { line.append("link", literal: "true") }
    line.append("action", action)
    line.append("snapshot", snapshot?.description)
    line.append("comparedWith", comparedWith?.description)
    line.append("report", report?.description)
    line.append("address", address)
    line.append("result", result.rawValue)
    if let status { line.append("status", literal: "\(status)") }
    line.append("problem", problem)
    if count > 1 { line.append("count", literal: "\(count)") }
    line.end()
    return line.bytes
  }
}
