import Foundation
import HTTPClient
import HTTPTypes
import SnapshotFormat
import SystemIO

/// A server without a network. It first gives the prepared responses, then accepts every bundle.
final class UploadTransport: Transport {
  private struct State {
    var answers: [FakeTransport.Answer]
    var requests: [HTTPRequest] = []
    var taken: [SnapshotID: Data] = [:]
    var isHeld: Bool
    var permits = 0
    var count = 0
    var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    var cancelled: Set<Int> = []
  }

  private let state: Lock<State>

  /// - Parameter isHeld: whether each response waits for ``release()``.
  init(_ answers: [FakeTransport.Answer] = [], isHeld: Bool = false) {
    state = Lock(State(answers: answers, isHeld: isHeld))
  }

  var requests: [HTTPRequest] { state.withLock { $0.requests } }
  /// The bundles that the server accepted.
  var taken: [SnapshotID: Data] { state.withLock { $0.taken } }

  /// Releases one response, now or when it is ready.
  func release() {
    let next = state.withLock { state in
      if state.waiting.isEmpty { state.permits += 1 }
      return state.waiting.isEmpty ? nil : state.waiting.removeFirst().continuation
    }
    next?.resume(returning: true)
  }

  func send(
    _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
    timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
  ) async throws(TransportError) -> TransportResponse {
    state.withLock { $0.requests.append(request) }
    guard case .file(let file) = body else { throw .invalidRequest("no file") }
    let contents: Data
    do { contents = try Data(contentsOf: file) } catch { throw .file("\(error)") }
    let size = Int64(contents.count)
    events?(.progress(TransportProgress(completed: size / 2, total: size)))
    guard await isReleased() else { throw .cancelled }
    let answer = state.withLock { $0.answers.isEmpty ? nil : $0.answers.removeFirst() }
    if let answer { return try answer.get() }
    let parts = (request.path ?? "").split(separator: "/").map { String($0).removingPercentEncoding ?? "" }
    do {
      guard parts.count == 5, let id = SnapshotID(parts[4]) else { throw CocoaError(.formatting) }
      let record = try makeRecord(contents, id: id, report: parts[2])
      state.withLock { $0.taken[id] = contents }
      return try FakeTransport.Answer.status(201, body: SnapshotJSON.encode(record)).get()
    } catch {
      throw .invalidRequest("\(error)")
    }
  }

  private func isReleased() async -> Bool {
    let number: Int? = state.withLock { state in
      state.count += 1
      return state.isHeld ? state.count : nil
    }
    guard let number else { return true }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Bool? = state.withLock { state in
          if state.cancelled.contains(number) { return false }
          if state.permits > 0 {
            state.permits -= 1
            return true
          }
          state.waiting.append((number, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let stopped = state.withLock { state in
        state.cancelled.insert(number)
        let index = state.waiting.firstIndex { $0.number == number }
        return index.map { state.waiting.remove(at: $0).continuation }
      }
      stopped?.resume(returning: false)
    }
  }
}
