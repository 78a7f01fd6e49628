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
  /// Reads the folder of recordings on a queue of its own.
  public func report() async -> ModuleReport { await recorder.queue.run { [self] in makeReport() } }

  /// The modules with identifiers as they are recorded.
  var redactedModules: [Module] {
    withCore { $0.modules }.map { module in
      Module(name: module.name, files: module.files.map(recorder.redactor.redact(identifier:)))
    }
  }

  private func makeReport() -> ModuleReport {
    let (state, active, session, modules) = withCore { ($0.state, $0.active, $0.session, $0.modules) }
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
        contents.redactions = recorder.notes.ran
      } catch {
        configuration.onEvent(.init(.replayFailed, "\(error)"))
      }
    }
    contents.isPaused = recorder.isPaused
    contents.misses = session.misses
    return ModuleReport(state: state, modules: modules, contents, as: recorder.redactor.redact(identifier:))
  }
}
