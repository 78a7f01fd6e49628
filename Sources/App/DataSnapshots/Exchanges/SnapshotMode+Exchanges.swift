package import Foundation
package import SnapshotFormat

/// Recording and replaying HTTP exchanges, for the target that intercepts them.
extension SnapshotMode {
  /// How an exchange that begins now is processed.
  package enum ExchangeAnswer: Sendable {
    /// It is sent, and recorded if the state is ``State/recording`` when it ends.
    case live
    /// It is answered with a recording. Without a description, the recording is the body of an answer with status 200.
    case recorded(Manifest.Exchange?, Data)
    /// It fails.
    case failed(MissingRecording)
  }

  /// Whether exchanges pass without being recorded or replayed.
  package var isPassingExchanges: Bool { current.isDisabled }

  /// The time at which something is recorded, never that of a recording.
  package var recordingTime: Date { configuration.clock() }

  /// Returns the identifier of a request by `rules`, redacted.
  package func identifier(method: String, url: URL, body: Data, _ rules: ExchangeRules) -> String {
    rules.identifier(method: method, url: url, body: body, redactor)
  }

  /// Finds the recording of an exchange while replaying. Calls `completion` on a queue of this instance, in the order of
  /// the calls; or at once, with ``ExchangeAnswer/live``, if the state is another one.
  /// - Parameters:
  ///   - identifier: makes the identifier.
  ///   - body: the body of the request.
  package func replayExchange(
    _ identifier: @escaping @Sendable () -> String, body: Data,
    _ completion: @escaping @Sendable (ExchangeAnswer) -> Void
  ) {
    guard case .replay(let source) = current.makePath() else { return completion(.live) }
    reader.async { [replayer] in
      do throws(MissingRecording) {
        let call = try replayer.replay(identifier(), from: source, requestBody: body)
        completion(call.map { .recorded($0.exchange, $0.data) } ?? .live)
      } catch {
        completion(.failed(error))
      }
    }
  }

  /// Records an exchange that has ended, if the state is ``State/recording``.
  /// - Parameters:
  ///   - exchange: the request, the response and their bodies.
  ///   - url: the URL of the request.
  ///   - rules: determine the identifier and how many calls are kept.
  package func record(_ exchange: CompletedExchange, url: URL, _ rules: ExchangeRules) {
    guard case .record = current.makePath() else { return }
    let description = exchange.stored.description
    let identifier = identifier(
      method: description.request.method, url: url, body: exchange.stored.requestBody, rules)
    let size = description.descriptionSize
    guard size <= Manifest.Exchange.sizeLimit else {
      let limit = Manifest.Exchange.sizeLimit
      return refuseExchange(
        identifier, .tooLarge, bytes: size, "URL and header fields have \(size) bytes; the limit is \(limit)")
    }
    recorder.record(exchange, as: identifier, limit: rules.historyLimit)
  }

  /// Counts and reports that an exchange is not recorded, if the state is ``State/recording``.
  /// - Parameters:
  ///   - identifier: the identifier of its request.
  ///   - reason: the reason in manifests.
  ///   - bytes: the size of what is not recorded.
  ///   - explanation: the reason for people.
  package func refuseExchange(
    _ identifier: String, _ reason: Manifest.Dropped.Reason, bytes: Int, _ explanation: String
  ) {
    guard case .record = current.makePath() else { return }
    recorder.refuse(identifier, reason, bytes: bytes, explanation)
  }
}
