extension SnapshotRecord {
  /// How many modules of a snapshot are complete: every identifier that the module declares was recorded.
  public struct Completeness: Sendable, Hashable {
    /// The number of complete modules.
    public var complete: Int
    /// The number of modules.
    public var total: Int

    /// Creates a value from its parts.
    public init(complete: Int, total: Int) { (self.complete, self.total) = (complete, total) }
  }

  /// How many modules are complete; `nil` if the record has no ``identifiers``, or not all that are needed.
  /// A sealed bundle can hide them.
  public var completeness: Completeness? {
    guard let identifiers, sealed == nil || recordingCount > 0 else { return nil }
    let limits = IdentifierLimits()
    let recorded = Set(identifiers)
    let bytes = identifiers.reduce(0) { $0 + $1.utf8.count }
    var complete = 0
    for module in modules {
      let missing = module.files.filter { !recorded.contains($0) }
      if missing.isEmpty {
        complete += 1
      } else if !missing.contains(where: {
        identifiers.count < limits.count && bytes + $0.utf8.count <= limits.bytes
      }) {
        // The record would lack each of these even if it had been recorded.
        return nil
      }
    }
    return Completeness(complete: complete, total: modules.count)
  }
}
