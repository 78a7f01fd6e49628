"use strict";

// Everything works without this script. It copies texts, opens and closes folds, shows local times, and keeps URLs short.

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

for (const row of document.querySelectorAll(".fold")) row.hidden = false;
const largestTree = 5000;
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-fold]");
  if (!button) return;
  const isOpening = button.dataset.fold === "open";
  for (const details of document.querySelectorAll(".json details")) {
    if (isOpening && details.dataset.part) {
      // Each part adds hundreds of values. A page of many thousands would not respond.
      if (document.querySelectorAll(".json p").length > largestTree) continue;
      await loadContents(details);
    }
    details.open = isOpening;
  }
});

for (const time of document.querySelectorAll("time[datetime*=T]")) {
  const date = new Date(time.dateTime);
  if (Number.isNaN(date.getTime())) continue;
  // The server knows only UTC. The browser's time zone is in the tooltip, with the time as the server wrote it.
  time.title = `${date.toLocaleString([], {dateStyle: "full", timeStyle: "long"})} (${time.title || time.textContent})`;
  time.textContent = "clock" in time.dataset
    ? date.toLocaleTimeString([], {hour12: false}) : date.toLocaleString([], {dateStyle: "medium", timeStyle: "short"});
}

// The keys on the pages of a snapshot. The arrows scroll what has the focus, unless that is the list or nothing.
for (const keys of document.querySelectorAll(".keys")) keys.hidden = false;
document.querySelector(".work-list [aria-current=page]")?.scrollIntoView({block: "nearest", behavior: "instant"});
function neighbour(step) {
  const links = [...document.querySelectorAll(".work-list li > a")];
  const current = links.findIndex((link) => link.hasAttribute("aria-current"));
  return links[current < 0 ? (step > 0 ? 0 : -1) : current + step];
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.key === "/") return;
  if (!document.querySelector(".work") || event.target.closest("input, textarea, select, [contenteditable]")) return;
  const isFree = !event.target.closest(".work-pane, .work-head, .top");
  const target =
    event.key === "ArrowDown" && isFree ? neighbour(1)
    : event.key === "ArrowUp" && isFree ? neighbour(-1)
    : event.key === "n" ? document.querySelector(".hit [rel=next]")
    : event.key === "p" ? document.querySelector(".hit [rel=prev]")
    : document.querySelector(`[aria-keyshortcuts="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  if (target.matches("input")) target.select(); else target.click();
});

// A slash focuses the search field, as on many pages.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const field = document.querySelector("main [role=search] [type=search]") ?? document.querySelector("[type=search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});

document.addEventListener("submit", (event) => {
  if (event.target.getAttribute("role") !== "search") return;
  for (const field of event.target.querySelectorAll("input")) field.disabled = field.value.trim() === "";
});
addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("[role=search] input")) field.disabled = false;
});

// Files: containers and further values are loaded into the page when they are opened.
async function loadPart(address) {
  const response = await fetch(address, {credentials: "same-origin"});
  if (!response.ok) throw new Error(String(response.status));
  return document.createRange().createContextualFragment(await response.text());
}
async function loadContents(details) {
  const address = details.dataset.part;
  delete details.dataset.part;
  // Without an answer, the link in the contents still leads to them.
  try { details.querySelector("div").replaceChildren(await loadPart(address)); } catch { details.dataset.part = address; }
}
document.addEventListener("toggle", (event) => {
  if (event.target.open && event.target.dataset.part) loadContents(event.target);
}, true);
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-part]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const part = await loadPart(link.dataset.part);
    // The link disappears, and the focus continues at the first value that it has loaded.
    const next = part.querySelector("a, summary"), hadFocus = document.activeElement === link;
    link.closest("p").replaceWith(part);
    if (hadFocus) next?.focus();
  } catch {
    location.assign(link.href);
  }
});
// The right arrow opens a fold, then enters it. The left arrow closes it, then returns to the one around it.
document.addEventListener("keydown", (event) => {
  const details = event.target.closest(".json summary")?.parentElement;
  if (!details || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.key === "ArrowRight" && details.open) details.querySelector("div summary")?.focus();
  else if (event.key === "ArrowRight") details.open = true;
  else if (event.key === "ArrowLeft" && details.open) details.open = false;
  else if (event.key === "ArrowLeft") details.parentElement.closest("details")?.querySelector("summary").focus();
  else return;
  event.preventDefault();
});
// A link such as `#/items/0/title` shows the value even if it is on another page.
function showFragment() {
  const pointer = decodeURIComponent(location.hash.slice(1));
  if (!pointer.startsWith("/") || document.getElementById(pointer) || !document.querySelector(".json")) return;
  const place = new URLSearchParams({at: pointer});
  const decode = new URLSearchParams(location.search).get("decode");
  if (decode !== null) place.set("decode", decode);
  location.replace(`?${place}`);
}
addEventListener("hashchange", showFragment);
showFragment();
