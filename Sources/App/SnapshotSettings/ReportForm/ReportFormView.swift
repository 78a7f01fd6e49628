#if canImport(SwiftUI) && (os(iOS) || os(macOS) || os(visionOS))
  import DataSnapshots
  public import SwiftUI

  /// The report form as a SwiftUI view.
  ///
  ///     .sheet(isPresented: $reports) { ReportFormView(form) { reports = false } }
  public struct ReportFormView: View {
    private let form: ReportForm
    private let close: @MainActor () -> Void
    @State private var contents: ReportForm.Contents

    /// Creates a view of `form`. `close` is called when the user closes it.
    public init(_ form: ReportForm, close: @escaping @MainActor () -> Void) {
      self.form = form
      self.close = close
      _contents = State(wrappedValue: form.contents)
    }

    /// The view.
    public var body: some View {
      Form {
        status
        question
        if let run = contents.crashedRun { crash(run) }
        parts
      }
      .navigationTitle("Report a bug")
      .task {
        await form.load()
        for await contents in form.updates() { self.contents = contents }
      }
    }

    private var status: some View {
      Section {
        Text(contents.id.description).font(.footnote.monospaced()).textSelection(.enabled)
        Button("Copy the UUID") { Task { await form.copyID() } }
        if !contents.phase.words.isEmpty { Text(contents.phase.words) }
        if let sealing = contents.sealing { Text(sealing.summary).font(.footnote) }
        if contents.canSend { Button("Send") { Task { await form.send() } } }
        Button(contents.isEditable ? "Cancel" : "Close", action: close)
      }
    }

    private var question: some View {
      Section("What happened?") {
        TextField("What you did, and what you expected", text: binding(\.note), axis: .vertical)
          .lineLimit(3...8)
        TextField("Bug report, such as BUG-123", text: binding(\.report))
          .autocorrectionDisabled()
        ForEach(contents.fields) { field in
          if field.choices.isEmpty {
            TextField(field.label, text: answer(field))
          } else {
            Picker(field.label, selection: answer(field)) {
              ForEach([""] + field.choices, id: \.self) { Text($0) }
            }
          }
        }
      }
    }

    private func crash(_ run: SnapshotMode.PreviousRun) -> some View {
      Section("The last run did not end properly") {
        Text(run.words)
        Toggle(
          "Report the last run",
          isOn: Binding {
            contents.draft.run == .previous
          } set: { isPrevious in
            Task { await form.select(isPrevious ? .previous : .current) }
          })
      }
    }

    private var parts: some View {
      let title = "What goes along: " + sizeWords(contents.bytes)
      return Section(title) {
        ForEach(contents.items) { item in
          let name = item.name + ", " + sizeWords(item.bytes)
          Toggle(
            name,
            isOn: Binding {
              contents.isIncluded(item)
            } set: { isIncluded in
              form.setIncluded(isIncluded, item.id)
              contents = form.contents
            })
        }
      }
    }

    private func binding(_ text: any WritableKeyPath<ReportForm.Draft, String> & Sendable) -> Binding<String>
    {
      Binding {
        contents.draft[keyPath: text]
      } set: { value in
        form.edit { $0[keyPath: text] = value }
        contents = form.contents
      }
    }

    private func answer(_ field: ReportForm.Field) -> Binding<String> {
      Binding {
        contents.draft.fields[field.id] ?? ""
      } set: { value in
        form.edit { $0.fields[field.id] = value }
        contents = form.contents
      }
    }
  }
#endif
