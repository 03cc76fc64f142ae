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

async function refresh() {
  const answer = await fetch(`${location.pathname}/body${location.search}`);
  if (!answer.ok) return;
  const running = answer.headers.get("x-running") === "1";
  const model = document.getElementById("model");
  const typing = model && document.activeElement === model ? model.value : null;
  exchange.innerHTML = await answer.text();
  if (typing !== null) {
    const field = document.getElementById("model");
    field.value = typing;
    field.focus();
  }
  if (running) setTimeout(refresh, 300); else { exchange.removeAttribute("data-running"); say("The exchange is over"); }
}

if (exchange && "running" in exchange.dataset) setTimeout(refresh, 200);
