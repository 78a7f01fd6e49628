#if canImport(Combine)
  public import Combine
  public import Foundation

  extension Publisher where Output == Data {
    /// Passes the data through `mode`, as ``SnapshotMode/process(data:uniqueIdentifier:)`` does. While replaying, each
    /// subscriber gets the recorded data, and this publisher is not subscribed to: no request is sent.
    ///
    ///     session.dataTaskPublisher(for: url).map(\.data).process("news/feed", by: mode)
    ///
    /// - Parameters:
    ///   - uniqueIdentifier: any text. It must be the same for the same data at every launch.
    ///   - mode: records and replays.
    public func process(
      _ uniqueIdentifier: String, by mode: SnapshotMode
    ) -> AnyPublisher<Data, Failure> {
      Deferred { () -> AnyPublisher<Data, Failure> in
        if let data = mode.recorded(uniqueIdentifier) {
          return Just(data).setFailureType(to: Failure.self).eraseToAnyPublisher()
        }
        return self.map { data in
          mode.record(data, uniqueIdentifier)
          return data
        }.eraseToAnyPublisher()
      }.eraseToAnyPublisher()
    }
  }
#endif
