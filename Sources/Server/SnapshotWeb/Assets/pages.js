"use strict";

// Everything works without this: it copies, folds, says local times, and keeps addresses short.

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
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fold]");
  if (!button) return;
  for (const details of document.querySelectorAll(".json details")) details.open = button.dataset.fold === "open";
});

for (const time of document.querySelectorAll("time[datetime*=T]")) {
  const date = new Date(time.dateTime);
  if (Number.isNaN(date.getTime())) continue;
  // The server knows only UTC. The browser's time zone is in the tooltip, with the time as the server wrote it.
  time.title = `${date.toLocaleString([], {dateStyle: "full", timeStyle: "long"})} (${time.textContent})`;
  time.textContent = date.toLocaleString([], {dateStyle: "medium", timeStyle: "short"});
}

// A slash focuses the search field, as on many pages.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const field = document.querySelector("[role=search] input[type=search]");
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
document.addEventListener("toggle", async (event) => {
  const details = event.target;
  if (!details.open || !details.dataset.part) return;
  const address = details.dataset.part;
  delete details.dataset.part;
  try { details.lastElementChild.replaceChildren(await loadPart(address)); } catch { details.dataset.part = address; }
}, true);
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-part]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try { link.closest("p").replaceWith(await loadPart(link.dataset.part)); } catch { location.assign(link.href); }
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
