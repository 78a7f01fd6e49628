import DataSnapshots
import SnapshotFormat

extension PageContent {
  var uploadSection: HTML {
    let sealing = overview.sealing.map { sealing -> HTML in
      "<p id=\"sealing\" class=\"note\">\(sealing.summary)</p>"
    }
    return """
      <section aria-labelledby="upload-title"><h2 id="upload-title">Send to a bug report</h2>
      \(sealing)
      \(entry(
      .upload, label: "Bug report",
      hint: "The report’s name in your tracker, such as BUG-123. The recordings on this device are sent to it.",
      submit: "Upload", length: ReportID.maximumLength, before: noteField(of: .upload, id: "note")))
      </section>
      """
  }

  /// Offers the run that crashed. Not refreshed, so that the tester's words stay.
  var crashSection: HTML {
    guard let run = overview.crashedRun else {
      // It was deleted after the page had been shown.
      guard let mistake, mistake.action == .uploadCrash else { return "" }
      return "<section><p class=\"mistake\" role=\"alert\">\(mistake.reason)</p></section>"
    }
    return """
      <section id="crash" aria-labelledby="crash-title"><h2 id="crash-title">The last run did not end properly</h2>
      <p>Its recordings are kept: <span id="crash-words">\(run.words)</span>.</p>
      \(entry(
      .uploadCrash, label: "Bug report for the crash",
      hint: "The data that the app worked with before it ended is sent to this report.",
      submit: "Upload the last run", length: ReportID.maximumLength,
      before: noteField(of: .uploadCrash, id: "crash-note")))
      \(Self.button(.discardCrash, "Delete the data of the last run", id: "discard-crash"))
      </section>
      """
  }

  private func noteField(of action: PageAction, id: String) -> HTML {
    let text = mistake?.action == action ? mistake?.note ?? "" : ""
    return """
      <label for="\(id)">What happened (optional)</label>
      <p id="\(id)-hint" class="note">Your words are sent with the recordings. They are not redacted.</p>
      <textarea id="\(id)" name="note" rows="4" maxlength="\(Manifest.Limits.default.noteLength)" \
      aria-describedby="\(id)-hint">
      \(text)</textarea>
      """
  }

  var activateSection: HTML {
    """
    <section aria-labelledby="activate-title"><h2 id="activate-title">Open a snapshot</h2>
    \(entry(
      .activate, label: "UUID or address",
      hint: "Copy it from the bug report. The snapshot is downloaded, verified and replayed.", submit: "Activate",
      length: 2048))
    </section>
    """
  }

  var queueSection: HTML {
    let uploads = overview.uploads.map { upload -> HTML in
      // Distinguishes the buttons of several uploads for users of screen readers.
      let name: HTML =
        "<span class=\"hidden\"> \(upload.report.description) \(upload.id.description)</span>"
      return """
        <li><p><strong>\(upload.report.description)</strong> <span class="note">\(sizeWords(upload.size)) · \
        \(Self.time(upload.attachedAt))</span></p>
        <p class="upload-state">\(upload.state.words)</p>
        <p>\(Self.copyable(upload.id, as: "queue"))</p>
        \(Self.bar(of: upload))
        <div class="actions">\(Self.button(
        .retry, "Retry now\(name)", id: "retry-\(upload.id)", fields: [("id", upload.id.description)]),
        if: upload.canRetry)
        \(Self.button(
        .remove, "\(Self.removal(of: upload))\(name)", id: "remove-\(upload.id)",
        fields: [("id", upload.id.description)]))</div></li>
        """
    }
    return Self.live(
      "queue", "Uploads",
      overview.uploads.isEmpty
        ? "<p class=\"note\">There are no uploads.</p>" : "<ul class=\"cards\">\(uploads)</ul>")
  }

  private static func bar(of upload: BetaSettings.Upload) -> HTML {
    guard case .sending(let fraction) = upload.state else { return "" }
    return progress(fraction, of: "Upload for \(upload.report)")
  }

  private static func removal(of upload: BetaSettings.Upload) -> HTML {
    upload.state == .done ? "Remove from the list" : "Cancel and delete"
  }

  var recentSection: HTML {
    let snapshots = overview.recent.map { snapshot -> HTML in
      let application = snapshot.application.map { " · " + $0.identifier + " " + $0.version } ?? ""
      return """
        <li><p><strong>\(snapshot.origin == .sent ? "Sent" : "Opened")</strong> <span class="note">\
        \(snapshot.report?.description ?? "no report")\(HTML.name(application)) · \(Self.time(snapshot.date))</span></p>
        <p>\(Self.copyable(snapshot.id, as: "recent"))</p>
        <div class="actions">\(Self.button(
          .activate, "Open again<span class=\"hidden\"> \(snapshot.id.description)</span>",
          id: "activate-\(snapshot.id)", fields: [("snapshot", snapshot.id.description)]))</div></li>
        """
    }
    return Self.live(
      "recent", "Recent snapshots",
      overview.recent.isEmpty
        ? "<p class=\"note\">Snapshots that you send or open are listed here.</p>"
        : """
        <ul class="cards">\(snapshots)</ul>
        \(Self.button(.clearRecent, "Clear this list", id: "clear-recent"))
        """)
  }

  var clearSection: HTML {
    """
    <section aria-labelledby="clear-title"><h2 id="clear-title">Recordings</h2>
    <details id="clear" class="danger"><summary id="clear-summary">Delete the recordings …</summary>
    <p>This deletes all recordings on this device. Snapshots that were sent, and the active snapshot, are not \
    deleted.</p>
    \(Self.button(.clearRecordings, "Delete the recordings", id: "clear-recordings", kind: "destructive"))
    </details></section>
    """
  }
}
