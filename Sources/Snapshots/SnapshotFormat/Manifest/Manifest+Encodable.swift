import Foundation
import JSONText

extension Manifest: Encodable {
  private enum Key: String, CodingKey {
    case formatVersion, id, createdAt, application, device, report, modules, recordings, redactions
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
