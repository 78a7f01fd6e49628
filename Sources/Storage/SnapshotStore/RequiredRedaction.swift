import SnapshotFormat

/// The redaction rules that the manifest of a bundle must name, because a team does not want to keep what was recorded
/// without them. That an app applied them is what the manifest says; the contents are not searched.
public struct RequiredRedaction: Sendable, Hashable {
  /// What happens to a bundle whose manifest does not name all rules.
  public enum Consequence: String, Sendable, Hashable, CaseIterable {
    /// It is refused.
    case refuse
    /// It is kept, and its record has the metadata ``RequiredRedaction/mark``, which names what is missing.
    case mark
  }

  /// The key of a record's metadata that names the missing rules.
  public static let mark = "redaction"

  /// The names of the rules; if there are none, every bundle is accepted.
  public var rules: [String]
  /// What happens to a bundle without them.
  public var otherwise: Consequence

  /// Creates a requirement; by default, there is none.
  public init(rules: [String] = [], otherwise: Consequence = .refuse) {
    self.rules = rules
    self.otherwise = otherwise
  }

  /// Returns the metadata that marks a bundle. Throws ``/SnapshotFormat/BundleError/redactionMissing(_:)`` if the bundle is
  /// refused.
  func metadata(of manifest: Manifest) throws(BundleError) -> [String: String] {
    let missing = rules.filter { !manifest.redactions.contains($0) }
    if missing.isEmpty { return [:] }
    guard otherwise == .mark else { throw .redactionMissing(missing) }
    return [Self.mark: "without \(missing.joined(separator: ", "))"]
  }
}
