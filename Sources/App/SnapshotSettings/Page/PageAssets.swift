/// The page's style sheet and script.
enum PageAssets {
  /// Refreshes the page's contents without changing text fields, open details or the focus, and copies UUIDs. The page
  /// works without it.
  static let script = """
    "use strict";
    const pause = () => document.querySelector("[data-busy]") ? 500 : 2000;

    function prepare() {
      if (!navigator.clipboard) return;
      for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
    }

    function update(part, fresh) {
      for (const old of part.querySelectorAll("details[id]")) {
        const next = fresh.querySelector("#" + CSS.escape(old.id));
        if (next) next.open = old.open;
      }
      for (const button of fresh.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
      if (part.innerHTML === fresh.innerHTML) return;
      const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
      part.replaceChildren(...fresh.childNodes);
      if (focused) document.getElementById(focused)?.focus({preventScroll: true});
    }

    async function refresh() {
      try {
        if (!document.hidden) {
          const answer = await fetch("/", {cache: "no-store"});
          document.getElementById("gone").hidden = true;
          if (answer.ok) {
            const next = new DOMParser().parseFromString(await answer.text(), "text/html");
            const [banner, fresh] = [document, next].map((page) => page.getElementById("outcome"));
            banner.className = fresh.className;
            banner.toggleAttribute("data-busy", fresh.hasAttribute("data-busy"));
            for (const part of document.querySelectorAll("[data-live]")) {
              const latest = next.getElementById(part.id);
              if (latest) update(part, latest);
            }
          }
        }
      } catch {
        document.getElementById("gone").hidden = false;
      }
      setTimeout(refresh, pause());
    }

    document.addEventListener("click", async (event) => {
      const button = event.target.closest("[data-copy]");
      if (!button) return;
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    prepare();
    setTimeout(refresh, pause());

    """

  /// Supports light and dark mode, and narrow and wide windows.
  static let stylesheet = """
    :root {
      color-scheme: light dark;
      --back: #f2f3f7; --card: #fff; --text: #16181d; --note: #565d6b; --line: #d5d9e2;
      --accent: #0a58ca; --on-accent: #fff; --good: #13653b; --good-back: #ddf3e5;
      --bad: #a3231c; --bad-back: #fce5e3; --warn: #7a4a00; --warn-back: #fdeccb; --quiet: #e7eaf1;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --back: #101217; --card: #1a1d24; --text: #eceef3; --note: #a4acbb; --line: #343a46;
        --accent: #8ab4ff; --on-accent: #0b1a33; --good: #86dba6; --good-back: #12331f;
        --bad: #ffa49d; --bad-back: #421714; --warn: #ffcf7d; --warn-back: #3b2a08; --quiet: #2a2f3a;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0 auto; padding: 1rem; max-width: 68rem; background: var(--back); color: var(--text);
      font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
      overflow-wrap: anywhere;
    }
    h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0 .25rem; }
    h2 { font-size: 1.1rem; line-height: 1.3; margin: 0 0 .75rem; }
    p { margin: 0 0 .5rem; }
    ul { list-style: none; margin: 0; padding: 0; }
    code { font: .9em/1.4 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
    .note { color: var(--note); font-size: .9rem; font-weight: normal; }
    .hidden {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
    }
    .skip { position: absolute; left: -100vw; }
    .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem; z-index: 1; }
    header { margin-bottom: 1rem; }
    section, .alone {
      background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem; margin-bottom: 1rem;
    }
    .alone { max-width: 36rem; margin: 10vh auto; }
    @media (min-width: 52rem) {
      body { padding: 1.5rem; }
      .columns { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; align-items: start; }
    }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    #outcome:focus, #outcome:focus-visible { outline: none; }

    label { font-weight: 600; }
    input, textarea, button {
      font: inherit; color: inherit; min-height: 2.75rem; border-radius: .5rem; border: 1px solid var(--line);
    }
    input { flex: 1 1 12rem; min-width: 0; padding: .5rem .75rem; background: var(--back); border-color: var(--note); }
    textarea { width: 100%; box-sizing: border-box; padding: .5rem .75rem; background: var(--back); border-color: var(--note); resize: vertical; }
    input[aria-invalid] { border: 2px solid var(--bad); }
    button { padding: .5rem 1rem; cursor: pointer; background: var(--quiet); font-weight: 600; }
    button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
    button.destructive { background: var(--bad); border-color: var(--bad); color: var(--card); }
    button.copy { min-height: 2rem; padding: .125rem .625rem; font-size: .85rem; }
    button:hover { filter: brightness(.95); }
    .entry, .actions { display: flex; flex-wrap: wrap; gap: .5rem; }
    .mistake { color: var(--bad); font-weight: 600; }
    .switch { display: flex; margin-bottom: .75rem; }
    .switch button { flex: 1; border-radius: 0; border-color: var(--note); }
    .switch button + button { border-left: 0; }
    .switch button:first-child { border-radius: .5rem 0 0 .5rem; }
    .switch button:last-child { border-radius: 0 .5rem .5rem 0; }
    .switch [aria-pressed=true] { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }

    .banner { border: 1px solid; border-radius: .75rem; padding: .75rem 1rem; margin-bottom: 1rem; }
    .banner.empty { border: 0; padding: 0; margin: 0; }
    .banner p:last-child { margin-bottom: 0; }
    .banner.done { color: var(--good); background: var(--good-back); }
    .banner.failed { color: var(--bad); background: var(--bad-back); }
    .banner.cancelled { color: var(--warn); background: var(--warn-back); }
    .banner.running { background: var(--card); border-color: var(--accent); }
    .banner button { color: var(--text); }
    progress { width: 100%; height: .75rem; accent-color: var(--accent); margin: .25rem 0 .5rem; }

    .card, .cards li { border-top: 1px solid var(--line); padding: .75rem 0; }
    .cards li:first-child { border-top: 0; padding-top: 0; }
    .card { padding-bottom: 0; }
    .cards + form { border-top: 1px solid var(--line); padding-top: .75rem; }
    .uuid { user-select: all; }
    .module { border-top: 1px solid var(--line); }
    summary { display: flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; padding: .625rem 0; cursor: pointer; }
    summary::before { content: "▸"; color: var(--note); }
    details[open] > summary::before { content: "▾"; }
    summary::-webkit-details-marker { display: none; }
    .danger summary { padding-top: 0; color: var(--bad); font-weight: 600; }
    .grow { flex: 1; font-weight: 600; }
    .badge { border-radius: 1rem; padding: .0625rem .625rem; font-size: .85rem; font-weight: 600; background: var(--quiet); }
    .badge.good { color: var(--good); background: var(--good-back); }
    .badge.lacking { color: var(--warn); background: var(--warn-back); }
    .module ul { padding: 0 0 .625rem 1.1rem; }
    .present::before { content: "✓ "; color: var(--good); }
    .missing::before { content: "✗ "; color: var(--warn); }

    """
}
