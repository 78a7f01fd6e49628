/// The reason why a store cannot accept bundles. The raw values are for clients; they never change, and reveal nothing
/// about the server.
public enum StorageFault: String, Sendable, CaseIterable, Codable {
  /// The disk is full, except for the reserved space.
  case outOfSpace = "out-of-space"
  /// The file system is read-only.
  case readOnly = "read-only"
  /// The disk or the system reports errors.
  case failing = "failing"
  /// A write does not complete within a few seconds.
  case notAnswering = "not-answering"
}
