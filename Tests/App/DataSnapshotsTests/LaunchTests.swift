import DataSnapshots
import Foundation
import SystemIO
import TestSupport
import Testing

/// Launches with a forced state.
struct LaunchTests {
  private var app: SampleApp

  init() throws { app = try SampleApp() }

  private func launch(_ arguments: [String] = [], _ word: String? = nil) -> SnapshotMode {
    var app = app
    app.configuration.launch = .init(
      arguments: ["/App"] + arguments, environment: word.map { ["DATA_SNAPSHOTS_STATE": $0] } ?? [:])
    return app.launch()
  }

  @Test func `an argument or the environment forces a state, which is not stored`() async {
    let mode = app.launch()
    mode.state = .recording
    await mode.flush()
    let byArgument = launch(["-DataSnapshotsState", "replaying", "-other"])
    #expect(byArgument.state == .replaying && byArgument.isStateForced)
    await byArgument.flush()
    let byEnvironment = launch([], "Disabled")
    #expect(byEnvironment.state == .disabled && byEnvironment.isStateForced)
    #expect(byEnvironment.process("live", "a") == "live")
    await byEnvironment.flush()
    let last = launch()
    #expect(last.state == .recording && !last.isStateForced)
    #expect(await last.report().recordingCount == 0)
  }

  @Test func `an argument overrides the environment, and the last argument the first`() {
    #expect(launch(["-DataSnapshotsState", "recording"], "replaying").state == .recording)
    let twice = ["-DataSnapshotsState", "recording", "-DataSnapshotsState", "replaying"]
    #expect(launch(twice).state == .replaying)
    #expect(app.events.all.isEmpty)
  }

  @Test func `an unknown state forces nothing and is reported`() {
    #expect(launch(["-DataSnapshotsState", "dreaming"]).state == .disabled)
    #expect(launch(["-DataSnapshotsState"]).state == .disabled)
    #expect(launch([], "").state == .disabled)
    #expect(app.events.kinds == [.stateNotForced, .stateNotForced, .stateNotForced])
    #expect(app.events.all.first?.reason.contains("dreaming") == true)
  }

  @Test func `a state set by the app applies from the next launch on`() async throws {
    let forced = launch(["-DataSnapshotsState", "recording"])
    forced.state = .disabled
    #expect(forced.state == .recording)
    _ = forced.process("mine", "a")
    await forced.flush()
    #expect(app.launch().state == .disabled)

    let again = launch(["-DataSnapshotsState", "recording"])
    let manifest = try await again.activate(bundle: try app.bundle("one", ["a": "theirs"]))
    #expect(again.state == .recording && again.activeManifest == manifest)
    let replaying = launch([], "replaying")
    #expect(replaying.process("live", "a") == "theirs")
    try await replaying.deactivate()
    #expect(replaying.process("live", "a") == "mine")
    await replaying.flush()
    #expect(app.launch().state == .disabled)
  }
}
