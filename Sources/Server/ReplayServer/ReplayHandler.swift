import DataSnapshots
import Foundation
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
package import SnapshotFormat
import SystemIO

/// Answers requests with the exchanges and recordings of a snapshot.
package struct ReplayHandler: HTTPHandler {
  /// The settings of a handler.
  package struct Configuration: Sendable {
    /// Whether each answer takes as long as when it was recorded, up to ``ReplayLimits/delay``.
    package var delays = false
    /// Who can read the answers.
    package var origins = ReplayOrigins()
    /// The live server for what was not recorded.
    package var upstream: ReplayUpstream?

    /// Creates a configuration that answers what was recorded, at once.
    package init() {}
  }

  private let snapshot: OpenSnapshot
  private let table: ReplayTable
  private let log: ReplayLog
  private let configuration: Configuration
  private let readers = QueueSet("replay-reader", count: ReplayLimits.readers)

  /// Creates a handler.
  package init(
    _ snapshot: OpenSnapshot, _ table: ReplayTable, _ log: ReplayLog, _ configuration: Configuration = .init()
  ) {
    self.snapshot = snapshot
    self.table = table
    self.log = log
    self.configuration = configuration
  }

  /// Responds to a request, and adds it to the log.
  package func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let target = request.path + (request.query.map { "?" + $0 } ?? "")
    let method = request.method.rawValue
    guard configuration.origins.serves(request.authority, table) else {
      log.add(
        method, target, status: 421, .refused("refused: the host \(request.authority) was not recorded"))
      throw HTTPProblem(
        .misdirectedRequest, kind: "wrong-host", title: "This server does not answer for this host",
        detail:
          "\(request.authority) is neither a recorded host nor a name of this machine. Use its address, or pass "
          + "--allow-origin http://\(request.authority)."
      )
    }
    if let page = try await ReplayPage(snapshot.manifest, table, log).response(to: request) { return page }

    var (answer, outcome): (HTTPServerResponse, ReplayLog.Outcome)
    do {
      if let preflight = try configuration.origins.preflight(request) {
        (answer, outcome) = (preflight, .preflight)
      } else {
        (answer, outcome) = try await self.answer(to: request, target)
      }
    } catch let error as Unanswered {
      log.add(method, target, status: nil, error.outcome)
      throw HTTPBodyError.disconnected
    } catch HTTPBodyError.tooLarge(let limit) {
      log.add(method, target, status: 413, .refused("refused: the body has more than \(limit) bytes"))
      throw HTTPBodyError.tooLarge(limit: limit)
    } catch let problem as HTTPProblem {
      (answer, outcome) = (problem.response(requestID: request.id), .refused(problem.title))
    }
    configuration.origins.open(&answer, to: request)
    let note = configuration.origins.obstacle(for: request)
    log.add(method, target, status: answer.status.code, outcome, note: note)
    return answer
  }

  /// The connection is closed without an answer, as when it was recorded.
  private struct Unanswered: Error { let outcome: ReplayLog.Outcome }

  private func answer(
    to request: HTTPServerRequest, _ target: String
  ) async throws -> (HTTPServerResponse, ReplayLog.Outcome) {
    let body = try await request.body.collect(upTo: ReplayLimits.requestBytes)
    let host = request.headerFields[Self.forwardedHost] ?? request.authority
    let (match, contents) = try await readers.next.perform { [table, snapshot] () throws -> Found in
      let match = table.next(request.method.rawValue, target, authority: host, body: body)
      guard case .recorded(let recording, _, _) = match else { return (match, []) }
      return (match, try Self.contents(of: recording, in: snapshot))
    }
    switch match {
    case .recorded(let recording, let number, let count):
      return try await replay(recording, contents, to: request, number, count)
    case .missing(let nearest, let difference):
      if let upstream = configuration.upstream {
        return (try await upstream.response(to: request, target, body: body), .live)
      }
      let hint = nearest.map { " The nearest is \($0), which differs in \(difference ?? "nothing")." } ?? ""
      return (
        problem("The snapshot has no answer to this request." + hint).response(requestID: request.id),
        .missing(nearest: nearest, difference: difference)
      )
    case .exhausted(let count):
      if table.afterLast == .live, let upstream = configuration.upstream {
        return (try await upstream.response(to: request, target, body: body), .live)
      }
      let calls = count == 1 ? "the only recorded call was" : "all \(count) recorded calls were"
      return (
        problem("This request was recorded, but \(calls) replayed before.").response(requestID: request.id),
        .exhausted(count: count)
      )
    }
  }

  private typealias Found = (match: ReplayTable.Match, contents: [UInt8])

  private static let forwardedHost = HTTPField.Name.constant("X-Forwarded-Host")

  private func problem(_ detail: String) -> HTTPProblem {
    HTTPProblem(.notFound, kind: "not-recorded", title: "This request was not recorded", detail: detail)
  }

  private static func contents(
    of recording: Manifest.Recording, in snapshot: OpenSnapshot
  ) throws(HTTPProblem) -> [UInt8] {
    guard recording.size <= ReplayLimits.answerBytes else {
      throw unreadable("It has \(recording.size) bytes; the limit is \(ReplayLimits.answerBytes).")
    }
    do { return try snapshot.contents(of: recording) } catch { throw unreadable("\(error)") }
  }

  private static func unreadable(_ reason: String) -> HTTPProblem {
    HTTPProblem(
      .internalServerError, kind: "recording-unreadable", title: "The recording can't be replayed",
      detail: reason)
  }

  private func replay(
    _ recording: Manifest.Recording, _ contents: [UInt8], to request: HTTPServerRequest, _ number: Int,
    _ count: Int
  ) async throws -> (HTTPServerResponse, ReplayLog.Outcome) {
    let outcome =
      recording.exchange.flatMap { exchange in
        exchange.failure.map { ReplayLog.Outcome.failed("\($0)", number: number, count: count) }
      } ?? .recorded(number: number, count: count)
    do {
      if configuration.delays, let duration = recording.exchange?.duration {
        try await Task.sleep(for: min(.milliseconds(duration), ReplayLimits.delay))
      }
      let answer = RecordedAnswer(recording: recording, bytes: contents, hosts: table.hosts)
      return (try answer.response(to: request), outcome)
    } catch let problem as HTTPProblem {
      return (problem.response(requestID: request.id), outcome)
    } catch {
      // The recorded error, or the client has gone while it waited.
      throw Unanswered(outcome: outcome)
    }
  }
}
