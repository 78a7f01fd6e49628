/// Observes the file operations below one folder, so that a test can compute the state that a power failure would
/// leave.
///
/// Without an observer, each operation costs one additional relaxed atomic load.
package final class FileObserver: Sendable {
  /// An operation that succeeded.
  package enum Operation: Sendable {
    /// A file was created at this path.
    case createFile(String, FileIdentity)
    case write([UInt8], at: Int64, FileIdentity)
    case truncate(Int64, FileIdentity)
    case flushFile(FileIdentity)
    case createFolder(String)
    case flushFolder(String)
    case rename(String, to: String)
    case link(String, as: String)
    case remove(String)
    /// Everything written before is on stable storage.
    case flushVolume
  }

  private static let count = Lock(0)
  private static let observers = Lock<[FileObserver]>([])

  private let folder: String
  private let observe: @Sendable (Operation) -> Void

  /// Starts to observe the operations on paths that start with `folder`; the paths are compared as text. ``stop()``
  /// ends it.
  /// - Parameter observe: Called for each operation, on its thread, before the operation returns.
  package init(_ folder: String, _ observe: @escaping @Sendable (Operation) -> Void) {
    self.folder = folder
    self.observe = observe
    Self.observers.withLock { $0.append(self) }
    Self.count.add(1)
  }

  /// Ends the observation.
  package func stop() {
    Self.observers.withLock { observers in
      guard let index = observers.firstIndex(where: { $0 === self }) else { return }
      observers.remove(at: index)
      Self.count.add(-1)
    }
  }

  private func concerns(_ path: String) -> Bool {
    path.hasPrefix(folder)
      && (path.utf8.count == folder.utf8.count || path.dropFirst(folder.count).first == "/")
  }

  /// Whether there is an observer.
  @inline(__always)
  static var isActive: Bool { count.value > 0 }

  /// Notifies the observers of `path`.
  @inline(__always)
  static func report(_ path: String, _ operation: () -> Operation) {
    if isActive { notify(path, operation) }
  }

  /// Notifies the observers of the path of `file`.
  @inline(__always)
  static func reportFile(_ file: File, _ operation: (FileIdentity) -> Operation) {
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
