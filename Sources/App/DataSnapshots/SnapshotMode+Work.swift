public import Foundation

/// Passing the result of work through, which is skipped while replaying.
extension SnapshotMode {
  /// Calls `work` and passes its data through as ``process(data:uniqueIdentifier:)`` does. While replaying, returns the
  /// recorded data without calling `work`.
  ///
  ///     let data = try await mode.process("news/feed") { try await server.data(for: "/feed") }
  ///
  /// - Throws: any error of `work`, which is not recorded; ``MissingRecording`` if the policy is
  ///   ``Policy/Missing/fail(_:)``.
  public func process(_ uniqueIdentifier: String, _ work: () async throws -> Data) async throws -> Data {
    if let data = try await replayed(uniqueIdentifier) { return data }
    let data = try await work()
    record(data, uniqueIdentifier)
    return data
  }

  /// The same for synchronous work.
  public func process(_ uniqueIdentifier: String, _ work: () throws -> Data) throws -> Data {
    if let data = try replayed(uniqueIdentifier) { return data }
    let data = try work()
    record(data, uniqueIdentifier)
    return data
  }

  /// Calls `work` and records its result as JSON. While replaying, decodes the recorded value without calling `work`.
  ///
  ///     let feed = try await mode.process("news/feed", as: Feed.self) { try await server.feed() }
  ///
  /// Nothing is encoded while the state is ``State/disabled``. A value that can't be encoded is not recorded, which is
  /// reported as ``Event/Kind/recordingRefused``.
  /// - Parameters:
  ///   - uniqueIdentifier: any text. It must be the same for the same data at every launch.
  ///   - type: the type of the value.
  ///   - encoder: the encoder of the recording. By default, a new one for each call.
  ///   - decoder: the decoder of the recorded value. By default, a new one for each call.
  ///   - work: returns the value.
  /// - Throws: any error of `work`; `DecodingError` if the recording is not such a value, as with
  ///   ``Policy/Missing/emptyData``; ``MissingRecording`` if the policy is ``Policy/Missing/fail(_:)``.
  public func process<Value: Codable>(
    _ uniqueIdentifier: String, as type: Value.Type, encoder: JSONEncoder? = nil, decoder: JSONDecoder? = nil,
    _ work: () async throws -> Value
  ) async throws -> Value {
    if let data = try await replayed(uniqueIdentifier) {
      return try (decoder ?? JSONDecoder()).decode(type, from: data)
    }
    let value = try await work()
    record(value, uniqueIdentifier, encoder)
    return value
  }

  /// The same for synchronous work.
  public func process<Value: Codable>(
    _ uniqueIdentifier: String, as type: Value.Type, encoder: JSONEncoder? = nil, decoder: JSONDecoder? = nil,
    _ work: () throws -> Value
  ) throws -> Value {
    if let data = try replayed(uniqueIdentifier) {
      return try (decoder ?? JSONDecoder()).decode(type, from: data)
    }
    let value = try work()
    record(value, uniqueIdentifier, encoder)
    return value
  }

  /// Returns the recorded data while replaying; `nil` if live data passes.
  func replayed(_ identifier: String) throws(MissingRecording) -> Data? {
    guard case .replay(let source) = current.makePath() else { return nil }
    return try replayer.replay(identifier, from: source)?.data
  }

  private func replayed(_ identifier: String) async throws(MissingRecording) -> Data? {
    guard case .replay(let source) = current.makePath() else { return nil }
    return try await reader.run { [replayer] () throws(MissingRecording) in
      try replayer.replay(identifier, from: source)?.data
    }
  }

  /// Checks the state again, because it can have changed while the work ran.
  func record(_ data: Data, _ identifier: String) {
    if case .record = current.makePath() { recorder.record(data, as: identifier) }
  }

  private func record(_ value: some Encodable, _ identifier: String, _ encoder: JSONEncoder?) {
    guard case .record = current.makePath() else { return }
    do {
      recorder.record(try (encoder ?? JSONEncoder()).encode(value), as: identifier)
    } catch {
      recorder.refuse(identifier, notEncoded: error)
    }
  }
}
