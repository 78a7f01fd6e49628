public import Foundation
import SystemIO

/// A small set of strings that an app must never lose, such as user and device ids, stored apart from all other data.
///
///     let critical = try CriticalValues(copies: support.appending(path: "critical"), preferences.appending(path: "critical"))
///     try critical.set("u-4711", for: "userID")
///
/// **Guarantees:**
/// - There are two copies, each with a checksum, ideally in two folders. All values are available if at least one copy
///   is intact: the initializer uses the newer intact copy, and restores a copy that is missing, damaged or outdated.
/// - When ``set(_:for:)`` returns, at least one copy contains the value durably, even after a power failure. When it
///   throws, nothing has changed. The copies are replaced one after the other, each atomically.
/// - If both copies are damaged, they are renamed to `….corrupt` in the same folders, and the store starts empty.
///
/// All methods are thread-safe; only one instance at a time can use the two files. The values are stored unencrypted,
/// as in all of the app's files: keep secrets in the keychain instead.
public final class CriticalValues: Sendable {
  /// The maximum number and size of keys and values.
  public enum Limits {
    /// The maximum number of values.
    public static let values = 64
    /// The maximum size of a key in UTF-8 bytes; the minimum is 1.
    public static let keyBytes = 256
    /// The maximum size of a value in UTF-8 bytes.
    public static let valueBytes = 4096
  }

  private let copies: [CriticalCopy]
  private let onEvent: @Sendable (RepositoryEvent) -> Void
  private let contents: Lock<CriticalCopy.Contents>
  /// Held during disk writes; readers use only the lock of ``contents``.
  private let writing = NSLock()

  /// Reads both copies and restores a copy that is missing, damaged or outdated.
  /// - Parameters:
  ///   - first: the first copy. Its folder is created when the first value is written.
  ///   - second: the second copy, ideally in another folder.
  ///   - onEvent: called when a copy was restored (``RepositoryEvent/Kind/healed``), can't be written
  ///     (``RepositoryEvent/Kind/notSaved``), or was set aside (``RepositoryEvent/Kind/corrupt``).
  /// - Throws: ``RepositoryError/Code/unreadable`` if a copy exists that can't be read, and no other copy is intact.
  public convenience init(
    copies first: URL, _ second: URL, onEvent: @escaping @Sendable (RepositoryEvent) -> Void = { _ in }
  ) throws(RepositoryError) {
    try self.init(copies: first, second, disk: .real, onEvent: onEvent)
  }

  package init(
    copies first: URL, _ second: URL, disk: Disk,
    onEvent: @escaping @Sendable (RepositoryEvent) -> Void = { _ in }
  ) throws(RepositoryError) {
    copies = [first, second].map { CriticalCopy(path: $0.path, disk: disk) }
    self.onEvent = onEvent
    let found = copies.map { $0.read() }
    let intact = found.compactMap(\.contents)
    if let newest = intact.max(by: { $0.generation < $1.generation }) {
      contents = Lock(newest)
      for (copy, state) in zip(copies, found) where state.contents != newest {
        do {
          try copy.write(newest)
          onEvent(RepositoryEvent(.healed, copy.path, state.reason))
        } catch {
          onEvent(RepositoryEvent(.notSaved, copy.path, error.reason))
        }
      }
      return
    }
    for case .unreadable(let reason) in found { throw RepositoryError(.unreadable, reason) }
    for (copy, state) in zip(copies, found) {
      guard case .damaged(let reason) = state else { continue }
      onEvent(RepositoryEvent(.corrupt, try copy.setAside(), reason))
    }
    contents = Lock(CriticalCopy.Contents(generation: 0, values: [:]))
  }

  /// The value for `key`.
  public subscript(key: String) -> String? { contents.withLock { $0.values[key] } }

  /// All keys and values.
  public var all: [String: String] { contents.withLock { $0.values } }

  /// Sets the value for `key`, or removes it if `value` is `nil`. Blocks until the disk is written. If this method
  /// throws, nothing has changed.
  /// - Throws: ``RepositoryError/Code/overLimit``; ``RepositoryError/Code/outOfSpace`` or
  ///   ``RepositoryError/Code/notWritten`` if neither copy can be written.
  public func set(_ value: String?, for key: String) throws(RepositoryError) {
    writing.lock()
    defer { writing.unlock() }
    var next = contents.withLock { $0 }
    guard next.values[key] != value else { return }
    next.values[key] = value
    try Self.check(next.values, key, value)
    // The generation increases with every attempt: a write that fails can still have replaced the file, and two
    // different contents must not have the same generation.
    next.generation += 1
    contents.withLock { $0.generation = next.generation }

    var failures: [(CriticalCopy, RepositoryError)] = []
    for copy in copies {
      do { try copy.write(next) } catch { failures.append((copy, error)) }
    }
    if failures.count == copies.count, let (_, error) = failures.first { throw error }
    contents.withLock { $0 = next }
    for (copy, error) in failures { onEvent(RepositoryEvent(.notSaved, copy.path, error.reason)) }
  }

  private static func check(
    _ values: [String: String], _ key: String, _ value: String?
  ) throws(RepositoryError) {
    let (keyBytes, valueBytes) = (key.utf8.count, value?.utf8.count ?? 0)
    guard (1...Limits.keyBytes).contains(keyBytes) else {
      throw RepositoryError(.overLimit, "the key has \(keyBytes) bytes; 1 to \(Limits.keyBytes) are allowed")
    }
    guard valueBytes <= Limits.valueBytes else {
      throw RepositoryError(
        .overLimit, "the value has \(valueBytes) bytes, the maximum is \(Limits.valueBytes)")
    }
    guard values.count <= Limits.values else {
      throw RepositoryError(
        .overLimit, "there would be \(values.count) values, the maximum is \(Limits.values)")
    }
  }
}
