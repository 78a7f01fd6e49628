import Foundation

extension Manifest: Codable {
  private enum Key: String, CodingKey {
    case formatVersion, id, createdAt, application, device, report, modules, recordings, redactions
  }

  /// Reads a manifest. The version is looked at first, so that a newer format is refused as that
  /// (``BundleError/formatTooNew(found:supported:)``) whatever else has changed in it.
  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: Key.self)
    let version = try keys.decode(Int.self, forKey: .formatVersion)
    guard version <= Self.currentFormatVersion else {
      throw BundleError.formatTooNew(found: version, supported: Self.currentFormatVersion)
    }
    guard version >= 1 else {
      throw DecodingError.dataCorruptedError(
        forKey: .formatVersion, in: keys, debugDescription: "versions begin at 1, this is \(version)")
    }
    formatVersion = version
    id = try keys.decode(SnapshotID.self, forKey: .id)
    createdAt = try keys.decode(Date.self, forKey: .createdAt)
    application = try keys.decode(Application.self, forKey: .application)
    device = try keys.decode(Device.self, forKey: .device)
    report = try keys.decodeIfPresent(ReportID.self, forKey: .report)
    modules = try keys.decode([Module].self, forKey: .modules)
    recordings = try keys.decode([Recording].self, forKey: .recordings)
    redactions = try keys.decode([String].self, forKey: .redactions)

    let all = try decoder.container(keyedBy: JSONKey.self)
    for key in all.allKeys where Key(rawValue: key.stringValue) == nil {
      unknown[key.stringValue] = try all.decode(JSONValue.self, forKey: key)
    }
  }

  /// Writes the manifest, the keys that are not known here included.
  public func encode(to encoder: any Encoder) throws {
    var all = encoder.container(keyedBy: JSONKey.self)
    for (name, value) in unknown where Key(rawValue: name) == nil {
      try all.encode(value, forKey: JSONKey(name))
    }
    var keys = encoder.container(keyedBy: Key.self)
    try keys.encode(formatVersion, forKey: .formatVersion)
    try keys.encode(id, forKey: .id)
    try keys.encode(createdAt, forKey: .createdAt)
    try keys.encode(application, forKey: .application)
    try keys.encode(device, forKey: .device)
    try keys.encodeIfPresent(report, forKey: .report)
    try keys.encode(modules, forKey: .modules)
    try keys.encode(recordings, forKey: .recordings)
    try keys.encode(redactions, forKey: .redactions)
  }
}
