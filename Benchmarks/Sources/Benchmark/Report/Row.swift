/// A line of the table: a metric of one kind of work, for each contestant.
struct Row: Codable {
  /// A bound on the ratio of our value to a peer's.
  struct Target: Codable {
    var peer: Peer
    var bound: Double
  }

  var work: String
  var metric: Metric
  /// The name of our contestant.
  var ours: String
  /// The medians, by contestant.
  var values: [String: Double]
  var targets: [Target]
  /// The contestants whose result was limited by the load generator's core. Their processor time is more meaningful.
  var limited: [String]

  init(
    _ work: String, _ metric: Metric, ours: String, _ values: [String: [Metric: Double]],
    _ bounds: [Peer: Double] = [:]
  ) {
    self.work = work
    self.metric = metric
    self.ours = ours
    self.values = values.compactMapValues { $0[metric] }
    limited = values.filter { $1[.generatorLoad] ?? 0 > 0.95 }.map(\.key).sorted()
    targets = Peer.allCases.compactMap { peer in bounds[peer].map { Target(peer: peer, bound: $0) } }
  }

  func value(of peer: Peer) -> Double? {
    let values = peer.names.filter { $0 != ours }.compactMap { self.values[$0] }
    return metric.moreIsBetter ? values.max() : values.min()
  }

  /// Our value divided by the peer's.
  func ratio(to peer: Peer) -> Double? {
    guard let ours = values[ours], let theirs = value(of: peer), theirs > 0 else { return nil }
    return ours / theirs
  }

  func bound(for peer: Peer) -> Double? { targets.first { $0.peer == peer }?.bound }

  /// Whether the target is met; `nil` if there is no target or no result.
  func isMet(_ peer: Peer) -> Bool? {
    guard let bound = bound(for: peer), let ratio = ratio(to: peer) else { return nil }
    return metric.moreIsBetter ? ratio >= bound : ratio <= bound
  }
}

/// The contestants that ours is compared with.
enum Peer: String, CaseIterable, Codable {
  /// The best of its configurations for the same work.
  case nginx
  case hummingbird = "Hummingbird"
  case flyingFox = "FlyingFox"
  /// The engine without hashing, checking and synchronizing.
  case unsynced = "ours, unsynced"
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
    case .unsynced: [Contestant.engine.name]
    case .doingTheSame: [Contestant.hummingbirdDurable.name]
    case .hummingbird, .flyingFox, .idle, .infoZip, .python, .bsdtar, .curl, .curlAndDigest, .zipAndCurl:
      [rawValue]
    }
  }
}
