#if canImport(CCurl)
  import CCurl
  import Dispatch
  import SystemIO

  /// Executes transfers with one libcurl multi handle.
  ///
  /// - Invariant: only ``run()`` accesses `active` and the submitted transfers, and it is never scheduled twice at the
  ///   same time. Only ``run()`` uses the multi handle, except for `curl_multi_wakeup`, which libcurl allows from any
  ///   thread. This makes `@unchecked Sendable` correct.
  final class TransferLoop: @unchecked Sendable {
    private struct Inbox {
      var arrivals: [Transfer] = []
      var isRunning = false
    }

    private let queue = DispatchQueue(label: "transfer")
    private let multi: UnsafeMutableRawPointer?
    private let inbox = Lock(Inbox())
    private var active: [UnsafeMutableRawPointer: Transfer] = [:]

    /// Initializes libcurl once per process.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(keptConnections: Int) {
      multi = Self.isReady ? curl_multi_init() : nil
      if let multi { snapshot_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(1, keptConnections)) }
    }

    deinit {
      if let multi { curl_multi_cleanup(multi) }
    }

    /// Adds a transfer and takes ownership of it. It completes on the loop's queue.
    func submit(_ transfer: Transfer) {
      let mustStart = inbox.withLock { inbox in
        inbox.arrivals.append(transfer)
        defer { inbox.isRunning = true }
        return !inbox.isRunning
      }
      if mustStart { queue.async { self.run() } } else { wake() }
    }

    /// Makes the loop check its transfers immediately.
    func wake() {
      if let multi { curl_multi_wakeup(multi) }
    }

    /// Runs until there are no transfers.
    private func run() {
      while let arrivals = takeArrivals() {
        for transfer in arrivals { start(transfer) }
        var count: Int32 = 0
        if let multi { curl_multi_perform(multi, &count) }
        finishCompleted()
        let now = ContinuousClock.now
        for (easy, transfer) in active {
          if let reason = transfer.reasonToStop(at: now) { finish(easy, .failure(reason)) }
        }
        guard let multi, let next = active.values.map({ $0.deadline }).min() else { continue }
        let wait = ContinuousClock.now.duration(to: next) / Duration.milliseconds(1)
        curl_multi_poll(multi, nil, 0, Int32(max(0, min(wait.rounded(.up), 60_000))), nil)
      }
    }

    /// Returns the transfers submitted since the last call. Returns `nil` to end the loop.
    private func takeArrivals() -> [Transfer]? {
      inbox.withLock { inbox in
        guard !inbox.arrivals.isEmpty || !active.isEmpty else {
          inbox.isRunning = false
          return nil
        }
        defer { inbox.arrivals = [] }
        return inbox.arrivals
      }
    }

    private func start(_ transfer: Transfer) {
      do throws(TransportError) {
        guard !transfer.isCancelled.value else { throw .cancelled }
        guard let multi else { throw .connectionFailed("libcurl could not be set up") }
        let easy = try transfer.prepare()
        guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
          throw .connectionFailed("libcurl accepts no further transfer")
        }
        active[easy] = transfer
      } catch {
        transfer.complete(.failure(error))
      }
    }

    private func finishCompleted() {
      guard let multi else { return }
      var left: Int32 = 0
      while let message = curl_multi_info_read(multi, &left) {
        guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
        let code = message.pointee.data.result
        guard let transfer = active[easy] else { continue }
        finish(easy, transfer.outcome(of: code))
      }
    }

    private func finish(_ easy: UnsafeMutableRawPointer, _ result: Transfer.Outcome) {
      guard let transfer = active.removeValue(forKey: easy) else { return }
      if let multi { curl_multi_remove_handle(multi, easy) }
      transfer.complete(result)
    }
  }
#endif
