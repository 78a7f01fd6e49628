#if canImport(SwiftUI) && (os(iOS) || os(macOS) || os(visionOS))
  import DataSnapshots
  import SnapshotFormat
  public import SwiftUI

  /// The settings as a SwiftUI view, for an app's own menu.
  ///
  ///     NavigationLink("Beta Settings") { BetaSettingsView(settings) }
  public struct BetaSettingsView: View {
    private let settings: BetaSettings
    @State private var overview: BetaSettings.Overview?
    @State private var report = ""
    @State private var note = ""
    @State private var crashReport = ""
    @State private var crashNote = ""
    @State private var snapshot = ""
    @State private var mistake: String?
    @State private var asksToClear = false

    /// Creates a view that refreshes while it is shown.
    public init(_ settings: BetaSettings) { self.settings = settings }

    /// The view.
    public var body: some View {
      Form {
        if let overview {
          activity(overview)
          crash(overview)
          state(overview)
          modules(overview)
          entries(overview)
          uploads(overview)
          recent(overview)
          Section {
            Button("Delete the recordings …", role: .destructive) { asksToClear = true }
          }
        }
      }
      .navigationTitle("Beta Settings")
      .task { await follow() }
      .alert(
        "This action failed",
        isPresented: Binding {
          mistake != nil
        } set: {
          if !$0 { mistake = nil }
        }
      ) {
        Button("OK") { mistake = nil }
      } message: {
        Text(mistake ?? "")
      }
      .confirmationDialog("Delete all recordings?", isPresented: $asksToClear) {
        Button("Delete the recordings", role: .destructive) { act { try await settings.clearRecordings() } }
      }
    }

    @ViewBuilder private func activity(_ overview: BetaSettings.Overview) -> some View {
      if let activity = overview.activity {
        Section {
          VStack(alignment: .leading) {
            Text(activity.title).font(.headline)
            Text(activity.message)
            if let id = activity.snapshot { uuid(id) }
            if activity.phase == .running {
              ProgressView(value: activity.fraction)
              Button("Stop") { settings.cancel() }
            }
          }
        }
      }
    }

    private func state(_ overview: BetaSettings.Overview) -> some View {
      Section("Data source") {
        Picker(
          "State",
          selection: Binding {
            overview.report.state
          } set: { state in
            act { settings.state = state }
          }
        ) {
          ForEach(SnapshotMode.State.allCases, id: \.self) { Text($0.label) }
        }
        .pickerStyle(.segmented)
        if let active = overview.active {
          Text("\(active.application.identifier) \(active.application.version)")
          uuid(active.id)
          Button("Stop replaying and remove it") { act { try await settings.deactivate() } }
        }
      }
    }

    @ViewBuilder private func crash(_ overview: BetaSettings.Overview) -> some View {
      if let run = overview.crashedRun {
        Section("The last run did not end properly") {
          Text(run.words)
          TextField("Bug report, such as BUG-123", text: $crashReport)
          TextField("What happened (optional)", text: $crashNote, axis: .vertical)
            .lineLimit(3...8)
          Button("Upload the last run") {
            act {
              try await settings.upload(toReport: crashReport, note: crashNote, of: .previous)
              crashNote = ""
            }
          }
          Button("Delete the data of the last run", role: .destructive) {
            act { try await settings.discardCrashedRun() }
          }
        }
        .autocorrectionDisabled()
      }
    }

    private func modules(_ overview: BetaSettings.Overview) -> some View {
      Section("Modules") {
        ForEach(overview.report.modules, id: \.name) { module in
          DisclosureGroup {
            ForEach(module.present, id: \.self) { Label($0, systemImage: "checkmark") }
            ForEach(module.missing, id: \.self) { Label($0, systemImage: "xmark") }
          } label: {
            LabeledContent(
              module.name, value: module.isComplete ? "Complete" : "\(module.missing.count) missing")
          }
        }
      }
    }

    private func entries(_ overview: BetaSettings.Overview) -> some View {
      Section("Send and open") {
        if let sealing = overview.sealing { Text(sealing.summary).font(.footnote) }
        TextField("Bug report, such as BUG-123", text: $report)
        TextField("What happened (optional)", text: $note, axis: .vertical)
          .lineLimit(3...8)
        Button("Upload") {
          act {
            try await settings.upload(toReport: report, note: note)
            note = ""
          }
        }
        TextField("UUID or address of a snapshot", text: $snapshot)
        Button("Activate") { act { try settings.activate(snapshot) } }
      }
      .autocorrectionDisabled()
    }

    private func uploads(_ overview: BetaSettings.Overview) -> some View {
      Section("Uploads") {
        ForEach(overview.uploads) { upload in
          VStack(alignment: .leading) {
            Text(upload.report.description).font(.headline)
            Text(upload.state.words)
            uuid(upload.id)
            if upload.canRetry { Button("Retry now") { act { try await settings.retry(upload.id) } } }
            Button("Remove", role: .destructive) { act { try await settings.remove(upload.id) } }
          }
          .buttonStyle(.borderless)
        }
      }
    }

    private func recent(_ overview: BetaSettings.Overview) -> some View {
      Section("Recent snapshots") {
        ForEach(overview.recent) { entry in
          VStack(alignment: .leading) {
            Text(entry.report?.description ?? "No report").font(.headline)
            uuid(entry.id)
            Button("Open again") { act { try settings.activate(entry.id.description) } }
          }
          .buttonStyle(.borderless)
        }
        if !overview.recent.isEmpty { Button("Clear this list") { act { try await settings.clearRecent() } } }
      }
    }

    private func uuid(_ id: SnapshotID) -> some View {
      Text(id.description).font(.footnote.monospaced()).textSelection(.enabled)
    }

    private func act(_ action: @escaping @MainActor () async throws -> Void) {
      Task {
        do { try await action() } catch { mistake = "\(error)" }
        overview = await settings.overview()
      }
    }

    /// Refreshes the overview every second until the view disappears.
    private func follow() async {
      while !Task.isCancelled {
        overview = await settings.overview()
        do { try await Task.sleep(for: .seconds(1)) } catch { return }
      }
    }
  }
#endif
