/// A folder or a file of an app's container.
public struct ContainerEntry: Sendable, Hashable {
  /// What it is.
  public enum Kind: Sendable, Hashable {
    /// A folder, empty or not.
    case folder
    /// A file of so many bytes, which its owner may run or not.
    case file(size: Int64, isExecutable: Bool)
  }

  /// Its path from the container's top, such as `Documents/notes.json`.
  public let path: String
  /// What it is.
  public let kind: Kind

  /// The path of the folder that it lies in; empty for the container itself.
  public var parent: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "" }
  /// The last part of its path.
  public var name: String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }
  /// Its bytes; a folder has none.
  public var size: Int64 { if case .file(let size, _) = kind { size } else { 0 } }
  /// Whether it is a folder.
  public var isFolder: Bool { kind == .folder }
  /// Whether it is a file that its owner may run.
  public var isExecutable: Bool { if case .file(_, true) = kind { true } else { false } }
}

/// What is never copied from a container.
enum ContainerRules {
  /// The system's own note, at the top, of whose container it is: false in any other.
  private static let identity = ".com.apple.mobile_container_manager.metadata.plist"

  /// Whether `path` is passed over: Finder's notes, the container's identity, and what a copy that was killed left.
  static func passesOver(_ path: String, named name: Substring) -> Bool {
    name == BundleLayout.finderFile || path == identity || StagedName.matches(name)
  }
}

/// The name of a file on its way to another name in the same folder.
public enum StagedName {
  private static let prefix = ".snapshot-"
  private static let suffix = ".partial"

  /// A name that nothing else has.
  public static func make() -> String { prefix + SnapshotID().description + suffix }

  /// Whether ``make()`` could have made `name`.
  public static func matches(_ name: some StringProtocol) -> Bool {
    name.hasPrefix(prefix) && name.hasSuffix(suffix) && name.utf8.count == make().utf8.count
      && SnapshotID(String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
  }
}
