public import Foundation
import Synchronization

/// A few texts that an app must never lose, such as the ids of its user and its device, kept apart from all other data.
///
///     let critical = try CriticalValues(copies: support.appending(path: "critical"), preferences.appending(path: "critical"))
///     try critical.set("u-4711", for: "userID")
///
/// **What holds:**
/// - There are two copies, each with a checksum; best in two folders. As long as one of them is intact, every value is
///   there: opening uses the newer intact copy, and makes a copy again that is missing, damaged or behind.
/// - When ``set(_:for:)`` returns, at least one copy holds the value and would survive a power cut; when it throws,
///   nothing has changed. A copy is replaced in one step, one after the other.
/// - Where both copies are damaged, they are set aside beside their places as `….corrupt`, and the store begins empty.
///
/// All methods may be called from any thread; one instance at a time uses the two files. Not for secrets: the values
/// are readable in the files, as they are in all of the app's files. Secrets belong in the keychain.
public final class CriticalValues: Sendable {
  /// What fits in.
  public enum Limits {
    /// The most values.
    public static let values = 64
    /// The most bytes of a key, in UTF-8; at least one.
    public static let keyBytes = 256
    /// The most bytes of a value, in UTF-8.
    public static let valueBytes = 4096
  }

  private let copies: [CriticalCopy]
  private let onEvent: @Sendable (RepositoryEvent) -> Void
  private let contents: Mutex<CriticalCopy.Contents>
  /// Held while the disk is waited for; readers hold the other one only.
  private let writing = NSLock()

  /// Reads both copies and mends what is wrong.
  /// - Parameters:
  ///   - first: the one copy; its folder is made when there is something to keep.
  ///   - second: the other copy, best in another folder.
  ///   - onEvent: is told of a copy that was made again (``RepositoryEvent/Kind/healed``), can't be written
  ///     (``RepositoryEvent/Kind/notSaved``), or was set aside (``RepositoryEvent/Kind/corrupt``).
  /// - Throws: ``RepositoryError/Code/unreadable`` where a copy is there that can't be read, and no other is intact.
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
      contents = Mutex(newest)
      for (copy, state) in zip(copies, found) where state.contents != newest {
        do throws(RepositoryError) {
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
    contents = Mutex(CriticalCopy.Contents(generation: 0, values: [:]))
  }

  /// The value of `key`.
  public subscript(key: String) -> String? { contents.withLock { $0.values[key] } }

  /// All values by their keys.
  public var all: [String: String] { contents.withLock { $0.values } }

  /// Sets or, with `nil`, removes the value of `key`; waits for the disk.
  /// - Throws: ``RepositoryError/Code/overLimit``; ``RepositoryError/Code/outOfSpace`` or
  ///   ``RepositoryError/Code/notWritten`` where neither copy can be written. Nothing has changed then.
  public func set(_ value: String?, for key: String) throws(RepositoryError) {
    writing.lock()
    defer { writing.unlock() }
    var next = contents.withLock { $0 }
    guard next.values[key] != value else { return }
    next.values[key] = value
    try Self.check(next.values, key, value)
    // Goes up with every attempt, so that a copy that was written in spite of an error is never taken for another.
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
      throw RepositoryError(.overLimit, "the key has \(keyBytes) bytes; 1 to \(Limits.keyBytes) are possible")
    }
    guard valueBytes <= Limits.valueBytes else {
      throw RepositoryError(
        .overLimit, "the value has \(valueBytes) bytes, the most are \(Limits.valueBytes)")
    }
    guard values.count <= Limits.values else {
      throw RepositoryError(.overLimit, "these are \(values.count) values, the most are \(Limits.values)")
    }
  }
}
