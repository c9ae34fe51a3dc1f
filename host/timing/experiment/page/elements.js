// Pages are made of these: data, elements, tables, texts to copy and to save, tooltips.

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
root.dataset.errors = 0;
addEventListener("error", (event) => {
  root.dataset.errors = +root.dataset.errors + 1;
  root.dataset.error = String(event.message);
});

// Okabe and Ito's colours, which most colour-blind readers tell apart, and some more of theirs.
const colours = ["#7f8c9b", "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
                 "#b8a800", "#8c6bb1", "#a0522d", "#20808d", "#332288", "#8fbf6b", "#882255",
                 "#f2b6a0", "#4d4d4d"];
// Nothing, and the run that all is compared with, look like this everywhere.
const fixedColours = {baseline: colours[0], "no warp": "#d5dae0"};

const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== ""));
  return element;
};

const number = (value) => {
  if (value == null || !isFinite(value)) return "-";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-GB");
  if (Number.isInteger(value)) return String(value);
  return size >= 100 ? value.toFixed(1) : size >= 10 ? value.toFixed(2) : value.toFixed(3);
};

/// A share in per cent, without more digits than anybody reads.
const percent = (share) => (100 * share).toFixed(Math.abs(share) < .1 ? 1 : 0);

const unique = (list) => [...new Set(list)];
const counterNames = Object.keys(data.counters || {});

// Tables: rows are lists of texts and numbers; numbers are copied in full.
const table = (columns, rows, firstIsSummary = false) => {
  const isNumber = (cell) => typeof cell === "number" || /^[+-][\d,]+$/.test(cell);
  const isText = columns.map((_, i) => !rows.some((row) => isNumber(row[i])));
  const body = rows.map((row, i) => make("tr",
    {class: firstIsSummary && i === 0 ? "summary" : null},
    row.map((cell, column) => typeof cell === "number" ? make("td", {title: cell}, number(cell))
      : make("td", {class: isText[column] ? "text" : null}, cell ?? "-"))));
  const head = columns.map((column, i) =>
    make("th", {scope: "col", class: isText[i] ? "text" : null}, column));
  return make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "table"},
    make("table", {}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, body)));
};

const tsv = (columns, rows) => [columns, ...rows]
  .map((row) => row.map((cell) => cell instanceof Node ? cell.textContent : cell ?? "").join("\t"))
  .join("\n");

const copyButton = (label, text) => make("button", {type: "button", onclick: async (event) => {
  const button = event.currentTarget;
  try {
    await navigator.clipboard.writeText(text());
  } catch {
    // A page opened from disk may have no clipboard: select a text to copy.
    const area = make("textarea", {readonly: true}, text());
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "copied";
  setTimeout(() => { button.textContent = label; }, 1200);
}}, label);

const save = (name, type, content) => {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
  const link = make("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};

// ------------------------------------------------------------------------------------- tooltips
const tip = make("div", {id: "tip", hidden: true, role: "status"});
document.body.append(tip);
const showTip = (text, x, y) => {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - box.width - 4)) + "px";
  tip.style.top = Math.max(4, y - box.height - 10) + "px";
};
const hideTip = () => { tip.hidden = true; };

/// Marks tell their values to the pointer and to the keyboard: one is in the order of Tab, arrow
/// keys move among them.
const makeMarksSpeak = (svg, figure) => {
  const marks = [...svg.querySelectorAll("[data-mark]")];
  marks.forEach((mark, i) => {
    const text = mark.getAttribute("aria-label");
    mark.setAttribute("tabindex", i === 0 ? 0 : -1);
    mark.setAttribute("role", "img");
    mark.addEventListener("pointermove", (event) => showTip(text, event.clientX, event.clientY));
    mark.addEventListener("pointerleave", hideTip);
    mark.addEventListener("focus", () => {
      const box = mark.getBoundingClientRect();
      showTip(text, box.x + box.width / 2, box.y);
    });
    mark.addEventListener("blur", hideTip);
    mark.addEventListener("keydown", (event) => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (event.key === "Escape") hideTip();
      if (step === undefined) return;
      event.preventDefault();
      const next = marks[(i + step + marks.length) % marks.length];
      mark.setAttribute("tabindex", -1);
      next.setAttribute("tabindex", 0);
      next.focus();
    });
  });
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", figure.title);
  svg.dataset.marks = marks.length;
};
