package import DataSnapshots
import Foundation
import Redaction
package import SnapshotFormat
import SystemIO

/// Which recording answers which request, and how often each was requested. Thread-safe.
///
/// The scheme and the host of a recorded request do not count, because the app sends its requests to the replay server.
/// A request whose `Host` is a recorded one prefers that.
package final class ReplayTable: Sendable {
  /// The settings of a table.
  package struct Configuration: Sendable {
    /// The rules for recordings that are not exchanges.
    package var map: ReplayMap
    /// The only recorded host that answers, such as `api.example.com`; `nil` for all.
    package var host: String?
    /// The names of query items that do not count, in lower case, besides those of ``ExchangeRules``.
    package var ignoredQueryItems: Set<String> = []
    /// What follows the last recorded call.
    package var afterLast = SnapshotMode.Policy.AfterLast.repeat

    /// Creates a configuration in which everything recorded answers.
    package init(map: ReplayMap) { self.map = map }
  }

  /// The recorded calls of one request.
  package struct History: Sendable {
    /// The identifier of the recordings.
    package let identifier: String
    /// The request that they answer, such as `GET /feed?page=1`.
    package let request: String
    /// The recorded scheme and host; empty for a recording that is not an exchange.
    package let host: String
    /// The calls in the order in which they ended. There is at least one.
    package let calls: [Manifest.Recording]
  }

  /// The recordings that can answer a request.
  enum Match: Sendable {
    /// The call with this number, of all.
    case recorded(Manifest.Recording, number: Int, count: Int)
    /// All `count` calls have been replayed.
    case exhausted(count: Int)
    /// There is none. The nearest recorded request, and in what the request differs from it.
    case missing(nearest: String?, difference: String?)
  }

  /// How much of a request must be the same.
  private enum Scope { case everything, allButBody, methodAndPath }

  private struct Key: Hashable {
    let scope: Scope
    let request: ExchangeIdentifier
  }

  /// Takes the place of all hosts.
  private static let anyHost = "http://replay"

  /// The recorded requests, in the order of the manifest.
  package let histories: [History]
  /// The identifiers that answer no request, in the order of the manifest.
  package let unmapped: [String]
  /// The rules that fit no recording.
  package let unusedRules: [ReplayMap.Rule]
  /// The recorded schemes and hosts.
  package let hosts: Set<String>
  /// The number of requests that were recorded from several hosts.
  package let ambiguities: Int
  let afterLast: SnapshotMode.Policy.AfterLast

  private let indices: [Key: [Int]]
  private let names: [String: String]
  private let rules: ExchangeRules
  private let redactors: [Redactor]
  /// How many times each history was requested.
  private let positions: Lock<[Int]>

  /// Creates the table of the recordings of a snapshot.
  package init(_ manifest: Manifest, _ configuration: Configuration) {
    var rules = ExchangeRules()
    rules.volatileQueryItems.formUnion(configuration.ignoredQueryItems)
    self.rules = rules
    afterLast = configuration.afterLast
    let known: [RedactionRule] = .usualSecrets + [.phoneNumbers, .uuids]
    let applied = known.filter { manifest.redactions.contains($0.name) }
    redactors = [Redactor(rules: [])] + (applied.isEmpty ? [] : [Redactor(rules: applied)])

    var (histories, indices, names): ([History], [Key: [Int]], [String: String]) = ([], [:], [:])
    var (unmapped, used, hosts): ([String], Set<Int>, Set<String>) = ([], [], [])
    let calls = Dictionary(grouping: manifest.recordings, by: \.identifier)
    var seen: Set<String> = []
    for recording in manifest.recordings where seen.insert(recording.identifier).inserted {
      let calls = (calls[recording.identifier] ?? []).sorted { ($0.call ?? 0) < ($1.call ?? 0) }
      let key: Key
      var host = ""
      if let exchange = recording.exchange,
        let parts = Self.parts(of: recording.identifier, exchange, rules)
      {
        host = parts.host
        hosts.insert(host)
        if let wanted = configuration.host, Self.authority(of: host) != wanted.lowercased() { continue }
        let ignoresBody = parts.body == nil && exchange.request.body != nil
        key = Key(scope: ignoresBody ? .allButBody : .everything, request: parts.leaving(rules))
      } else if let (target, rule) = configuration.map.target(of: recording.identifier),
        let request = Self.identifier(target.method, target.path, Data(), redactors[0], rules)
      {
        used.insert(rule)
        key = Key(scope: target.path.contains("?") ? .allButBody : .methodAndPath, request: request)
      } else {
        unmapped.append(recording.identifier)
        continue
      }
      indices[key, default: []].append(histories.count)
      let request = key.request.description
      names[request] = request.replacing(Self.anyHost, with: "")
      histories.append(
        History(
          identifier: recording.identifier, request: names[request] ?? "", host: host, calls: calls))
    }
    self.histories = histories
    self.indices = indices
    self.names = names
    self.unmapped = unmapped
    self.hosts = hosts
    ambiguities = indices.values.count { $0.count > 1 }
    unusedRules = configuration.map.rules.enumerated().filter { !used.contains($0.offset) }.map(\.element)
    positions = Lock(Array(repeating: 0, count: histories.count))
  }

  /// The identifier of an exchange in its parts. If the app has rewritten it to something else, the method and the URL of
  /// the request count.
  private static func parts(
    of identifier: String, _ exchange: Manifest.Exchange, _ rules: ExchangeRules
  ) -> ExchangeIdentifier? {
    if let parts = ExchangeIdentifier(identifier) { return parts }
    guard let url = URL(string: exchange.request.url) else { return nil }
    return ExchangeIdentifier(
      rules.identifier(method: exchange.request.method, url: url, body: Data(), Redactor(rules: [])))
  }

  /// The host and port in a scheme and host, in lower case.
  private static func authority(of host: String) -> String {
    (host.firstRange(of: "://").map { String(host[$0.upperBound...]) } ?? host).lowercased()
  }

  /// Whether `authority` is a recorded host, with or without its port.
  func isRecorded(_ authority: String) -> Bool {
    let name = authority.lowercased()
    return hosts.contains { Self.authority(of: $0) == name || Self.authority(of: $0).hasPrefix(name + ":") }
  }

  // MARK: - Requests

  /// Finds the recorded answer to a request, and counts it. A `HEAD` that was not recorded is answered as a `GET`, and
  /// not counted. Computes digests; don't call it on an event loop.
  /// - Parameter target: the path and the query.
  func next(_ method: String, _ target: String, authority: String, body: [UInt8]) -> Match {
    var asked: ExchangeIdentifier?
    for sought in method == "HEAD" ? ["HEAD", "GET"] : [method] {
      for redactor in redactors {
        guard let request = Self.identifier(sought, target, Data(body), redactor, rules) else { break }
        if let index = find(request, authority) { return call(of: index, counts: sought == method) }
        asked = asked ?? request
      }
    }
    guard let asked, let nearest = asked.nearest(among: Array(names.keys)).first,
      let recorded = ExchangeIdentifier(nearest)
    else { return .missing(nearest: nil, difference: nil) }
    return .missing(nearest: names[nearest], difference: asked.difference(from: recorded))
  }

  private static func identifier(
    _ method: String, _ target: String, _ body: Data, _ redactor: Redactor, _ rules: ExchangeRules
  ) -> ExchangeIdentifier? {
    guard let url = URL(string: anyHost + target) else { return nil }
    return ExchangeIdentifier(rules.identifier(method: method, url: url, body: body, redactor))?
      .leaving(rules)
  }

  private func find(_ request: ExchangeIdentifier, _ authority: String) -> Int? {
    let keys = [
      Key(scope: .everything, request: request),
      Key(scope: .allButBody, request: request.withoutBody),
      // A rule names no operation.
      Key(scope: .allButBody, request: request.reduced(keepsQuery: true)),
      Key(scope: .methodAndPath, request: request.reduced(keepsQuery: false)),
    ]
    for key in keys {
      guard let found = indices[key] else { continue }
      let wanted = authority.lowercased()
      return found.first { Self.authority(of: histories[$0].host) == wanted } ?? found.first
    }
    return nil
  }

  private func call(of index: Int, counts: Bool) -> Match {
    let calls = histories[index].calls
    let position = positions.withLock { positions in
      let position = positions[index]
      if counts { positions[index] += 1 }
      return position
    }
    if position >= calls.count, afterLast != .repeat { return .exhausted(count: calls.count) }
    let number = min(position, calls.count - 1)
    return .recorded(calls[number], number: number + 1, count: calls.count)
  }

  /// How many times each of the ``histories`` was requested.
  package var counts: [Int] { positions.withLock { $0 } }

  /// Begins all histories again.
  package func reset() { positions.withLock { $0 = Array(repeating: 0, count: $0.count) } }
}

extension ExchangeIdentifier {
  /// The identifier for any host, without query items that do not count.
  fileprivate func leaving(_ rules: ExchangeRules) -> ExchangeIdentifier {
    ExchangeIdentifier(
      method: method, host: "http://replay", path: path.isEmpty ? "/" : path,
      query: query.filter { !rules.volatileQueryItems.contains($0.prefix { $0 != "=" }.lowercased()) },
      operation: operation, body: body)
  }

  /// The identifier without operation and body.
  fileprivate func reduced(keepsQuery: Bool) -> ExchangeIdentifier {
    ExchangeIdentifier(
      method: method, host: host, path: path, query: keepsQuery ? query : [], operation: nil, body: nil)
  }
}
