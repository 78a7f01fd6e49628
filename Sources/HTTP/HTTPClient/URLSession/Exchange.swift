#if canImport(Darwin) || DEBUG
  import Dispatch
  import HTTPTypes
  import SystemIO

  #if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  /// A request that a session is executing.
  ///
  /// - Invariant: after its start, the exchange is accessed only on the serial queue of ``Exchanges``. This makes
  ///   `@unchecked Sendable` correct.
  final class Exchange: @unchecked Sendable {
    typealias Outcome = Result<TransportResponse, TransportError>

    /// Called once, with the outcome. Set it before the start.
    var completion: ((Outcome) -> Void)?
    var isCancelled = false
    private(set) var task: URLSessionTask?

    private let request: CheckedRequest
    private let body: TransportBody
    private let destination: TransportDestination
    private let timeouts: TransportTimeouts
    private let events: (@Sendable (TransportEvent) -> Void)?
    private var limit: ExchangeDeadline
    private var bodyLength: Int64?
    private var uploadMeter: ProgressMeter
    private var receiver: ResponseReceiver?
    private var timer: (any DispatchSourceTimer)?

    init(
      request: CheckedRequest, body: TransportBody, destination: TransportDestination,
      timeouts: TransportTimeouts,
      events: (@Sendable (TransportEvent) -> Void)?
    ) {
      self.request = request
      self.body = body
      self.destination = destination
      self.timeouts = timeouts
      self.events = events
      limit = ExchangeDeadline(timeouts)
      limit.moved()
      uploadMeter = ProgressMeter(uploadAnsweredTo: destination, events)
    }

    // MARK: The start

    func makeTask(in session: URLSession) throws(TransportError) -> URLSessionTask {
      guard !isCancelled else { throw .cancelled }
      receiver = try ResponseReceiver(
        method: request.request.method, destination: destination, events: events)
      let urlRequest = try makeRequest()
      let task: URLSessionTask
      switch body {
      case .none where [.post, .put, .patch].contains(request.request.method):
        task = makeTask(with: urlRequest, from: Data(), in: session)
      case .none:
        task = session.dataTask(with: urlRequest)
      case .bytes(let data):
        bodyLength = Int64(data.count)
        task = makeTask(with: urlRequest, from: data, in: session)
      case .file(let url):
        #if canImport(FoundationNetworking)
          // Its upload tasks for files end the process if a transfer ends while they read the file.
          task = try makeTask(with: urlRequest, from: nil, of: url, in: session)
        #else
          let path = try Self.path(of: url)
          do { bodyLength = try File(path, .read).size } catch { throw .file(error.description) }
          task = session.uploadTask(with: urlRequest, fromFile: URL(filePath: path))
        #endif
      case .part(of: let url, let range):
        task = try makeTask(with: urlRequest, from: range, of: url, in: session)
      }
      self.task = task
      return task
    }

    private func makeTask(
      with urlRequest: URLRequest, from data: Data, in session: URLSession
    ) -> URLSessionTask {
      #if canImport(Darwin)
        // The system resumes upload tasks automatically, with the version of the protocol that it implements.
        if request.isPartOfUpload {
          var urlRequest = urlRequest
          urlRequest.httpBody = data
          return session.dataTask(with: urlRequest)
        }
      #endif
      return session.uploadTask(with: urlRequest, from: data)
    }

    /// Sends a range of a file, or all of it, from memory.
    private func makeTask(
      with urlRequest: URLRequest, from range: Range<Int64>?, of url: URL, in session: URLSession
    ) throws(TransportError) -> URLSessionTask {
      let data = try Self.read(range, of: url)
      bodyLength = Int64(data.count)
      return makeTask(with: urlRequest, from: data, in: session)
    }

    /// Reads a range of a file, or all of it. `URLSession` can send only whole files by itself.
    private static func read(_ range: Range<Int64>?, of url: URL) throws(TransportError) -> Data {
      let path = try path(of: url)
      let file: File
      let size: Int64
      do {
        file = try File(path, .read)
        size = try file.size
      } catch {
        throw .file(error.description)
      }
      let range = range ?? 0..<size
      guard range.lowerBound >= 0, range.upperBound <= size else {
        throw .file("\(url.path) has \(size) bytes, but the request needs \(range.upperBound)")
      }
      do {
        return Data(try file.read(upTo: range.count, at: range.lowerBound))
      } catch {
        throw .file(error.description)
      }
    }

    /// The path of the regular file at `url`.
    private static func path(of url: URL) throws(TransportError) -> String {
      let path = url.resolvingSymlinksInPath().path
      guard Folder.isRegularFile(path) else { throw .file("\(url.path) is not a regular file") }
      return path
    }

    private func makeRequest() throws(TransportError) -> URLRequest {
      var urlRequest = try URLRequest(request)
      // This class enforces the time limits; the session's own limit must not apply first.
      urlRequest.timeoutInterval = 7 * 86_400
      return urlRequest
    }

    /// Calls `stop` on `queue` when a time limit is exceeded.
    func watch(on queue: DispatchQueue, stop: @escaping @Sendable () -> Void) {
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.setEventHandler { [unowned self] in
        let rest = ContinuousClock.now.duration(to: deadline)
        if rest <= .zero { stop() } else { arm(timer, in: rest) }
      }
      arm(timer, in: ContinuousClock.now.duration(to: deadline))
      timer.activate()
      self.timer = timer
    }

    private func arm(_ timer: any DispatchSourceTimer, in rest: Duration) {
      timer.schedule(deadline: .now() + rest / .seconds(1), leeway: .milliseconds(1))
    }

    private var deadline: ContinuousClock.Instant { limit.instant ?? .now + .seconds(timeouts.idle) }

    // MARK: Events of the session

    func sent(_ count: Int64) {
      limit.moved()
      uploadMeter.move(to: count, of: bodyLength)
    }

    func begin(_ response: URLResponse) throws(TransportError) {
      limit.moved()
      let head = try HTTPResponse(response)
      if head.status.kind == .informational {
        events?(.informational(head))
      } else {
        limit.bodyBegins()
        // The body's time limit can end before the one that the timer was set to.
        if let timer { arm(timer, in: ContinuousClock.now.duration(to: deadline)) }
        try receiver?.begin(head)
      }
    }

    func take(_ data: Data) throws(TransportError) {
      limit.bodyMoved(data.count)
      for region in data.regions {
        do {
          try region.withUnsafeBytes { try receiver?.take($0) }
        } catch {
          throw error as? TransportError ?? .interrupted("\(error)")
        }
      }
    }

    // MARK: The end

    func complete(_ outcome: Outcome) {
      timer?.cancel()
      timer = nil
      receiver = nil
      completion?(outcome)
      completion = nil
    }

    /// Converts the result of the session's task.
    func outcome(of error: (any Error)?) -> Outcome {
      do throws(TransportError) {
        if let error { throw TransportError(error) }
        guard let response = try receiver?.finish() else { throw .interrupted("no response") }
        uploadMeter.finish()
        return .success(response)
      } catch {
        return .failure(error)
      }
    }
  }
#endif
