/// The result of a copy into a container.
public struct PreloadReport: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The result for one file.
  public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
    /// The file did not exist.
    case created
    /// The file replaced a different one.
    case replaced
    /// The file was already the same, and was not touched.
    case unchanged
  }

  /// A file that is in the container after the copy.
  public struct File: Sendable, Hashable, Codable {
    /// The path in the container.
    public var path: String
    /// The size in bytes.
    public var size: Int64
    /// The result for this file.
    public var outcome: Outcome
  }

  /// All files, sorted by the bytes of their paths.
  public internal(set) var files: [File] = []
  /// The folders that were created.
  public internal(set) var folders: [String] = []
  /// The items that were removed because they are not in the source; only when the destination must equal the source.
  public internal(set) var removed: [String] = []
  /// The items in the source that are never copied, such as `.DS_Store`.
  public internal(set) var passedOver: [String] = []

  /// Returns the paths of the files with this outcome.
  public func paths(_ outcome: Outcome) -> [String] {
    files.filter { $0.outcome == outcome }.map(\.path)
  }

  /// The number of bytes written.
  public var bytes: Int64 { files.reduce(0) { $0 + ($1.outcome == .unchanged ? 0 : $1.size) } }

  /// The numbers of files and bytes in one line.
  public var description: String {
    let counts = Outcome.allCases.map { "\(paths($0).count) \($0.rawValue)" }
    let removed = removed.isEmpty ? [] : ["\(removed.count) removed"]
    return "\((counts + removed).joined(separator: ", ")); \(bytes) bytes written"
  }
}

/// The successful result of a call that preloads an app's container.
public enum Preloading: Sendable, Hashable, CustomStringConvertible {
  /// The data was copied.
  case copied(PreloadReport)
  /// The condition, given by its description, was false. Nothing was read or written.
  case skipped(unless: String)

  /// The result in one line.
  public var description: String {
    switch self {
    case .copied(let report): "App data preloaded: \(report)."
    case .skipped(let condition): "No app data preloaded: the condition is \(condition)."
    }
  }
}
