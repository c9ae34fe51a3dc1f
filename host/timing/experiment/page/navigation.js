// From one page to another, colours, and paper.

const pages = {figures: ["Figures", figuresPage], workloads: ["Workloads", workloadsPage],
               configuration: ["Configuration", configurationPage]};

const show = () => {
  hideTip();
  const [page, argument] = (location.hash.slice(1) || "figures").split("/").map(decodeURIComponent);
  const main = document.getElementById("main");
  const known = page === "workload" && workloads.includes(argument) ? "workload"
    : pages[page] ? page : "figures";
  main.replaceChildren();
  if (page === "files") return main.append(...filesPage());
  main.append(...(known === "workload" ? workloadPage(argument) : pages[known][1]()));
  for (const link of document.querySelectorAll("nav a"))
    link.toggleAttribute("aria-current", link.hash === "#" + (known === "workload" ? "workloads" : known));
  if (page.startsWith("figure-")) document.getElementById(page)?.scrollIntoView();
  root.dataset.page = known;
};

const setTheme = (theme) => {
  if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
};

const asked = new URLSearchParams(location.search).get("theme");
document.getElementById("head").append(
  make("h1", {}, data.title),
  make("p", {}, data.description),
  make("p", {class: "quiet"}, data.source ? data.source + " · " : "",
    `${data.points.some((point) => point.size) ? `size ${data.size} · ` : ""}nearwarp ${data.nearwarp_version} · ` +
    `${data.points.filter((point) => point.status === "complete").length} runs`));
document.getElementById("nav").append(
  ...Object.entries(pages).map(([name, [title]]) => make("a", {href: "#" + name}, title)),
  make("select", {"aria-label": "Go to a workload", onchange: (event) => {
    if (event.target.value) location.hash = "workload/" + encodeURIComponent(event.target.value);
    event.target.value = "";
  }}, make("option", {value: ""}, "workload ..."),
    workloads.map((name) => make("option", {}, name))),
  make("span", {class: "space"}),
  make("select", {"aria-label": "Colours", onchange: (event) => setTheme(event.target.value)},
    ["auto", "light", "dark"].map((theme) => make("option", {selected: theme === asked}, theme))));
if (asked) setTheme(asked);
addEventListener("hashchange", show);
// On paper all is seen: figures and tables no wider than the page, and what is folded on the screen.
const unfolded = [], paperPixels = 700, tablePoints = 6.5;
/// Words are not divided: a table whose words side by side are wider has smaller type.
const fitTables = () => {
  for (const table of document.querySelectorAll("main table")) {
    table.style.width = "1px";
    const width = table.offsetWidth;
    table.style.width = "";
    table.style.fontSize = width > paperPixels ? `${tablePoints * paperPixels / width}pt` : "";
  }
};
const toPaper = () => {
  drawing = {width: paperWidth, type: 9, fit: true, capped: true};
  root.dataset.paper = "yes";
  show();
  for (const details of document.querySelectorAll("main details:not([open])")) {
    details.open = true;
    details.fill?.();
    unfolded.push(details);
  }
  fitTables();
};
const fromPaper = () => {
  drawing = {width: null, type: 11, fit: false, capped: false};
  delete root.dataset.paper;
  for (const details of unfolded.splice(0)) details.open = false;
  show();
};
addEventListener("beforeprint", toPaper);
addEventListener("afterprint", fromPaper);
let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => { if (root.dataset.page === "figures" && !root.dataset.paper) show(); }, 150);
});
show();
if (new URLSearchParams(location.search).has("paper")) toPaper();  // to look at it
root.dataset.ready = "yes";
