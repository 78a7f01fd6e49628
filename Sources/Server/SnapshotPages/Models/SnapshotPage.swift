public import SnapshotFormat

/// `/snapshots/{id}`: a snapshot.
public struct SnapshotPage: Sendable {
  /// What somebody may do to a snapshot by a form; the raw value is the end of its path.
  public enum Action: String, Sendable, Hashable, CaseIterable {
    /// Deletes it for good.
    case delete
    /// Keeps it, whatever the rules say.
    case pin
    /// Takes the pin away.
    case unpin
    /// Makes an address of the bundle for anybody.
    case link
  }

  /// Which parts of the lists are shown.
  public struct Selection: Sendable, Hashable {
    /// Only the recordings that this module wants.
    public var module: String?
    /// How many recordings come before the first that is shown.
    public var recordings: Int
    /// How many files come before the first that is shown.
    public var files: Int

    /// A selection.
    public init(module: String? = nil, recordings: Int = 0, files: Int = 0) {
      self.module = module
      self.recordings = recordings
      self.files = files
    }
  }

  /// What the server knows.
  public var record: SnapshotRecord
  /// What the bundle holds, or why that can't be told, in a sentence.
  public var contents: Result<BundleContents, Unreadable>
  /// Which parts of the lists are shown.
  public var selection: Selection
  /// The server as its readers reach it, for `curl` and `snapshot fetch`: `https://snapshots.example.com`.
  public var origin: String
  /// What whoever looks may do.
  public var actions: Set<Action>

  /// A page.
  public init(
    record: SnapshotRecord, contents: Result<BundleContents, Unreadable>,
    selection: Selection = Selection(), origin: String, actions: Set<Action> = []
  ) {
    self.record = record
    self.contents = contents
    self.selection = selection
    self.origin = origin
    self.actions = actions
  }
}

/// Why something that is kept can't be shown.
public struct Unreadable: Error, Sendable, Hashable, CustomStringConvertible {
  /// A sentence for people.
  public let description: String

  /// Says why.
  public init(_ description: String) { self.description = description }
}
