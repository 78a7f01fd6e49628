/// Why a store can take no bundle in: a word for clients, which never changes and says nothing of the server's insides.
public enum StorageFault: String, Sendable, CaseIterable, Codable {
  /// The disk is full, up to what is to be left free.
  case outOfSpace = "out-of-space"
  /// The disk can only be read.
  case readOnly = "read-only"
  /// The disk or the system fails.
  case failing = "failing"
  /// A write does not end within a few seconds.
  case notAnswering = "not-answering"
}
