import Synchronization

/// Sees what is done to files and folders below one folder, so that a test can compute what a power cut would leave.
///
/// While there is none, every operation costs one relaxed load more.
package final class FileObserver: Sendable {
  /// What was done, once it succeeded.
  package enum Operation: Sendable {
    /// A new file has this path.
    case createFile(String, FileIdentity)
    case write([UInt8], at: Int64, FileIdentity)
    case truncate(Int64, FileIdentity)
    case flushFile(FileIdentity)
    case createFolder(String)
    case flushFolder(String)
    case rename(String, to: String)
    case link(String, as: String)
    case remove(String)
    /// All that was done before is flushed.
    case flushVolume
  }

  private static let count = Atomic(0)
  private static let observers = Mutex<[FileObserver]>([])

  private let folder: String
  private let observe: @Sendable (Operation) -> Void

  /// Observes what happens below `folder`, which is the beginning of each path as it is used, until ``stop()``.
  /// - Parameter observe: called for each operation before it returns, on its thread.
  package init(_ folder: String, _ observe: @escaping @Sendable (Operation) -> Void) {
    self.folder = folder
    self.observe = observe
    Self.observers.withLock { $0.append(self) }
    Self.count.add(1, ordering: .relaxed)
  }

  /// Ends the observation.
  package func stop() {
    Self.observers.withLock { observers in
      guard let index = observers.firstIndex(where: { $0 === self }) else { return }
      observers.remove(at: index)
      Self.count.subtract(1, ordering: .relaxed)
    }
  }

  private func concerns(_ path: String) -> Bool {
    path.hasPrefix(folder)
      && (path.utf8.count == folder.utf8.count || path.dropFirst(folder.count).first == "/")
  }

  /// Whether there is any.
  @inline(__always)
  static var isActive: Bool { count.load(ordering: .relaxed) > 0 }

  /// Tells those that observe `path`.
  @inline(__always)
  static func note(_ path: String, _ operation: () -> Operation) {
    if isActive { notify(path, operation) }
  }

  /// Tells those that observe the path of `file`.
  @inline(__always)
  static func noteFile(_ file: File, _ operation: (FileIdentity) -> Operation) {
    guard isActive else { return }
    // Only a closed descriptor has no status.
    guard let identity = file.identityIfOpen else { return }
    notify(file.path) { operation(identity) }
  }

  private static func notify(_ path: String, _ operation: () -> Operation) {
    let concerned = observers.withLock { observers in observers.filter { $0.concerns(path) } }
    guard !concerned.isEmpty else { return }
    let done = operation()
    for observer in concerned { observer.observe(done) }
  }
}
