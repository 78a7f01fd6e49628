import SnapshotFormat

extension SnapshotComparison: Encodable {
  private enum CodingKeys: CodingKey {
    case differs, facts, added, removed, changed, alike, files
  }

  /// Encodes the comparison. The place of a change has the key `fact`, `path`, `line` or `name`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(!isEmpty, forKey: .differs)
    try container.encode(facts.map { Written($0, .fact, $0.place.description) }, forKey: .facts)
    try container.encode(added, forKey: .added)
    try container.encode(removed, forKey: .removed)
    try container.encode(changed, forKey: .changed)
    try container.encode(alike, forKey: .alike)
    try container.encode(files.map { Written($0, .name, $0.place) }, forKey: .files)
  }
}

extension RecordingDifference: Encodable {
  private enum CodingKeys: CodingKey {
    case identifier, call, first, second, compared, changes, count, isComplete, firstDifference
  }

  private struct Version: Encodable {
    let size: Int64
    let sha256: String
  }

  /// Encodes the difference. The key `compared` is `json`, `omitted`, `text`, `bytes` or `beyondLimits` and determines the
  /// other keys.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(second.identifier, forKey: .identifier)
    try container.encodeIfPresent(second.call, forKey: .call)
    try container.encode(Version(size: first.size, sha256: first.sha256.description), forKey: .first)
    try container.encode(Version(size: second.size, sha256: second.sha256.description), forKey: .second)
    switch detail {
    case .json(let changes):
      try container.encode("json", forKey: .compared)
      try container.encode(changes.rows.map { Written($0, .path, $0.place.description) }, forKey: .changes)
      try container.encode(changes.count, forKey: .count)
      try container.encode(changes.isComplete, forKey: .isComplete)
    case .text(let changes):
      try container.encode("text", forKey: .compared)
      try container.encode(changes.rows.map { Written($0, .line, $0.place) }, forKey: .changes)
      try container.encode(changes.count, forKey: .count)
      try container.encode(changes.isComplete, forKey: .isComplete)
    case .omitted: try container.encode("omitted", forKey: .compared)
    case .bytes(let offset):
      try container.encode("bytes", forKey: .compared)
      try container.encode(offset, forKey: .firstDifference)
    case .beyondLimits:
      try container.encode("beyondLimits", forKey: .compared)
    }
  }
}

/// A change, encoded with its place under a given key.
private struct Written<Place: Encodable>: Encodable {
  enum CodingKeys: CodingKey { case kind, fact, path, line, name, first, second }

  let kind: ChangeKind
  let key: CodingKeys
  let place: Place
  let first: String?
  let second: String?

  init(_ change: Change<some Sendable & Hashable>, _ key: CodingKeys, _ place: Place) {
    kind = change.kind
    self.key = key
    self.place = place
    first = change.first
    second = change.second
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind.rawValue, forKey: .kind)
    try container.encode(place, forKey: key)
    try container.encodeIfPresent(first, forKey: .first)
    try container.encodeIfPresent(second, forKey: .second)
  }
}
