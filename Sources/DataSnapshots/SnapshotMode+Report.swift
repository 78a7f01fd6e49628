import SnapshotFormat
import SystemIO

extension SnapshotMode {
  /// Names the identifiers that make a module complete. A module that is registered again gets the new ones.
  public func register(module name: String, files: [String]) {
    change { core in
      core.modules.removeAll { $0.name == name }
      core.modules.append(Module(name: name, files: files))
    }
  }

  /// What there is of each module: in the active snapshot while one is replayed, else among the recordings here.
  ///
  /// Reads the folder of recordings: not for a path that is taken often.
  @available(*, noasync, message: "Use the asynchronous form")
  public func report() -> ModuleReport { recorder.queue.sync { makeReport() } }

  /// What there is of each module: in the active snapshot while one is replayed, else among the recordings here.
  public func report() async -> ModuleReport { await recorder.queue.run { [self] in makeReport() } }

  private func makeReport() -> ModuleReport {
    let (state, active, modules) = withCore { ($0.state, $0.active, $0.modules) }
    if state == .replaying, let active {
      return ModuleReport(
        state: state, snapshot: active.manifest.id, modules: modules,
        identifiers: active.manifest.recordings.map(\.identifier))
    }
    do {
      return ModuleReport(state: state, modules: modules, identifiers: try recorder.list().map(\.identifier))
    } catch {
      configuration.onEvent(.init(.replayFailed, "\(error)"))
      return ModuleReport(state: state, modules: modules, identifiers: [])
    }
  }
}
