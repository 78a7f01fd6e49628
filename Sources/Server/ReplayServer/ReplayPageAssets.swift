/// The icon, the style sheet and the script of ``ReplayPage``.
enum ReplayPageAssets {
  static let icon = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#4a7dd0" d="M3 2l11 6-11 6z"/></svg>

    """

  static let style = """
    :root {
      color-scheme: light dark;
      --line: #d0d4da; --quiet: #5a6270; --bad: #b00020; --back: #fff; --text: #1a1d21;
    }
    @media (prefers-color-scheme: dark) {
      :root { --line: #3a4048; --quiet: #a3acb8; --bad: #ff8a8a; --back: #16181c; --text: #e8eaed; }
    }
    body {
      margin: 0 auto; max-width: 70rem; padding: 1rem; background: var(--back); color: var(--text);
      font: 1rem/1.5 system-ui, sans-serif;
    }
    h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere; }
    h2 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
    header p { margin: 0; color: var(--quiet); overflow-wrap: anywhere; }
    ul, ol { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
    li { border-bottom: 1px solid var(--line); padding: 0.4rem 0; overflow-wrap: anywhere; }
    li code, li span { display: block; }
    li span { color: var(--quiet); }
    .missing code, b.missing, li.missing b { color: var(--bad); }
    .ended header::after { content: 'The server does not answer any more.'; color: var(--bad); }
    footer { margin-top: 1.5rem; }
    button { font: inherit; padding: 0.4rem 0.8rem; }

    """

  /// Loads the page every second while it is visible, and replaces what has changed.
  static let script = """
    'use strict';
    const live = document.getElementById('live');
    async function update() {
      if (!document.hidden) {
        try {
          const answer = await fetch(location.pathname, { cache: 'no-store' });
          const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
          const next = page.getElementById('live');
          if (next && next.innerHTML !== live.innerHTML) live.replaceChildren(...next.childNodes);
          document.body.classList.remove('ended');
        } catch { document.body.classList.add('ended'); }
      }
      setTimeout(update, 1000);
    }
    setTimeout(update, 1000);

    """
}
