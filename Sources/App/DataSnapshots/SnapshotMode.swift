public import Foundation
public import SnapshotFormat
public import SystemIO

/// Records the raw data that an app processes, and replays it later instead of live data.
///
/// Pass data through ``process(data:uniqueIdentifier:)`` where it enters the app, before it is decoded:
///
///     let mode = SnapshotMode(folder: .applicationSupportDirectory.appending(path: "DataSnapshots"))
///     mode.register(module: "News", files: ["news/feed", "news/weather"])
///
///     func feed() async throws -> Feed {
///       let live = try await server.data(for: "/feed")
///       let data = mode.process(data: live, uniqueIdentifier: "news/feed")
///       return try JSONDecoder().decode(Feed.self, from: data)
///     }
///
/// A tester turns on recording, reproduces a bug, and makes a snapshot for the report:
///
///     mode.state = .recording
///     // … the bug shows …
///     print(await mode.report())
///     let packed = try await mode.makeSnapshot(report: ReportID(validating: "BUG-123"), to: zip)
///
/// A developer activates the snapshot and sees the same data as the tester:
///
///     let manifest = try await mode.activate(bundle: zip)
///
/// The state, the recordings and the active snapshot are stored in a folder and kept across launches. Only one instance
/// may use a folder at a time. All methods can be called from any thread.
public final class SnapshotMode: Sendable {
  /// How data that passes through is processed.
  public enum State: String, Sendable, CaseIterable, Codable {
    /// Data passes unchanged and is not recorded.
    case disabled
    /// Data passes unchanged and is recorded: the latest call of each identifier, or as its ``Policy`` specifies.
    case recording
    /// Recorded data replaces live data. It is taken from the active snapshot or, if there is none, from the recordings
    /// in the folder.
    case replaying
  }

  private let configuration: Configuration
  private let storage: Storage
  private let redactor: Redactor
  private let current: ModeState
  private let recorder: Recorder
  private let replayer: Replayer
  private let worker: SnapshotWorker
  /// The queue that reads replayed data for `async` calls, so that they don't block the thread pool.
  private let reader = WorkQueue("replays")

  /// Restores the state, the recordings and the active snapshot of the last launch from `folder`. The state of a new
  /// folder is ``State/disabled``. The folder is created when there is something to store.
  public init(folder: URL, configuration: Configuration = Configuration()) {
    self.configuration = configuration
    storage = Storage(folder: folder.path)
    redactor = Redactor(rules: configuration.redaction)
    let policies = Policies(configuration)
    recorder = Recorder(storage, configuration, policies, redactor)
    replayer = Replayer(recorder, configuration, policies, redactor)
    var core = ModeState.Core(stored: .disabled)
    var failure: (any Error)?
    do { core = try .restored(from: storage) } catch { failure = error }
    let word = configuration.launch.word
    core.forced = word.flatMap { State(rawValue: $0.lowercased()) }
    current = ModeState(core)
    worker = SnapshotWorker(storage, recorder, current, onEvent: configuration.onEvent)
    if let failure {
      // Nothing is removed: unreadable files may be readable at the next launch.
      configuration.onEvent(.init(.stateNotRestored, "\(failure)"))
    } else {
      worker.removeLeftovers()
    }
    if let word, core.forced == nil {
      configuration.onEvent(.init(.stateNotForced, "‘\(word.prefix(100))’ is not a state"))
    }
    recorder.start()
  }

  /// How data that passes through is processed. A change applies to every later call. It is stored for the next launch
  /// asynchronously; ``flush()`` waits for that. If ``isStateForced``, a new value is stored but takes effect only at
  /// the next launch.
  public var state: State {
    get { current.read { $0.state } }
    set {
      current.change { $0.stored = newValue }
      recorder.queue.async { [worker] in worker.saveMode() }
    }
  }

  /// Whether an argument or the environment forced the ``state`` of this launch.
  public var isStateForced: Bool { current.read { $0.forced != nil } }

  /// The manifest of the active snapshot, or `nil` if there is none.
  public var activeManifest: Manifest? { current.read { $0.active?.manifest } }

  /// Passes `data` through, under an identifier that is the same at every launch for the same kind of data, such as
  /// `news/feed?page=2`. The identifier is any text of up to 64 KiB.
  ///
  /// This method never throws, and never waits until its data is written to the disk. The result depends on the
  /// ``state``:
  /// - ``State/disabled`` returns `data` immediately.
  /// - ``State/recording`` passes the bytes to a writer and returns `data`. The latest call of an identifier is kept,
  ///   or as many calls as its ``Policy`` specifies.
  /// - ``State/replaying`` reads and returns the recorded bytes. For an active snapshot, it checks their size and
  ///   digest against the manifest every time. If there is no recording, or its bytes differ, the policy determines the
  ///   result, which is `data` by default.
  ///
  /// Problems are reported to ``Configuration/onEvent``.
  public func process(data: Data, uniqueIdentifier: String) -> Data {
    if current.isDisabled { return data }
    return pass(data, uniqueIdentifier)
  }

