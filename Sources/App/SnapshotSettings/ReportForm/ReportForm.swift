public import DataSnapshots
public import Foundation
public import SnapshotClient
public import SnapshotFormat
import SystemIO

/// The form in which a user reports a bug, without a user interface.
///
/// A SwiftUI view (`ReportFormView`), a view controller (`ReportFormViewController`) and tests show the same
/// ``contents`` and call the same methods. A form is for one report: its UUID is known at once. The bundle goes through
/// the queue of a ``/SnapshotClient/BugReporter``, so that it is sent when there is a network, also after the form was
/// closed or the app was launched again.
///
/// All methods are thread-safe.
public final class ReportForm: Sendable {
  /// Options with default values.
  public struct Configuration: Sendable {
    /// The report to which the snapshot belongs if the user enters none; `nil` if the user must enter one.
    public var report: ReportID?
    /// What else the user is asked, in this order.
    public var fields: [Field] = []
    /// Puts the UUID into the pasteboard when the report is sent. By default, that of the system, where there is one.
    public var copy: @MainActor @Sendable (String) -> Void = { Pasteboard.put($0) }

    /// Creates a configuration with the default values.
    public init() {}
  }

  /// The name of the attachment with the screenshot.
  public static let screenshotName = "screenshot.png"

  private struct State {
    var contents: Contents
    var readers: [Int: AsyncStream<Contents>.Continuation] = [:]
    var nextReader = 0
  }

  let mode: SnapshotMode
  let reporter: BugReporter
  let configuration: Configuration
  let screenshot: Data?
  private let state: Lock<State>

  /// Creates a form for a new report.
  /// - Parameters:
  ///   - mode: has the recordings.
  ///   - reporter: sends the snapshot. Its freezer must call `makeSnapshot(for:to:)` of `mode`.
  ///   - screenshot: an image of the app in PNG, which goes along unless the user removes it.
  ///   - configuration: what the user is asked.
  public init(
    mode: SnapshotMode, reporter: BugReporter, screenshot: Data? = nil,
    configuration: Configuration = Configuration()
  ) {
    self.mode = mode
    self.reporter = reporter
    self.configuration = configuration
    self.screenshot = screenshot
    state = Lock(
      State(contents: Contents(id: SnapshotID(), fields: configuration.fields, sealing: mode.sealing)))
  }

  /// What the form shows now.
  public var contents: Contents { state.withLock { $0.contents } }

  /// Returns the contents now, and again after each change. A slow reader gets only the latest ones.
  public func updates() -> AsyncStream<Contents> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Contents.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.readers[state.nextReader] = continuation
      continuation.yield(state.contents)
      state.nextReader += 1
      return state.nextReader - 1
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in _ = state.readers.removeValue(forKey: number) }
    }
    return stream
  }

  deinit { state.withLock { state in for reader in state.readers.values { reader.finish() } } }

  /// Reads what goes along, and whether the last run crashed. Views call it when they appear.
  public func load() async {
    let previous = await mode.previousRun
    change { $0.crashedRun = previous.flatMap { $0.endedInGoodOrder ? nil : $0 } }
    await loadItems()
  }

  private func loadItems() async {
    let run = contents.draft.run
    do {
      let recorded = try await mode.contents(of: run)
      change { contents in
        guard contents.draft.run == run else { return }
        contents.items = Item.list(screenshot: screenshot, recorded)
      }
    } catch {
      change { $0.phase = .failed("The recordings can’t be read. \(error)") }
    }
  }

  // MARK: - Editing

  /// Changes what the user entered. Has no effect while the report is being sent, and afterwards.
  public func edit(_ body: @Sendable (inout Draft) -> Void) {
    change { contents in
      guard contents.isEditable else { return }
      let run = contents.draft.run
      body(&contents.draft)
      contents.draft.run = run
      contents.phase = .editing
    }
  }

  /// Selects whether `item` goes along.
  public func setIncluded(_ isIncluded: Bool, _ item: Item.ID) {
    edit { draft in
      if isIncluded { draft.excluded.remove(item) } else { draft.excluded.insert(item) }
    }
  }

  /// Selects the recordings that go along: the current ones, or those of the run that crashed.
  public func select(_ run: SnapshotMode.Run) async {
    change { contents in
      guard contents.isEditable else { return }
      contents.draft.run = run
      contents.phase = .editing
    }
    await loadItems()
  }

  /// Changes the contents, and informs the readers.
  @discardableResult
  func change<Value>(_ body: (inout Contents) -> Value) -> Value {
    state.withLock { state in
      let former = state.contents
      let value = body(&state.contents)
      if state.contents != former {
        for reader in state.readers.values { reader.yield(state.contents) }
      }
      return value
    }
  }
}
