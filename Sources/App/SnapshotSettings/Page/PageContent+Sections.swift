import DataSnapshots
import Foundation
import SnapshotFormat

extension PageContent {
  /// The running or last operation. Screen readers announce its text when it changes, but not its progress bar.
  var outcome: HTML {
    let activity = overview.activity
    let isRunning = activity?.phase == .running
    let words = activity.map { activity -> HTML in
      "<p><strong>\(activity.title)</strong></p><p>\(activity.message)</p>"
    }
    let snapshot = activity?.snapshot.map { id -> HTML in "<p>\(Self.copyable(id, as: "outcome"))</p>" }
    return """
      <div id="outcome" class="banner \(activity.map { String(describing: $0.phase) } ?? "empty")" tabindex="-1"\
      \(" data-busy", if: overview.isBusy)>
      <div id="outcome-words" role="status" data-live>\(words)</div>
      <div id="outcome-progress" data-live>\(snapshot)\
      \(Self.progress(activity?.fraction, of: "Progress"), if: isRunning)\
      \(Self.button(.cancel, "Stop", id: "cancel"), if: isRunning)</div>
      </div>
      """
  }

  var stateSection: HTML {
    let current = overview.report.state
    let buttons = SnapshotMode.State.allCases.map { state -> HTML in
      """
      <button id="state-\(state.rawValue)" name="state" value="\(state.rawValue)" \
      aria-pressed="\(state == current ? "true" : "false")">\(state.label)</button>
      """
    }
    let replayed = overview.active.map { manifest -> HTML in
      let application = manifest.application
      return """
        <div class="card"><p><strong>\(HTML.name(application.identifier)) \(HTML.name(application.version)) \
        (\(HTML.name(application.build)))</strong></p>
        <p class="note">\(manifest.report.map { $0.description + " · " } ?? "")recorded \(Self.time(manifest.createdAt)) on \
        \(HTML.name(manifest.device.model)), \(HTML.name(manifest.device.system)) \(HTML.name(manifest.device.systemVersion))</p>
        <p>\(Self.copyable(manifest.id, as: "active"))</p>
        \(Self.button(.deactivate, "Stop replaying and remove it", id: "deactivate"))</div>
        """
    }
    return Self.live(
      "mode", "Data source",
      """
      <form method="post" action="/state"><div class="switch" role="group" aria-labelledby="mode-title">
      \(buttons)
      </div></form>
      <p id="state-words">\(words(of: current))</p>
      \(replayed)
      """)
  }

  private func words(of state: SnapshotMode.State) -> String {
    switch state {
    case .disabled: "The app uses live data. Nothing is recorded."
    case .recording: "The app uses live data. The latest version is recorded on this device."
    case .replaying where overview.active != nil:
      "The app uses data of the snapshot below instead of live data."
    case .replaying: "The app uses the recordings on this device instead of live data."
    }
  }

  var modulesSection: HTML {
    let report = overview.report
    let modules = report.modules.enumerated().map { number, module -> HTML in
      let all = module.present.count + module.missing.count
      let badge: HTML =
        module.isComplete
        ? "<span class=\"badge good\">Complete</span>"
        : "<span class=\"badge lacking\">\(module.missing.count) missing</span>"
      let files =
        module.present.map { file -> HTML in Self.file(file, "Recorded", "present") }
        + module.missing.map { file -> HTML in Self.file(file, "Missing", "missing") }
      return """
        <details id="module-\(number)" class="module"\(" open", if: !module.isComplete)>
        <summary id="module-\(number)-title"><span class="grow">\(HTML.name(module.name))</span> \
        <span class="note">\(module.present.count) of \(all)</span> \(badge)</summary>
        <ul>\(files)</ul></details>
        """
    }
    let unassigned: HTML = """
      <details id="unassigned" class="module"><summary id="unassigned-title"><span class="grow">In no module</span> \
      <span class="badge">\(report.unassigned.count)</span></summary>
      <ul>\(report.unassigned.prefix(500).map { Self.file($0, "Recorded", "present") })</ul></details>
      """
    let source =
      overview.active != nil && report.state == .replaying ? "in the active snapshot" : "on this device"
    return Self.live(
      "modules", "Modules",
      """
      <p class="note">\(report.recordingCount) recording\(report.recordingCount == 1 ? "" : "s") \(source).</p>
      \("<p>The app has not registered any modules.</p>", if: report.modules.isEmpty)
      \(modules)
      \(unassigned, if: !report.unassigned.isEmpty)
      """)
  }

  private static func file(_ name: String, _ word: String, _ kind: String) -> HTML {
    "<li class=\"\(kind)\"><span class=\"hidden\">\(word): </span><code>\(HTML.name(name))</code></li>"
  }

  /// A snapshot's UUID: one click selects it; with JavaScript, a button copies it.
  static func copyable(_ id: SnapshotID, as place: String) -> HTML {
    """
    <code class="uuid">\(id.description)</code> \
    <button type="button" class="quiet copy" id="copy-\(place)-\(id.description)" data-copy="\(id.description)" \
    aria-label="Copy the UUID \(id.description)" hidden>Copy</button>
    """
  }

  /// A date in this device's time zone.
  static func time(_ date: Date) -> HTML {
    let style = Date.FormatStyle(date: .abbreviated, time: .shortened, locale: Locale(identifier: "en_GB"))
    return "<time datetime=\"\(date.ISO8601Format())\">\(date.formatted(style))</time>"
  }
}