  @inline(never)
  private func pass(_ data: Data, _ identifier: String) -> Data {
    switch current.makePath() {
    case .through: return data
    case .record:
      recorder.record(data, as: identifier)
      return data
    case .replay(let source):
      if case .recorded(let recorded) = replayer.replay(identifier, from: source) { return recorded }
      return data
    }
  }

  // MARK: - Work that produces the data

  /// Calls `work` and passes its data through as ``process(data:uniqueIdentifier:)`` does. While replaying, returns the
  /// recorded data without calling `work`.
  ///
  ///     let data = try await mode.process("news/feed") { try await server.data(for: "/feed") }
  ///
  /// - Throws: any error of `work`, which is not recorded; ``MissingRecording`` if the policy is
  ///   ``Policy/Missing/fail(_:)``.
  public func process(_ uniqueIdentifier: String, _ work: () async throws -> Data) async throws -> Data {
    if case .replay(let source) = current.makePath() {
      switch await reader.run({ [replayer] in replayer.replay(uniqueIdentifier, from: source) }) {
      case .recorded(let data): return data
      case .failed(let error): throw error
      case .live: return try await work()
      }
    }
    let data = try await work()
    record(data, uniqueIdentifier)
    return data
  }

  /// The same for synchronous work.
  public func process(_ uniqueIdentifier: String, _ work: () throws -> Data) throws -> Data {
    if case .replay(let source) = current.makePath() {
      switch replayer.replay(uniqueIdentifier, from: source) {
      case .recorded(let data): return data
      case .failed(let error): throw error
      case .live: return try work()
      }
    }
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
    if case .replay(let source) = current.makePath() {
      switch await reader.run({ [replayer] in replayer.replay(uniqueIdentifier, from: source) }) {
      case .recorded(let data): return try (decoder ?? JSONDecoder()).decode(type, from: data)
      case .failed(let error): throw error
      case .live: return try await work()
      }
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
    if case .replay(let source) = current.makePath() {
      switch replayer.replay(uniqueIdentifier, from: source) {
      case .recorded(let data): return try (decoder ?? JSONDecoder()).decode(type, from: data)
      case .failed(let error): throw error
      case .live: return try work()
      }
    }
    let value = try work()
    record(value, uniqueIdentifier, encoder)
    return value
  }

  /// Checks the state again, because it can have changed while the work ran.
  private func record(_ data: Data, _ identifier: String) {
    if case .record = current.makePath() { recorder.record(data, as: identifier) }
  }

  private func record(_ value: some Encodable, _ identifier: String, _ encoder: JSONEncoder?) {
    guard case .record = current.makePath() else { return }
    do {
      recorder.record(try (encoder ?? JSONEncoder()).encode(value), as: identifier)
    } catch {
      configuration.onEvent(
        .init(.recordingRefused, identifier: identifier, "it can't be encoded as JSON: \(error)"))
    }
  }

  // MARK: - Recordings

  /// Returns when all data recorded and all states set before the call are on the disk.
  public func flush() async { await recorder.queue.run {} }

  /// Blocks the calling thread until all data recorded and all states set before the call are on the disk. Use it at
  /// the end of a process, when nothing can await ``flush()``.
  @available(*, noasync, message: "Await flush()")
  public func flushSynchronously() { recorder.queue.sync {} }

  /// Removes all recordings and attachments. Keeps the active snapshot.
  public func clear() async throws(SystemError) {
    try await recorder.queue.run { [self] () throws(SystemError) in try recorder.clear() }
  }

  /// Restarts all histories with their first call, and clears the list of missed identifiers.
  public func rewind() { current.change { $0.session = ReplaySession() } }

  /// Adds an attachment to the next snapshots, such as a screenshot, a log or the state of a repository. It is kept
  /// until it is replaced by one with the same name, or until ``clear()``.
  ///
  /// This method works in every ``state``, never throws and never waits for the disk. Redaction rules are applied to
  /// attachments; their identifier is `attachments/` followed by the name. Problems are reported to
  /// ``Configuration/onEvent``.
  /// - Parameters:
  ///   - name: 1 to 100 ASCII letters, digits and characters of ` ._-+=,()@`, which doesn't begin or end with a space
  ///     or dot, such as `screenshot.png`. Other names are refused. Names are compared without regard to case.
  ///   - data: the content of the attachment.
  public func attach(name: String, data: Data) {
    guard AttachmentName.isValid(name) else {
      return configuration.onEvent(
        .init(
          .recordingRefused, identifier: "attachments/" + name, "this is not a valid name of an attachment"))
    }
    recorder.attach(data, as: name)
  }

  /// The attachments of the active snapshot: files by their names below `attachments/`. The files are read-only for the
  /// app, and are removed with the snapshot.
  public var activeAttachments: [String: URL] {
    guard let active = current.read({ $0.active }) else { return [:] }
    let folder = active.folder + "/attachments"
    var files: [String: URL] = [:]
    do throws(SystemError) {
      for name in try Folder.entries(folder) where Folder.isRegularFile(folder + "/" + name) {
        files[name] = URL(filePath: folder + "/" + name)
      }
    } catch {
      if !error.isNotFound { configuration.onEvent(.init(.replayFailed, "\(error)")) }
    }
    return files
  }

  // MARK: - Modules

  /// Registers a module with the identifiers that it consists of. Registering a module again replaces its identifiers.
  public func register(module name: String, files: [String]) {
    current.change { core in
      core.modules.removeAll { $0.name == name }
      core.modules.append(Module(name: name, files: files))
    }
  }

  /// Returns the recorded and missing identifiers of each module: those of the active snapshot while it is replayed,
  /// otherwise those of the recordings.
  ///
  /// Reads the folder of recordings on a separate queue.
  public func report() async -> ModuleReport { await recorder.queue.run { [self] in makeReport() } }

  /// The modules with redacted identifiers.
  private var redactedModules: [Module] {
    current.read { $0.modules }.map { module in
      Module(name: module.name, files: module.files.map(redactor.redact(identifier:)))
    }
  }

  private func makeReport() -> ModuleReport {
    let (state, active, session, modules) = current.read { ($0.state, $0.active, $0.session, $0.modules) }
    var contents = ModuleReport.Contents()
    if state == .replaying, let active {
      contents.snapshot = active.manifest.id
      contents.identifiers = active.identifiers
      contents.calls = active.manifest.recordings.count
      contents.redactions = active.manifest.redactions
      contents.attachments = activeAttachments.keys.sorted()
    } else {
      do {
        let recordings = try recorder.list()
        contents.identifiers = recordings.map(\.identifier)
        contents.calls = recordings.count
        contents.attachments = try storage.listAttachments()
        contents.redactions = recorder.redactions
      } catch {
        configuration.onEvent(.init(.replayFailed, "\(error)"))
      }
    }
    contents.isPaused = recorder.isPaused
    contents.misses = session.misses
    return ModuleReport(state: state, modules: modules, contents, as: redactor.redact(identifier:))
  }

  // MARK: - Snapshots

  /// Makes a bundle of all recordings and attachments, under a new ``/SnapshotFormat/SnapshotID``, and writes it to
  /// `zip`.
  ///
  /// It contains everything recorded and attached before the call. Recording continues meanwhile. The file is written
  /// atomically: it is either complete or absent.
  /// - Parameters:
  ///   - report: the bug report to which the snapshot belongs, if it is known already.
  ///   - note: what the user wrote, as plain text of at most 32 KiB in UTF-8.
  ///   - fields: further descriptions by name: at most 32, names of at most 128 bytes, values of at most 16 KiB.
  ///   - zip: the location of the bundle. An existing file is replaced.
  ///
  /// Note and fields are stored in the manifest unchanged: redaction rules do not apply to them.
  public func makeSnapshot(
    report: ReportID? = nil, note: String? = nil, fields: [String: String] = [:], to zip: URL
  ) async throws(BundleError) -> SnapshotBundle.Packed {
    let unfilled = Manifest(
      id: SnapshotID(), createdAt: configuration.clock(), application: configuration.application,
      device: configuration.device, report: report, modules: redactedModules, note: note, fields: fields)
    return try await worker.makeSnapshot(unfilled, to: zip)
  }

  /// Verifies the whole bundle at `zip`, unpacks it, and replays it from now on, including after the next launch.
  ///
  /// The change is atomic: each call of ``process(data:uniqueIdentifier:)`` uses either the former snapshot and state
  /// or the new ones, and so does the next launch after a crash at any point. If this method throws, nothing has
  /// changed. If ``isStateForced``, the snapshot becomes active, but is replayed only in a launch whose state is
  /// ``State/replaying``.
  /// - Returns: the manifest of the bundle.
  @discardableResult
  public func activate(bundle zip: URL) async throws(BundleError) -> Manifest {
    try await worker.activate(zip)
  }

  /// Stops replaying the active snapshot and removes it. A stored state of ``State/replaying`` becomes
  /// ``State/disabled``. If this method throws, nothing has changed.
  public func deactivate() async throws(SystemError) {
    try await worker.deactivate()
  }
}
