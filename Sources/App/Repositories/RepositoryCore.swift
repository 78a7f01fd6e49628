import Foundation
import SystemIO

/// The common part of all kinds of repository: one value, serialized commits, and observers.
final class RepositoryCore<Value: Sendable>: Sendable {
  typealias Load = @Sendable () throws(RepositoryError) -> Value

  private struct Observer {
    let show: @Sendable (Value) -> Void
    let finish: @Sendable () -> Void
  }

  private struct State {
    var value: Value
    /// Loads the stored value, as long as that was not possible.
    var load: Load?
    var isLoading = false
    var isUpdating = false
    var validators: [Validator<Value>]
    var observers: [Int: Observer] = [:]
    var nextObserver = 0
  }

  /// Held only briefly, so that readers never wait for a change, a validator or the disk.
  private let state: Lock<State>
  /// Held while a value is loaded, and during a whole change. It is recursive only so that a nested change can be
  /// detected.
  private let commits = NSRecursiveLock()
  private let save: @Sendable (Value) throws(RepositoryError) -> Void

  /// Loads the stored value. If it can't be read now, every access tries it again, and shows `placeholder` until then.
  init(
    placeholder: Value, validators: [Validator<Value>], load: @escaping Load,
    save: @escaping @Sendable (Value) throws(RepositoryError) -> Void
  ) {
    let initial: State
    do {
      initial = State(value: try load(), validators: validators)
    } catch {
      initial = State(value: placeholder, load: load, validators: validators)
    }
    state = Lock(initial)
    self.save = save
  }

  deinit {
    for observer in state.withLock({ $0.observers }).values { observer.finish() }
  }

  var value: Value {
    let (value, isLoaded) = state.withLock { ($0.value, $0.load == nil) }
    if isLoaded { return value }
    loadIfPossible()
    return state.withLock { $0.value }
  }

  /// Loads the stored value, if that was not possible before.
  func load() throws(RepositoryError) {
    guard state.withLock({ $0.load != nil }) else { return }
    commits.lock()
    defer { commits.unlock() }
    let (load, isLoading) = state.withLock { state in
      defer { state.isLoading = true }
      return (state.load, state.isLoading)
    }
    // The storage reports an event while it loads, and the app uses the repository in it.
    guard !isLoading else { throw RepositoryError(.unreadable, "the stored value is being loaded") }
    defer { state.withLock { $0.isLoading = false } }
    // Another thread has loaded it in the meantime.
    guard let load else { return }
    show(try load())
  }

  private func loadIfPossible() {
    // Until then the placeholder is shown; `load()` reports why.
    do { try load() } catch {}
  }

  func register(_ validator: Validator<Value>) { state.withLock { $0.validators.append(validator) } }

  /// Changes a copy, validates it, saves it, and only then publishes it to readers and observers.
  /// - Parameter rejected: makes the snapshot of a rejected value.
  func update<Result>(
    _ action: String, _ change: (inout Value) throws -> Result,
    rejected: @escaping @Sendable (Value) -> Data
  ) throws -> Result {
    commits.lock()
    defer { commits.unlock() }
    let isNested = state.withLock { state in
      defer { state.isUpdating = true }
      return state.isUpdating
    }
    guard !isNested else {
      throw RepositoryError(.nestedUpdate, "‘\(action)’ is inside another update of the same repository")
    }
    defer { state.withLock { $0.isUpdating = false } }

    // A value that can't be read must not be overwritten.
    try load()
    var copy = value
    let result = try change(&copy)
    let validation = validation(of: copy)
    guard validation.isPassed else {
      throw ValidationError(action: action, validation) { [copy] in rejected(copy) }
    }
    try save(copy)
    show(copy)
    return result
  }

  private func show(_ value: Value) {
    // The old value is released outside the lock, because its deinitialization can run arbitrary code.
    _ = state.withLock { state in
      let old = state.value
      state.value = value
      state.load = nil
      // Observers are called inside the lock, so that each of them receives the commits in order.
      for observer in state.observers.values { observer.show(value) }
      return old
    }
  }

  /// Runs all registered validators in one pass.
  func validation(of value: Value) -> Validation {
    var validation = Validation()
    for validator in state.withLock({ $0.validators }) { validator.check(value, &validation) }
    return validation
  }

  /// A stream of `part` of the current value, and of each value committed later.
  func values<Part: Sendable>(_ part: @escaping @Sendable (Value) -> Part) -> AsyncStream<Part> {
    let (stream, continuation) = AsyncStream.makeStream(of: Part.self, bufferingPolicy: .bufferingNewest(1))
    let observer = Observer(show: { continuation.yield(part($0)) }, finish: { continuation.finish() })
    loadIfPossible()
    let number = state.withLock { state in
      state.nextObserver += 1
      state.observers[state.nextObserver] = observer
      observer.show(state.value)
      return state.nextObserver
    }
    continuation.onTermination = { [weak self] _ in self?.removeObserver(number) }
    return stream
  }

  private func removeObserver(_ number: Int) {
    _ = state.withLock { $0.observers.removeValue(forKey: number) }
  }
}

/// Encodes a value for a bug report: as JSON if its type is `Encodable`, otherwise as a description of all its
/// properties.
func reportData<Value>(of value: Value) -> Data {
  // A cast, because `Value` does not have to be `Encodable`, but often is.
  if let encodable = value as? any Encodable {
    do {
      return try StoredJSON.makeEncoder(pretty: true).encode(encodable)
    } catch {
      // The report can be about a value that JSON can't represent, such as a number that is NaN. It is described below.
    }
  }
  var text = ""
  dump(value, to: &text)
  return Data(text.utf8)
}
