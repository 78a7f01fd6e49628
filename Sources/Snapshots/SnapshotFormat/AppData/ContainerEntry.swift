/// A folder or file in an app's container.
public struct ContainerEntry: Sendable, Hashable {
  /// The kind of an entry.
  public enum Kind: Sendable, Hashable {
    /// A folder, empty or not.
    case folder
    /// A file with its size in bytes, and whether its owner may execute it.
    case file(size: Int64, isExecutable: Bool)
  }

  /// The path relative to the container, such as `Documents/notes.json`.
  public let path: String
  /// The kind of the entry.
  public let kind: Kind

  /// The path of the parent folder; empty for the container itself.
  public var parent: String { slash.map { String(path[..<$0]) } ?? "" }
  /// The last component of the path.
  public var name: String {
    slash.map { String(Substring(path.utf8[$0...].dropFirst())) } ?? path
  }
  /// The last slash. A slash and a following combining mark are one character.
  private var slash: String.Index? { path.utf8.lastIndex(of: UInt8(ascii: "/")) }
  /// The size in bytes; 0 for a folder.
  public var size: Int64 { if case .file(let size, _) = kind { size } else { 0 } }
  /// Whether it is a folder.
  public var isFolder: Bool { kind == .folder }
  /// Whether it is a file that its owner may execute.
  public var isExecutable: Bool { if case .file(_, true) = kind { true } else { false } }
}

/// Rules for items that are never copied from a container.
enum ContainerRules {
  /// A file in which the system records the container's owner. It would be wrong in any other container.
  private static let identity = ".com.apple.mobile_container_manager.metadata.plist"

  /// Whether `path` is skipped: Finder's metadata, the container's identity, and temporary files of an interrupted
  /// copy.
  static func passesOver(_ path: String, named name: Substring) -> Bool {
    name == BundleLayout.finderFile || path == identity || StagedName.matches(name)
  }
}

/// Names of temporary files that are renamed after they are complete.
package enum StagedName {
  private static let prefix = ".snapshot-"
  private static let suffix = ".partial"

  /// A new unique name.
  package static func make() -> String { prefix + SnapshotID().description + suffix }

  /// Whether `name` has the form of ``make()``.
  package static func matches(_ name: some StringProtocol) -> Bool {
    name.hasPrefix(prefix) && name.hasSuffix(suffix) && name.utf8.count == make().utf8.count
      && SnapshotID(String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
  }
}
