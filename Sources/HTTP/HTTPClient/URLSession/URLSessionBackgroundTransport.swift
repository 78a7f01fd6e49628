#if canImport(Darwin)
  package import Foundation
  package import HTTPTypes
  import SystemIO

  /// Sends files with the upload tasks of a background `URLSession`.
  ///
  /// The system sends them in a process of its own, waits for a network, and repeats them after a broken connection. It
  /// stores each request, with its fields, until its task has ended.
  package final class URLSessionBackgroundTransport: BackgroundTransport {
    private let session: URLSession
    private let tasks: BackgroundTasks

    /// Creates a transport, and takes over the tasks of earlier processes.
    /// - Parameters:
    ///   - identifier: identifies the session. A process must create only one with this identifier.
    ///   - usesExpensiveNetworks: whether cellular networks, personal hotspots and the Low Data Mode are no obstacle.
    ///   - trust: how servers are recognized.
    package init(identifier: String, usesExpensiveNetworks: Bool, trust: ServerTrust = .system) {
      let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
      configuration.keepNothing()
      configuration.allowsExpensiveNetworkAccess = usesExpensiveNetworks
      configuration.allowsConstrainedNetworkAccess = usesExpensiveNetworks
      tasks = BackgroundTasks(trust: trust)
      // With no queue of ours, the session calls its delegate on a serial one.
      session = URLSession(configuration: configuration, delegate: tasks, delegateQueue: nil)
    }

    package func names() async -> Set<String> {
      for task in await session.allTasks { tasks.adopt(task) }
      return tasks.exchanges.names
    }

    package func isUnderWay(_ name: String) -> Bool { tasks.exchanges.isUnderWay(name) }

    package func start(
      _ request: HTTPRequest, sending file: URL, as name: String
    ) throws(TransportError) {
      let urlRequest = try URLRequest(CheckedRequest(request))
      let size: Int64
      // The session ends the process if it can't read the file.
      do throws(SystemError) { size = try File(file.path, .read).size } catch {
        throw .file(error.description)
      }
      cancel(name)
      let task = session.uploadTask(with: urlRequest, fromFile: file)
      task.taskDescription = name
      task.countOfBytesClientExpectsToSend = size
      tasks.adopt(task)
      task.resume()
    }

    package func outcome(
      of name: String, progress: (@Sendable (Int64) -> Void)?
    ) async -> Result<TransportResponse, TransportError>? {
      await tasks.exchanges.outcome(of: name, progress: progress)
    }

    package func cancel(_ name: String) { tasks.cancel(name) }

    package func eventsEnd() async { await tasks.exchanges.eventsEnd() }
  }
#endif
