import Foundation
import Synchronization

/// What both kinds of repository are made of: one value, commits one after the other, observers.
final class RepositoryCore<Value: Sendable>: Sendable {
  private struct Observer {
    let show: @Sendable (Value) -> Void
    let finish: @Sendable () -> Void
  }

  private struct State {
    var value: Value
    var isUpdating = false
    var validators: [Validator<Value>]
    var observers: [Int: Observer] = [:]
    var nextObserver = 0
  }

  /// Held for moments, so that no reader ever waits for a change, a validator or the disk.
  private let state: Mutex<State>
  /// Held during a whole change. Recursive only in order to notice a change inside a change.
  private let commits = NSRecursiveLock()
  private let save: @Sendable (Value) throws(RepositoryError) -> Void

  init(
    _ value: Value, validators: [Validator<Value>],
    save: @escaping @Sendable (Value) throws(RepositoryError) -> Void
  ) {
    state = Mutex(State(value: value, validators: validators))
    self.save = save
  }

  deinit {
    for observer in state.withLock({ $0.observers }).values { observer.finish() }
  }

  var value: Value { state.withLock { $0.value } }

  func register(_ validator: Validator<Value>) { state.withLock { $0.validators.append(validator) } }

  /// Changes a copy, has it looked at, saves it, and only then shows it.
  /// - Parameter rejected: gives the snapshot of a value that was refused.
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
    // The old value goes outside of the lock: nobody knows what its end sets off.
    _ = state.withLock { state in
      let old = state.value
      state.value = value
      // Inside of it, so that every observer sees the commits in their order.
      for observer in state.observers.values { observer.show(value) }
      return old
    }
  }

  /// What the registered validators say, in one pass over all of them.
  func validation(of value: Value) -> Validation {
    var validation = Validation()
    for validator in state.withLock({ $0.validators }) { validator.check(value, &validation) }
    return validation
  }

  /// What `part` gives of the current value, and of each that is committed later.
  func values<Part: Sendable>(_ part: @escaping @Sendable (Value) -> Part) -> AsyncStream<Part> {
    let (stream, continuation) = AsyncStream.makeStream(of: Part.self, bufferingPolicy: .bufferingNewest(1))
    let observer = Observer(show: { continuation.yield(part($0)) }, finish: { continuation.finish() })
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

/// A value as bytes for a bug report: JSON where its type can be encoded, else a description of all its parts.
func reportData<Value>(of value: Value) -> Data {
  // A cast, because most repositories in memory hold types that need no `Codable`, and some have it all the same.
  if let encodable = value as? any Encodable {
    do {
      return try StoredJSON.makeEncoder(pretty: true).encode(encodable)
    } catch {
      // What JSON can't hold, such as a number that is none, is just what such a report may be about: described below.
    }
  }
  var text = ""
  dump(value, to: &text)
  return Data(text.utf8)
}
