import SnapshotFormat

/// The page's HTML, generated from a ``BetaSettings/Overview``.
struct PageContent: Sendable {
  /// Invalid input of a form.
  struct Mistake: Sendable {
    let action: PageAction
    let text: String
    var note = ""
    let reason: String
  }

  let title: String
  let overview: BetaSettings.Overview
  let mistake: Mistake?

  /// The complete page.
  var document: HTML {
    let head: HTML = """
      <script src="/page.js" defer></script>
      \("<noscript><meta http-equiv=\"refresh\" content=\"2; url=/\"></noscript>", if: overview.isBusy)
      """
    return Self.frame(
      title: mistake == nil ? title : "Error – \(title)", head: head,
      body: """
        <a class="skip" href="#main">Skip to the settings</a>
        <header><h1>\(title)</h1><p class="note">Record this app’s data, send it with a bug report, and replay \
        snapshots of other testers. Server: \(HTML.name(overview.server))</p></header>
        <main id="main">
        <p id="gone" class="banner failed" role="alert" hidden>The app can’t be reached. This page reconnects \
        automatically.</p>
        \(outcome)
        <div class="columns">
        <div>\([stateSection, modulesSection])</div>
        <div>\([crashSection, uploadSection, activateSection, queueSection, recentSection, clearSection])</div>
        </div>
        </main>
        """)
  }

  /// The response that starts a session; it refreshes to the page immediately.
  static func entrance(title: String) -> HTML {
    frame(
      title: title, head: "<meta http-equiv=\"refresh\" content=\"0; url=/\">",
      body:
        "<main id=\"main\" class=\"alone\"><h1>\(title)</h1><p><a href=\"/\">Open the settings</a></p></main>"
    )
  }

  /// A page with a single message.
  static func message(title: String, text: String, of site: String) -> HTML {
    frame(
      title: "\(title) – \(site)", head: "",
      body: """
        <main id="main" class="alone"><h1>\(title)</h1><p>\(text)</p>
        <p><a href="/">Back to the settings</a></p></main>
        """)
  }

  private static func frame(title: String, head: HTML, body: HTML) -> HTML {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>\(title)</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/page.css">
    \(head)
    </head>
    <body>
    \(body)
    </body>
    </html>

    """
  }

  // MARK: - Pieces that several sections use

  /// A form that consists of a button.
  static func button(
    _ action: PageAction, _ label: HTML, id: String, fields: [(name: String, value: String)] = [],
    kind: String = "quiet"
  ) -> HTML {
    let hidden = fields.map { field -> HTML in
      "<input type=\"hidden\" name=\"\(field.name)\" value=\"\(field.value)\">"
    }
    return """
      <form method="post" action="\(action.path)">\(hidden)\
      <button id="\(id)" class="\(kind)">\(label)</button></form>
      """
  }

  /// A form with one text field. If the input is invalid, the reason is shown beside the field.
  func entry(_ action: PageAction, label: String, hint: HTML, submit: String, length: Int, before: HTML = "")
    -> HTML
  {
    let field = action.field ?? ""
    let mistake = mistake?.action == action ? mistake : nil
    let described = mistake == nil ? "\(field)-hint" : "\(field)-hint \(field)-mistake"
    let reason = mistake.map { mistake -> HTML in
      "<p id=\"\(field)-mistake\" class=\"mistake\" role=\"alert\">\(mistake.reason)</p>"
    }
    let state: HTML = mistake == nil ? "" : " aria-invalid=\"true\" autofocus"
    return """
      <form method="post" action="\(action.path)" novalidate>
      \(before)
      <label for="\(field)">\(label)</label>
      <p id="\(field)-hint" class="note">\(hint)</p>
      \(reason)
      <div class="entry"><input id="\(field)" name="\(field)" value="\(mistake?.text ?? "")" maxlength="\(length)" \
      required autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false" \
      aria-describedby="\(described)"\(state)>
      <button class="main">\(submit)</button></div>
      </form>
      """
  }

  /// A section whose contents the script refreshes.
  static func live(_ id: String, _ headline: String, _ contents: HTML) -> HTML {
    """
    <section aria-labelledby="\(id)-title"><h2 id="\(id)-title">\(headline)</h2>
    <div id="\(id)" data-live>\(contents)</div></section>
    """
  }

  /// A progress bar, with a label for screen readers.
  static func progress(_ fraction: Double?, of label: String) -> HTML {
    guard let fraction else { return "<progress aria-label=\"\(label)\"></progress>" }
    return
      "<progress aria-label=\"\(label)\" max=\"100\" value=\"\(Int(max(0, min(fraction, 1)) * 100))\"></progress>"
  }
}
