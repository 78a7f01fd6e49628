public import Foundation

/// Forms for code with completion handlers, delegates or Combine.
extension SnapshotMode {
  /// Returns the recorded data while replaying, so that the caller can skip the work that produces live data. `nil`
  /// otherwise.
  ///
  ///     func feed() -> AnyPublisher<Data, URLError> {
  ///       if let data = mode.recorded("news/feed") {
  ///         return Just(data).setFailureType(to: URLError.self).eraseToAnyPublisher()
  ///       }
  ///       return session.dataTaskPublisher(for: url)
  ///         .map { mode.process(data: $0.data, uniqueIdentifier: "news/feed") }.eraseToAnyPublisher()
  ///     }
  ///
  /// Each call counts as a call of the identifier: with a history, the next one returns the next recording. If the
  /// recording is missing, the policy is applied as by ``process(data:uniqueIdentifier:)``, where live data is `nil`.
  public func recorded(_ uniqueIdentifier: String) -> Data? {
    do { return try replayed(uniqueIdentifier) } catch { return nil }
  }

  /// Calls `work`, and passes its data through to `completion` as ``process(data:uniqueIdentifier:)`` does. While
  /// replaying, calls `completion` with the recorded data, and does not call `work`.
  ///
  ///     mode.process("news/feed", { done in api.load("/feed", completion: done) }) { result in
  ///       show(result)
  ///     }
  ///
  /// - Parameters:
  ///   - uniqueIdentifier: any text. It must be the same for the same data at every launch.
  ///   - work: produces the data and calls its argument once, on any thread. An error is not recorded.
  ///   - completion: called once with the result: on the thread on which `work` calls its argument or, while replaying,
  ///     on a queue of this instance. It gets ``MissingRecording`` if the policy is ``Policy/Missing/fail(_:)``.
  public func process(
    _ uniqueIdentifier: String,
    _ work: @escaping @Sendable (@escaping @Sendable (Result<Data, any Error>) -> Void) -> Void,
    completion: @escaping @Sendable (Result<Data, any Error>) -> Void
  ) {
    let runLive: @Sendable () -> Void = { [self] in
      work { [self] result in
        if case .success(let data) = result { self.record(data, uniqueIdentifier) }
        completion(result)
      }
    }
    guard case .replay(let source) = current.makePath() else { return runLive() }
    reader.async { [replayer] in
      do {
        guard let call = try replayer.replay(uniqueIdentifier, from: source) else { return runLive() }
        completion(.success(call.data))
      } catch {
        completion(.failure(error))
      }
    }
  }

  /// ``activate(bundle:identities:)`` for code that does not await.
  /// - Parameters:
  ///   - zip: the bundle.
  ///   - identities: the secret keys, one of which opens the bundle if it is sealed.
  ///   - completion: called once, on any thread.
  public func activate(
    bundle zip: URL, identities: [SealingIdentity] = [],
    completion: @escaping @Sendable (Result<Manifest, BundleError>) -> Void
  ) {
    Task {
      do throws(BundleError) {
        completion(.success(try await activate(bundle: zip, identities: identities)))
      } catch {
        completion(.failure(error))
      }
    }
  }
}
