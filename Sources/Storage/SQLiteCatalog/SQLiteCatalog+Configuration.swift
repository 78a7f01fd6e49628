extension SQLiteCatalog {
  /// Where a catalogue is, and what it may use.
  public struct Configuration: Sendable {
    /// The database file; beside it is its log (`-wal`). While it is open, no other process can open it.
    public var path: String
    /// How many pages are looked for at once, at least 1.
    public var readers: Int
    /// The most bytes of the database that each reader and the writer keep in memory.
    public var cacheBytes: Int
    /// Told why what is there was given up, one sentence for the log.
    public var onLoss: @Sendable (String) -> Void

    /// Settings for the database at `path`.
    public init(
      path: String, readers: Int = 4, cacheBytes: Int = 8 << 20,
      onLoss: @escaping @Sendable (String) -> Void = { _ in }
    ) {
      self.path = path
      self.readers = readers
      self.cacheBytes = cacheBytes
      self.onLoss = onLoss
    }
  }
}
