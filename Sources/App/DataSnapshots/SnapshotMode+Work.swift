public import Foundation

/// Forms that take the work which gets the data, and do without it while they replay.
extension SnapshotMode {
  /// Does `work` and lets its data through as ``process(data:uniqueIdentifier:)`` does; while replaying, answers what
  /// is recorded and leaves `work` undone.
  ///
  ///     let data = try await mode.process("news/feed") { try await server.data(for: "/feed") }
  ///
  /// - Throws: what `work` throws, which is not recorded; ``MissingRecording`` where the policy is
  ///   ``Policy/Missing/fail(_:)``.
  public func process(_ uniqueIdentifier: String, _ work: () async throws -> Data) async throws -> Data {
    if case .replay(let source) = makePath() {
      switch await reader.run({ [self] in replay(uniqueIdentifier, from: source) }) {
      case .recorded(let data): return data
      case .failed(let error): throw error
      case .live: return try await work()
      }
    }
    let data = try await work()
    record(data, uniqueIdentifier)
    return data
  }

  /// The same for work that does not wait.
  public func process(_ uniqueIdentifier: String, _ work: () throws -> Data) throws -> Data {
    if case .replay(let source) = makePath() {
      switch replay(uniqueIdentifier, from: source) {
      case .recorded(let data): return data
      case .failed(let error): throw error
      case .live: return try work()
      }
    }
    let data = try work()
    record(data, uniqueIdentifier)
    return data
  }

  /// Does `work` and records the JSON of what it answers; while replaying, decodes what is recorded and leaves `work`
  /// undone.
  ///
  ///     let feed = try await mode.process("news/feed", as: Feed.self) { try await server.feed() }
  ///
  /// Nothing is encoded while the state is ``State/disabled``. A value that can't be encoded is not recorded, which is
  /// told as ``Event/Kind/recordingRefused``.
  /// - Parameters:
  ///   - encoder: made for each recording, unless given.
  ///   - decoder: made for each replay, unless given.
  /// - Throws: what `work` throws; `DecodingError` where what is recorded is no such value, as it is with
  ///   ``Policy/Missing/emptyData``; ``MissingRecording``.
  public func process<Value: Codable>(
    _ uniqueIdentifier: String, as type: Value.Type, encoder: JSONEncoder? = nil, decoder: JSONDecoder? = nil,
    _ work: () async throws -> Value
  ) async throws -> Value {
    if case .replay(let source) = makePath() {
      switch await reader.run({ [self] in replay(uniqueIdentifier, from: source) }) {
      case .recorded(let data): return try (decoder ?? JSONDecoder()).decode(type, from: data)
      case .failed(let error): throw error
      case .live: return try await work()
      }
    }
    let value = try await work()
    record(value, uniqueIdentifier, encoder)
    return value
  }

  /// The same for work that does not wait.
  public func process<Value: Codable>(
    _ uniqueIdentifier: String, as type: Value.Type, encoder: JSONEncoder? = nil, decoder: JSONDecoder? = nil,
    _ work: () throws -> Value
  ) throws -> Value {
    if case .replay(let source) = makePath() {
      switch replay(uniqueIdentifier, from: source) {
      case .recorded(let data): return try (decoder ?? JSONDecoder()).decode(type, from: data)
      case .failed(let error): throw error
      case .live: return try work()
      }
    }
    let value = try work()
    record(value, uniqueIdentifier, encoder)
    return value
  }

  /// The state counts that there is when the work is done.
  private func record(_ data: Data, _ identifier: String) {
    if case .record = makePath() { recorder.record(data, as: identifier) }
  }

  private func record(_ value: some Encodable, _ identifier: String, _ encoder: JSONEncoder?) {
    guard case .record = makePath() else { return }
    do {
      recorder.record(try (encoder ?? JSONEncoder()).encode(value), as: identifier)
    } catch {
      configuration.onEvent(
        .init(.recordingRefused, identifier: identifier, "it can't be encoded as JSON: \(error)"))
    }
  }
}
