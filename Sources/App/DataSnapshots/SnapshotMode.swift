public import Foundation
import Redaction
public import SnapshotFormat
public import SnapshotSealing
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
/// The state, the recordings and the active snapshot are stored in a folder and kept across launches. One instance uses
/// a folder at a time, which a lock ensures (``Configuration/sharing``). All methods can be called from any thread.
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

  let configuration: Configuration
  let storage: Storage
  let claim: FolderClaim
  let redactor: Redactor
  let current: ModeState
  let recorder: Recorder
  let replayer: Replayer
  let worker: SnapshotWorker
  /// The queue that reads replayed data for `async` calls, so that they don't block the thread pool.
  let reader = WorkQueue("replays")
  private let background: BackgroundObserver

  /// Restores the state, the recordings and the active snapshot of the last launch from `folder`. The state of a new
  /// folder is ``State/disabled``. The folder is created when there is something to store. If another instance uses the
  /// folder, this one is disabled, unless ``Configuration/sharing`` gives it a folder of its own.
  ///
  /// If the launch names a snapshot to replay (``Launch/replayVariable``), this instance replays that one instead, as
  /// ``init(replaying:configuration:)`` does, and does not use `folder`. It is disabled if the snapshot can't be read.
  public convenience init(folder: URL, configuration: Configuration = Configuration()) {
    if let snapshot = configuration.launch.replayedSnapshot {
      self.init(fixedTo: snapshot, configuration)
      return
    }
    let storage: Storage
    let claim: FolderClaim
    switch configuration.sharing {
    case .exclusive:
      storage = Storage(folder: folder.path)
      claim = FolderClaim(storage)
    case .perProcess: (storage, claim) = FolderClaim.takeOwn(in: folder.path)
    }
    var core = ModeState.Core(stored: .disabled)
    var failure: (any Error)?
    let isOwner = claim.take(isNeeded: false)
    if isOwner {
      do { core = try .restored(from: storage) } catch { failure = error }
    }
    core.isShut = !isOwner
    let word = configuration.launch.word
    core.forced = word.flatMap { State(rawValue: $0.lowercased()) }
    self.init(core, storage, claim, configuration)
    if let word, core.forced == nil {
      configuration.onEvent(.init(.stateNotForced, "‘\(word.prefix(100))’ is not a state"))
    }
    guard isOwner else {
      tellInUse()
      return
    }
    if let failure {
      // Nothing is removed: unreadable files may be readable at the next launch.
      configuration.onEvent(.init(.stateNotRestored, "\(failure)"))
    } else {
      worker.removeLeftovers()
    }
    recorder.start()
    if core.state != .disabled { _ = own() }
  }

  init(_ core: ModeState.Core, _ storage: Storage, _ claim: FolderClaim, _ configuration: Configuration) {
    self.configuration = configuration
    self.storage = storage
    self.claim = claim
    redactor = Redactor(
      rules: configuration.redaction, unknownBinaries: configuration.unknownBinaries,
      placeholders: .distinct())
    let policies = Policies(configuration)
    recorder = Recorder(storage, configuration, policies, redactor, claim)
    replayer = Replayer(recorder, configuration, policies, redactor)
    current = ModeState(core)
    worker = SnapshotWorker(storage, recorder, current, redactor, configuration)
    background = BackgroundObserver { [recorder, current] change in
      guard current.read({ $0.storesState }) else { return }
      let record = { @Sendable in recorder.recordEnd(isInGoodOrder: change != .toForeground) }
      // After the notification of the end, the process may end.
      if change == .end { recorder.queue.sync(record) } else { recorder.queue.async(record) }
    }
  }

  /// Takes the folder before it is written, because it can have been missing at launch.
  /// - Returns: `false` if this instance must not use it.
  private func own() -> Bool {
    guard current.read({ $0.storesState }) else { return false }
    if claim.take(isNeeded: true) { return true }
    current.change { $0.isShut = true }
    tellInUse()
    return false
  }

  private func tellInUse() {
    configuration.onEvent(
      .init(.folderInUse, "another instance uses \(storage.folder), so this one is disabled"))
  }

  /// Whether another instance uses the folder, so that this one is disabled; also `true` after ``close()``.
  public var isShut: Bool { current.read { $0.isShut } }

  private func owning<Failure: Error>(_ failure: (SystemError) -> Failure) throws(Failure) {
    guard own() else {
      let isFixed = current.read { $0.isFixed }
      throw failure(
        isFixed
          ? SystemError(operation: "write", path: storage.folder, code: EROFS)
          : SystemError(operation: "lock", path: storage.lock, code: EWOULDBLOCK))
    }
  }

  /// How data that passes through is processed. A change applies to every later call. It is stored for the next launch
  /// asynchronously; ``flush()`` waits for that. If ``isStateForced``, a new value is stored but takes effect only at
  /// the next launch.
  public var state: State {
    get { current.read { $0.state } }
    set {
      if newValue != .disabled, !own() { return }
      guard current.read({ $0.storesState }) else { return }
      current.change { $0.stored = newValue }
      recorder.queue.async { [worker] in worker.saveMode() }
    }
  }

  /// Whether an argument or the environment forced the ``state`` of this launch, or this instance only replays
  /// (``init(replaying:configuration:)``).
  public var isStateForced: Bool { current.read { $0.forced != nil } }

  /// The manifest of the active snapshot, or `nil` if there is none.
  public var activeManifest: Manifest? { current.read { $0.active?.manifest } }

  /// Passes `data` through, under an identifier that is the same at every launch for the same kind of data, such as
  /// `news/feed?page=2`. The identifier is any text of up to 64 KiB.
  ///
  /// This method never throws, and never waits for the disk. ``Configuration/durability`` determines when the data
  /// survives a crash of the app. The result depends on the ``state``:
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
      // This form can't throw, and lets live data pass instead.
      do { return try replayer.replay(identifier, from: source)?.data ?? data } catch { return data }
    }
  }

  // MARK: - Recordings

  /// Returns when all data recorded and all states set before the call are on the disk.
  public func flush() async { await recorder.flush() }

  /// Blocks the calling thread until all data recorded and all states set before the call are on the disk. Use it at
  /// the end of a process, when nothing can await ``flush()``.
  @available(*, noasync, message: "Await flush()")
  public func flushSynchronously() { recorder.flushSynchronously() }

  /// Removes all recordings and attachments, also those of the previous run. Keeps the active snapshot.
  public func clear() async throws(SystemError) {
    try owning { $0 }
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
  ///   - name: the name of a file, such as `screenshot.png` or `Foto 12:30.HEIC`: any text without `/`, of at most 85 bytes
  ///     in UTF-8. Longer names of letters and digits are accepted too, up to 255 bytes; other names are refused. Names
  ///     that differ only in case are different attachments.
  ///   - data: the content of the attachment.
  public func attach(name: String, data: Data) {
    guard let attachment = AttachmentName(name) else {
      return configuration.onEvent(
        .init(
          .recordingRefused, identifier: "attachments/" + name, "this is not a valid name of an attachment"))
    }
    if own() { recorder.attach(data, as: attachment.text) }
  }

  /// The attachments of the active snapshot: files by the names that they were attached with. The files are read-only
  /// for the app, and are removed with the snapshot.
  public var activeAttachments: [String: URL] {
    guard let active = current.read({ $0.active }) else { return [:] }
    let folder = active.folder + "/attachments"
    var files: [String: URL] = [:]
    do {
      for name in try Folder.entries(folder) where Folder.isRegularFile(folder + "/" + name) {
        files[PortableName.decode(name) ?? name] = URL(filePath: folder + "/" + name)
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
        contents.attachments = try storage.listAttachments().map(\.name.text)
        contents.redactions = recorder.redactions
      } catch {
        configuration.onEvent(.init(.replayFailed, "\(error)"))
      }
    }
    contents.isPaused = recorder.isPaused
    contents.dropped = state == .replaying ? active?.manifest.dropped ?? [] : recorder.dropped
    contents.misses = session.misses
    contents.wasClockAsked = session.wasClockAsked
    return ModuleReport(state: state, modules: modules, contents, as: redactor.redact(identifier:))
  }

  // MARK: - Snapshots

  /// Makes a bundle of all recordings and attachments, under a new ``/SnapshotFormat/SnapshotID``, and writes it to
  /// `zip`.
  ///
  /// It contains everything recorded and attached before the call. Recording continues meanwhile. The file is written
  /// atomically: it is either complete or absent. With ``Configuration/sealing`` it is sealed, and the result describes
  /// what it shows: its manifest is the clear head, its size and digest are those of the sealed bundle.
  /// - Parameters:
  ///   - run: the current recordings, or those of the ``previousRun``.
  ///   - report: the bug report to which the snapshot belongs, if it is known already.
  ///   - note: what the user wrote, as plain text of at most 32 KiB in UTF-8.
  ///   - fields: further descriptions by name: at most 32, names of at most 128 bytes, values of at most 16 KiB.
  ///   - zip: the location of the bundle. An existing file is replaced.
  ///
  /// Redaction rules apply to note and fields too, unless ``Configuration/redactsReports`` is `false`.
  public func makeSnapshot(
    of run: Run = .current, report: ReportID? = nil, note: String? = nil, fields: [String: String] = [:],
    to zip: URL
  ) async throws(BundleError) -> SnapshotBundle.Packed {
    try await makeSnapshot(.init(of: run), SnapshotID(), report, note, fields, to: zip)
  }

  /// Makes a bundle for `bug`, as ``makeSnapshot(of:report:note:fields:to:)`` does: under its UUID, with the attachments
  /// that it has, and without what it excludes.
  public func makeSnapshot(
    for bug: BugReport, to zip: URL
  ) async throws(BundleError) -> SnapshotBundle.Packed {
    let choice = SnapshotWorker.Choice(of: bug.run, excluded: bug.excluded, attachments: bug.attachments)
    return try await makeSnapshot(choice, bug.id, bug.report, bug.note, bug.fields, to: zip)
  }

  private func makeSnapshot(
    _ choice: SnapshotWorker.Choice, _ id: SnapshotID, _ report: ReportID?, _ note: String?,
    _ fields: [String: String], to zip: URL
  ) async throws(BundleError) -> SnapshotBundle.Packed {
    try owning(BundleError.system)
    var unfilled = Manifest(
      id: id, createdAt: configuration.clock(), application: configuration.application,
      device: configuration.device, report: report, modules: redactedModules, note: note, fields: fields)
    unfilled.timeZone = configuration.timeZone.identifier
    unfilled.locale = configuration.locale.identifier
    unfilled.calendar = configuration.calendar.identifier.name
    if configuration.redactsReports { redactor.redactWords(of: &unfilled) }
    return try await worker.makeSnapshot(choice, unfilled, to: zip)
  }

  /// Verifies the whole bundle at `zip`, unpacks it, and replays it from now on, including after the next launch.
  ///
  /// The change is atomic: each call of ``process(data:uniqueIdentifier:)`` uses either the former snapshot and state
  /// or the new ones, and so does the next launch after a crash at any point. If this method throws, nothing has
  /// changed. If ``isStateForced``, the snapshot becomes active, but is replayed only in a launch whose state is
  /// ``State/replaying``.
  /// - Parameters:
  ///   - zip: the bundle.
  ///   - identities: the secret keys, one of which opens the bundle if it is sealed. They are not stored: the unpacked
  ///     snapshot is protected like recordings.
  /// - Returns: the manifest of the bundle; that of the contents if it is sealed.
  @discardableResult
  public func activate(
    bundle zip: URL, identities: [SealingIdentity] = []
  ) async throws(BundleError) -> Manifest {
    try owning(BundleError.system)
    return try await worker.activate(zip, identities)
  }

  /// Stops replaying the active snapshot and removes it. A stored state of ``State/replaying`` becomes
  /// ``State/disabled``. If this method throws, nothing has changed.
  public func deactivate() async throws(SystemError) {
    try owning { $0 }
    try await worker.deactivate()
  }
}
