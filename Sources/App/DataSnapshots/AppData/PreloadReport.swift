/// What a copy into a container did.
public struct PreloadReport: Sendable, Hashable, Codable, CustomStringConvertible {
  /// What became of a file.
  public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
    /// There was none.
    case created
    /// Another one was there.
    case replaced
    /// The same was there, and was left alone.
    case unchanged
  }

  /// A file that is in place now.
  public struct File: Sendable, Hashable, Codable {
    /// Its path in the container.
    public var path: String
    /// Its length in bytes.
    public var size: Int64
    /// What became of it.
    public var outcome: Outcome
  }

  /// All files, sorted by the bytes of their paths.
  public internal(set) var files: [File] = []
  /// The folders that were missing and have been made.
  public internal(set) var folders: [String] = []
  /// What was removed because the source has nothing like it: only where a copy is to be the same as its source.
  public internal(set) var removed: [String] = []
  /// What is in the source and is never copied, such as `.DS_Store`.
  public internal(set) var passedOver: [String] = []

  /// The paths of the files that `outcome` became of.
  public func paths(_ outcome: Outcome) -> [String] {
    files.filter { $0.outcome == outcome }.map(\.path)
  }

  /// How many bytes were written.
  public var bytes: Int64 { files.reduce(0) { $0 + ($1.outcome == .unchanged ? 0 : $1.size) } }

  /// The numbers in one line.
  public var description: String {
    let counts = Outcome.allCases.map { "\(paths($0).count) \($0.rawValue)" }
    let removed = removed.isEmpty ? [] : ["\(removed.count) removed"]
    return "\((counts + removed).joined(separator: ", ")); \(bytes) bytes written"
  }
}

/// How a call to preload an app's container ended, where nothing went wrong.
public enum Preloading: Sendable, Hashable, CustomStringConvertible {
  /// The data is in place.
  case copied(PreloadReport)
  /// The condition, which is told in words, did not hold, and nothing was looked at or done.
  case skipped(unless: String)

  /// What happened, in one line.
  public var description: String {
    switch self {
    case .copied(let report): "App data preloaded: \(report)."
    case .skipped(let condition): "No app data preloaded: that takes \(condition)."
    }
  }
}
