/// One line of the table: a metric of one kind of work, for everybody who did it.
struct Row: Codable {
  /// A bound on the ratio of ours to a peer's.
  struct Target: Codable {
    var peer: Peer
    var bound: Double
  }

  var work: String
  var metric: Metric
  /// Whose ratio to the others is judged.
  var ours: String
  /// The medians, by name.
  var values: [String: Double]
  var targets: [Target]
  /// Who was so fast that the load generator's core was the limit: there, processor time tells more.
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

  /// Ours divided by the peer's.
  func ratio(to peer: Peer) -> Double? {
    guard let ours = values[ours], let theirs = value(of: peer), theirs > 0 else { return nil }
    return ours / theirs
  }

  func bound(for peer: Peer) -> Double? { targets.first { $0.peer == peer }?.bound }

  /// Whether the target is met; `nil` where there is none, or nothing to judge by.
  func isMet(_ peer: Peer) -> Bool? {
    guard let bound = bound(for: peer), let ratio = ratio(to: peer) else { return nil }
    return metric.moreIsBetter ? ratio >= bound : ratio <= bound
  }
}

/// What ours is held against.
enum Peer: String, CaseIterable, Codable {
  /// In the better of its two configurations.
  case nginx
  case hummingbird = "Hummingbird"
  case flyingFox = "FlyingFox"
  /// The engine without hashing, checking and flushing.
  case unsynced = "ours, unsynced"
  /// The same server while nobody holds it up.
  case idle = "ours, idle"
  /// Hummingbird hashing and flushing too.
  case doingTheSame = "Hummingbird, the same"

  case infoZip = "Info-ZIP"
  case python = "Python"
  case bsdtar

  /// Whose values are taken, and of several the best.
  var names: [String] {
    switch self {
    case .nginx: [Contestant.nginx.name, Contestant.nginxPush.name]
    case .unsynced: [Contestant.engine.name]
    case .doingTheSame: [Contestant.hummingbirdDurable.name]
    case .hummingbird, .flyingFox, .idle, .infoZip, .python, .bsdtar: [rawValue]
    }
  }
}
