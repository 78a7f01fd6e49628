import Foundation
import SnapshotClient
import SnapshotFormat

extension ReportForm {
  /// Puts the UUID into the pasteboard, packs the report, and adds it to the queue. Returns as soon as it is there, or as
  /// it has failed; ``contents`` then follows the upload.
  ///
  /// Does nothing while the report is being sent. After a failure, it tries again.
  public func send() async {
    guard let draft = begin() else { return }
    await configuration.copy(contents.id.description)
    do {
      if let item = reporter.queue[contents.id] {
        try await retry(item)
      } else {
        try await reporter.attach(try makeReport(draft))
      }
      follow()
    } catch ReportingError.notFlushed {
      // It is in the queue.
      follow()
    } catch {
      change { $0.phase = .failed("\(error)") }
    }
  }

  /// Puts the UUID into the pasteboard.
  public func copyID() async { await configuration.copy(contents.id.description) }

  private func begin() -> Draft? {
    change { contents in
      guard contents.canSend else { return nil }
      contents.phase = .packing
      return contents.draft
    }
  }

  /// The reason why a report can't be made, as a sentence for the user.
  private struct Refusal: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  private func makeReport(_ draft: Draft) throws -> BugReport {
    let contents = contents
    let name = draft.report.trimmingCharacters(in: .whitespacesAndNewlines)
    let preset = name.isEmpty ? configuration.report : nil
    var bug = BugReport(report: try preset ?? ReportID(validating: name), run: draft.run)
    bug.id = contents.id
    bug.note = draft.note.allSatisfy(\.isWhitespace) ? nil : draft.note
    bug.fields = draft.fields.filter { !$0.value.allSatisfy(\.isWhitespace) }
    bug.excluded = draft.excluded
    if let screenshot, !draft.excluded.contains("attachments/" + Self.screenshotName) {
      bug.attachments = [Self.screenshotName: screenshot]
    }
    let limits = Manifest.Limits.default
    if let note = bug.note, note.utf8.count > limits.noteLength {
      throw BetaSettingsError.noteTooLong(limit: limits.noteLength)
    }
    if let field = contents.fields.first(where: { (bug.fields[$0.id]?.utf8.count ?? 0) > limits.fieldLength })
    {
      throw Refusal("‘\(field.label)’ is too long: it can have \(limits.fieldLength / 1024) KiB. Shorten it.")
    }
    if bug.note == nil, !contents.items.contains(where: contents.isIncluded) {
      throw Refusal("There is nothing to send. Describe what happened, or leave something to be sent.")
    }
    return bug
  }

  /// Tries an upload again that the server has refused.
  private func retry(_ item: QueuedUpload) async throws {
    if item.hasBundle {
      try reporter.queue.retryNow(item.id)
    } else {
      // The queue needed its space.
      try await reporter.queue.remove(item.id)
      try await reporter.attach(try makeReport(contents.draft))
    }
  }

  /// Shows the state of the upload until it is final. The form is not kept for that.
  private func follow() {
    let (id, queue) = (contents.id, reporter.queue)
    show(queue[id])
    Task { [weak self] in
      for await item in queue.updates() where item.id == id {
        guard let self else { return }
        show(item)
        if item.state.isFinal { return }
      }
    }
  }

  private func show(_ item: QueuedUpload?) {
    guard let item else {
      return change { contents in
        contents.isQueued = false
        contents.phase = .failed("The upload was removed.")
      }
    }
    change { contents in
      contents.isQueued = item.state != .removed
      contents.phase =
        switch item.state {
        case .waiting, .uploading: .queued(BetaSettings.Upload.State(item).words)
        case .done: .sent
        case .failed, .removed: .failed(BetaSettings.Upload.State(item).words)
        }
    }
  }
}
