// The pages work without this: it keeps them live and copies texts.
"use strict";

const say = (text) => { document.getElementById("said").textContent = text; };

// ---- copy

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy).textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  const label = button.textContent;
  button.textContent = "Copied";
  say("Copied");
  setTimeout(() => { button.textContent = label; }, 1500);
});

// ---- the list: lines that are new or have changed, as the server wrote them

const lines = document.getElementById("lines");
let most = 500; // lines that a page keeps; older ones are a click away, and then stay

function put(id, html) {
  const holder = document.createElement("tbody");
  holder.innerHTML = html;
  const line = holder.firstElementChild;
  const old = document.getElementById(`r-${id}`);
  if (old) {
    const focused = old.contains(document.activeElement);
    old.replaceWith(line);
    if (focused) line.querySelector("a").focus();
    return;
  }
  lines.prepend(line);
  while (lines.children.length > most) lines.lastElementChild.remove();
}

if (lines && "live" in lines.dataset) {
  const live = document.getElementById("live");
  const source = new EventSource(`/_toolwire/news?since=${lines.dataset.version}`);
  source.onopen = () => { live.textContent = "live"; };
  source.onerror = () => { live.textContent = "the gateway does not answer"; };
  source.onmessage = (message) => {
    const news = JSON.parse(message.data);
    document.querySelector(".empty")?.remove();
    for (const line of news.lines) put(line.id, line.html);
    document.getElementById("count").textContent = news.total;
  };
}

const older = document.getElementById("older");
older?.addEventListener("click", async (event) => {
  event.preventDefault();
  const page = new DOMParser().parseFromString(await (await fetch(older.href)).text(), "text/html");
  const more = [...page.querySelectorAll("#lines > tr")].filter((line) => !document.getElementById(line.id));
  lines.append(...more);
  most = Math.max(most, lines.children.length);
  say(`${more.length} more lines`);
  const next = page.getElementById("older");
  if (next) older.href = next.href; else older.remove();
});

// ---- one exchange, while it runs

const exchange = document.getElementById("exchange");
const LEAST_MS = 300; // between two looks at an exchange that runs

// The element's name, to find its like in the page that follows: in between, cards and rows may have come.
function nameOf(it) {
  const text = it.matches("a, button, summary") ? it.textContent : it.querySelector(":scope > summary")?.textContent;
  return [it.tagName, it.id, it.className, it.getAttribute("aria-label"), text].join("|");
}

function named() {
  const found = new Map();
  const times = new Map();
  for (const it of exchange.querySelectorAll("a, button, input, summary, details, pre, .scroll, [tabindex]")) {
    const name = nameOf(it);
    const number = times.get(name) ?? 0;
    times.set(name, number + 1);
    found.set(`${name}|${number}`, it);
  }
  return found;
}

// What a reader has done to the page: opened, scrolled, focused, typed. Gives what does it again.
function readersState() {
  const before = new Map([...named()].map(([name, it]) => [name, {
    open: it.open, top: it.scrollTop, left: it.scrollLeft, focused: it === document.activeElement,
    typed: it.matches("input") && it.value !== it.defaultValue ? it.value : null,
  }]));
  return () => {
    for (const [name, it] of named()) {
      const was = before.get(name);
      if (!was) continue;
      if (was.open) it.open = true;
      if (was.top) it.scrollTop = was.top;
      if (was.left) it.scrollLeft = was.left;
      if (was.typed !== null) it.value = was.typed;
      if (was.focused) it.focus({ preventScroll: true });
    }
  };
}

const selects = () => {
  const selection = getSelection();
  return !selection.isCollapsed && exchange.contains(selection.anchorNode);
};

async function refresh() {
  if (selects()) { setTimeout(refresh, LEAST_MS); return; } // what is being copied stays
  const began = performance.now();
  const answer = await fetch(`${location.pathname}/body${location.search}`);
  if (!answer.ok) return;
  const running = answer.headers.get("x-running") === "1";
  const text = await answer.text();
  if (selects()) { setTimeout(refresh, LEAST_MS); return; } // selected while the news was on its way
  const restore = readersState();
  exchange.innerHTML = text;
  restore();
  // A long stream takes longer to read: looking at it takes no more than a fifth of the gateway's time.
  if (running) setTimeout(refresh, Math.max(LEAST_MS, 4 * (performance.now() - began)));
  else { exchange.removeAttribute("data-running"); say("The exchange is over"); }
}

if (exchange && "running" in exchange.dataset) setTimeout(refresh, 200);
