/// A line of the table: a metric of one kind of work, for each contestant.
struct Row {
  var work: String
  var metric: Metric
  /// The name of our contestant.
  var ours: String
  /// The values of all rounds, by contestant.
  var samples: [String: [Double]]
  var targets: [Target]
  /// The contestants whose result was limited by the load generator's core. Their processor time is more meaningful.
  var limited: [String]
  /// The measured limit that keeps a target from being met.
  var limit: String?

  init(
    _ work: String, _ metric: Metric, ours: String, _ samples: [String: Samples], _ targets: [Target] = [],
    limit: String? = nil
  ) {
    self.work = work
    self.metric = metric
    self.ours = ours
    self.samples = samples.compactMapValues { $0[metric] }
    self.targets = targets
    self.limit = limit
    limited = samples.filter { $1[.generatorLoad]?.median ?? 0 > 0.95 }.map(\.key).sorted()
  }

  /// The medians, by contestant.
  var values: [String: Double] { samples.mapValues(\.median) }

  func value(of peer: Peer) -> Double? { best(of: peer, values) }

  /// Our value divided by the peer's.
  func ratio(to peer: Peer) -> Double? { ratio(to: peer, values) }

  /// The value that a target bounds, by the medians: our value, or its ratio to the peer's.
  func value(for target: Target) -> Double? { value(for: target, values) }

  /// Whether the target is met by the medians; `nil` if there is no result.
  func isMet(_ target: Target) -> Bool? { value(for: target).map { isMet(target, by: $0) } }

  /// Whether the target is missed by more than noise: in every single round.
  func isMissedInEveryRound(_ target: Target) -> Bool {
    let rounds = samples.values.map(\.count).min() ?? 0
    let values = (0..<rounds).compactMap { round in value(for: target, samples.mapValues { $0[round] }) }
    return !values.isEmpty && values.allSatisfy { !isMet(target, by: $0) }
  }

  private func isMet(_ target: Target, by value: Double) -> Bool {
    metric.moreIsBetter ? value >= target.bound : value <= target.bound
  }

  private func value(for target: Target, _ values: [String: Double]) -> Double? {
    if let peer = target.peer { ratio(to: peer, values) } else { values[ours] }
  }

  private func ratio(to peer: Peer, _ values: [String: Double]) -> Double? {
    guard let ours = values[ours], let theirs = best(of: peer, values), theirs > 0 else { return nil }
    return ours / theirs
  }

  private func best(of peer: Peer, _ values: [String: Double]) -> Double? {
    let theirs = peer.names.filter { $0 != ours }.compactMap { values[$0] }
    return metric.moreIsBetter ? theirs.max() : theirs.min()
  }
}

/// The measured values of one contestant, one for each round.
typealias Samples = [Metric: [Double]]

extension Samples {
  /// Adds the values of a round.
  mutating func add(_ round: [Metric: Double]) {
    for (metric, value) in round { self[metric, default: []].append(value) }
  }
}

/// A bound on our value, or on its ratio to a peer's.
struct Target: Codable {
  /// `nil` if the bound is in the unit of the metric.
  var peer: Peer?
  var bound: Double

  /// A bound on our value.
  static func absolute(_ bound: Double) -> Target { Target(bound: bound) }

  /// A bound on the ratio of our value to a peer's.
  static func of(_ peer: Peer, _ bound: Double) -> Target { Target(peer: peer, bound: bound) }
}

/// The contestants that ours is compared with.
enum Peer: String, CaseIterable, Codable {
  /// The best of its configurations for the same work.
  case nginx
  case hummingbird = "Hummingbird"
  case flyingFox = "FlyingFox"
  /// `HTTPEngine` without a product: it neither hashes nor checks nor synchronizes, and audits nothing.
  case engine
  /// The same server without slow clients.
  case idle = "ours, idle"
  /// Hummingbird with hashing and synchronizing.
  case doingTheSame = "Hummingbird, the same"

  case infoZip = "Info-ZIP"
  case python = "Python"
  case bsdtar

  case curl
  /// curl, and one computation of the file's digest in memory.
  case curlAndDigest = "curl, SHA-256"
  case zipAndCurl = "zip, curl, unzip"

  /// The names of the contestants whose values are used. Of several values the best is used.
  var names: [String] {
    switch self {
    case .nginx: [Contestant.nginx.name, Contestant.nginxPush.name, Contestant.nginxTLS.name]
    case .engine: [Contestant.engine.name]
    case .doingTheSame: [Contestant.hummingbirdDurable.name]
    case .hummingbird, .flyingFox, .idle, .infoZip, .python, .bsdtar, .curl, .curlAndDigest, .zipAndCurl:
      [rawValue]
    }
  }
}
