"use strict";
// The report's pages: figures, a page per workload, configurations. Charts are d3's and Plot's.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
root.dataset.errors = 0;
addEventListener("error", (event) => {
  root.dataset.errors = +root.dataset.errors + 1;
  root.dataset.error = String(event.message);
});

// Okabe and Ito's colours, which most colour-blind readers tell apart, and some more of theirs.
const colours = ["#7f8c9b", "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
                 "#b8a800", "#8c6bb1", "#5b8c5a", "#a0522d", "#20808d"];

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

const unique = (list) => [...new Set(list)];
const counterNames = Object.keys(data.counters || {});

// Tables: rows are lists of texts and numbers; numbers are copied in full.
const table = (columns, rows, lastIsSummary = false) => {
  const isText = columns.map((_, i) => !rows.some((row) => typeof row[i] === "number"));
  const body = rows.map((row, i) => make("tr",
    {class: lastIsSummary && i === rows.length - 1 ? "summary" : null},
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

const save = (name, type, text) => {
  const url = URL.createObjectURL(new Blob([text], {type}));
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

// --------------------------------------------------------------------------------------- charts
const rowsOf = (figure) => figure.cells.map((cell) => ({
  x: figure.x[cell.x], xi: cell.x, series: figure.series[cell.series] || figure.title,
  si: cell.series, part: figure.parts[cell.part], pi: cell.part, value: cell.value}));

const textOf = (figure, row) => [
  `${row.x}${row.series && figure.series_name ? ", " + row.series : ""}${row.part ? ", " + row.part : ""}`,
  `${number(row.value)}${figure.unit ? " " + figure.unit : ""}`].join("\n");

const seriesNames = (figure) => figure.series.map((name) => name || figure.title);

// A name has the same colour in all figures.
const colourOf = new Map();
for (const figure of data.figures)
  for (const name of figure.kind === "stacked" ? figure.parts : seriesNames(figure))
    if (!colourOf.has(name)) colourOf.set(name, colours[colourOf.size % colours.length]);
const range = (names) => names.map((name) => colourOf.get(name));

const isNumeric = (list) => list.every((text) => text !== "" && isFinite(+text));

const wide = () => Math.max(300, Math.min(1184, document.getElementById("main").clientWidth - 34));

/// The marks that carry data, marked after Plot has drawn them: bars, dots and cells.
const markData = (svg, figure, kinds, rows) => {
  const marks = kinds.flatMap((kind) => [...svg.querySelectorAll(`g[aria-label="${kind}"] > *, ` +
    `g[aria-label="${kind}"] > g > *`)].filter((mark) => mark.tagName !== "g"));
  for (const mark of marks) {
    const row = rows[mark.__data__];
    if (row === undefined) continue;
    mark.setAttribute("data-mark", "");
    mark.setAttribute("aria-label", textOf(figure, row));
  }
};

const bars = (figure) => {
  const rows = rowsOf(figure);
  const names = seriesNames(figure);
  const stacked = figure.kind === "stacked";
  const perGroup = names.length;
  // On a narrow page the chart keeps bars that can be told apart, and scrolls.
  const width = Math.max(wide(), 70 + figure.x.length * Math.max(46, perGroup * 11 + 10));
  const longest = Math.max(...figure.x.map((x) => x.length));
  const tilted = longest * 6.3 > (width - 60) / figure.x.length;
  const marks = [
    Plot.ruleY([0]),
    figure.relative ? Plot.ruleY([1], {strokeDasharray: "4 3", strokeOpacity: .6}) : null,
    Plot.axisFx({anchor: "bottom", label: null, tickRotate: tilted ? -38 : 0,
                 ...(tilted ? {textAnchor: "end", frameAnchor: "bottom", dy: 4} : {})}),
    Plot.axisY({label: null, tickSize: 0, ticks: 6}),
    Plot.gridY({strokeOpacity: .12}),
    Plot.barY(rows, {fx: "x", x: "series", y: "value",
                     fill: stacked ? "part" : "series",
                     ...(stacked ? {order: figure.parts} : {}), insetLeft: .5, insetRight: .5}),
  ];
  const published = figure.published.filter((p) => figure.x.includes(p.x) && !p.part)
    .map((p) => ({x: p.x, series: p.series || names[0], value: p.value}));
  if (published.length)
    marks.push(Plot.tickY(published, {fx: "x", x: "series", y: "value", stroke: "currentColor",
                                      strokeWidth: 2}));
  const svg = Plot.plot({width, height: 290 + (tilted ? 4.1 * longest : 0), marginBottom: tilted ? 24 + 4.1 * longest : 30, marginLeft: 48,
    marginTop: 14, marginRight: 8,
    fx: {domain: figure.x, padding: .14, label: null},
    x: {domain: names, axis: null, padding: 0},
    y: {zero: true, nice: true},
    color: {domain: stacked ? figure.parts : names, range: range(stacked ? figure.parts : names)}, marks});
  markData(svg, figure, ["bar"], rows);
  return svg;
};

const curve = (figure) => {
  const numeric = isNumeric(figure.x);
  const rows = rowsOf(figure).map((row) => ({...row, at: numeric ? +row.x : row.x}))
    .sort((a, b) => a.xi - b.xi);
  const names = seriesNames(figure);
  // Values that double from one to the next lie evenly on a logarithmic axis.
  const values = figure.x.map(Number);
  const log = numeric && values.length > 2 && values[0] > 0 &&
    values[values.length - 1] / values[0] >= 8;
  const svg = Plot.plot({width: Math.min(wide(), 760), height: 320, marginLeft: 48,
    marginBottom: 44, marginTop: 14, marginRight: 20,
    x: {label: figure.x_name, labelAnchor: "center", labelArrow: "none",
        ...(numeric ? {type: log ? "log" : "linear", ticks: values,
                       tickFormat: (d) => d.toLocaleString("en-GB")}
                    : {type: "point", domain: figure.x})},
    y: {nice: true, zero: !figure.relative, label: null},
    color: {domain: names, range: range(names)},
    marks: [Plot.gridY({strokeOpacity: .12}),
            figure.relative ? Plot.ruleY([1], {strokeDasharray: "4 3", strokeOpacity: .6}) : null,
            Plot.line(rows, {x: "at", y: "value", stroke: "series", strokeWidth: 2}),
            Plot.dot(rows, {x: "at", y: "value", fill: "series", r: 4.5})]});
  markData(svg, figure, ["dot"], rows);
  return svg;
};

const heat = (figure) => {
  const rows = rowsOf(figure);
  const names = seriesNames(figure);
  const values = rows.map((row) => row.value);
  const middle = (Math.min(...values) + Math.max(...values)) / 2;
  const svg = Plot.plot({width: Math.max(Math.min(wide(), 760), 120 + 56 * figure.x.length),
    height: 70 + 44 * names.length,
    marginLeft: 24 + 6.2 * Math.max(...names.map((name) => name.length)), marginBottom: 44, marginTop: 10,
    x: {domain: figure.x, label: figure.x_name, labelAnchor: "center", labelArrow: "none",
        tickSize: 0},
    y: {domain: names, label: null, tickSize: 0},
    color: {scheme: "blues", domain: d3.extent(values)},
    marks: [Plot.cell(rows, {x: "x", y: "series", fill: "value", inset: 1}),
            Plot.text(rows, {x: "x", y: "series", text: (row) => number(row.value),
                             fill: (row) => row.value > middle ? "white" : "black",
                             pointerEvents: "none"})]});
  markData(svg, figure, ["cell"], rows);
  return svg;
};

const legend = (figure) => {
  if (figure.kind === "heat") return "";
  const names = figure.kind === "stacked" ? figure.parts : seriesNames(figure);
  if (names.length < 2) return "";
  return make("div", {class: "legend"}, names.map((name) => make("span", {},
    make("i", {style: `background:${colourOf.get(name)}`}), name)));
};

/// A figure as a file by itself: with its title, legend and colours, on white.
const svgText = (figure, svg) => {
  const copy = svg.cloneNode(true);
  const names = figure.kind === "heat" ? []
    : figure.kind === "stacked" ? figure.parts : seriesNames(figure);
  const width = +svg.getAttribute("width"), height = +svg.getAttribute("height");
  const space = "http://www.w3.org/2000/svg";
  const top = 24 + (names.length > 1 ? 20 : 0);
  const outer = document.createElementNS(space, "svg");
  outer.setAttribute("xmlns", space);
  outer.setAttribute("viewBox", `0 0 ${width} ${height + top}`);
  outer.setAttribute("width", width);
  outer.setAttribute("height", height + top);
  outer.setAttribute("style", "background:white;color:black;font-family:sans-serif;font-size:11px");
  const text = (x, y, what, size) => {
    const element = document.createElementNS(space, "text");
    for (const [k, v] of Object.entries({x, y, "font-size": size, fill: "black"}))
      element.setAttribute(k, v);
    element.textContent = what;
    outer.append(element);
  };
  text(8, 16, figure.title + (figure.unit ? ` [${figure.unit}]` : ""), 13);
  let x = 8;
  if (names.length > 1) names.forEach((name) => {
    const box = document.createElementNS(space, "rect");
    for (const [k, v] of Object.entries({x, y: 26, width: 10, height: 10, fill: colourOf.get(name)}))
      box.setAttribute(k, v);
    outer.append(box);
    text(x + 14, 35, name, 11);
    x += 26 + 6.4 * name.length;
  });
  copy.setAttribute("y", top);
  outer.append(copy);
  return new XMLSerializer().serializeToString(outer);
};

/// A figure's numbers: a row per x, a column per series, of stacked ones a row per x and series.
const figureTable = (figure) => {
  const at = new Map(figure.cells.map((c) => [`${c.x} ${c.series} ${c.part}`, c.value]));
  const value = (x, s, p) => at.get(`${x} ${s} ${p}`) ?? "-";
  const stacked = figure.kind === "stacked";
  // A row of a stacked figure is one series; of others it has them all.
  const published = figure.published.length
    ? (x, s) => figure.published.filter((p) =>
        p.x === x && (!stacked || !p.series || p.series === s)) : null;
  const columns = stacked ? [figure.x_name, figure.series_name, ...figure.parts, "all"]
    : [figure.x_name, ...figure.series.map((name) => name || figure.unit || "value")];
  const rows = [];
  figure.x.forEach((x, xi) => {
    if (!stacked) return rows.push([x, ...figure.series.map((_, si) => value(xi, si, 0))]);
    figure.series.forEach((s, si) => {
      const parts = figure.parts.map((_, pi) => value(xi, si, pi));
      if (parts.some((part) => part !== "-"))
        rows.push([x, s, ...parts, parts.reduce((a, b) => a + (b === "-" ? 0 : b), 0)]);
    });
  });
  if (published) {
    columns.push("published");
    for (const row of rows) {
      row.push(published(row[0], row[1]).map((p) =>
        `${p.part || p.series} ${number(p.value)} (${p.source})`.trim()).join("; ") || "-");
    }
  }
  return {columns, rows};
};

const draws = {bars, stacked: bars, curve, heat};

const draw = (figure) => {
  const section = make("section", {class: "figure", id: `figure-${figure.name}`,
                                   "data-figure": figure.name});
  section.append(make("h2", {}, figure.title,
    figure.unit ? make("span", {class: "quiet"}, ` [${figure.unit}]`) : ""));
  if (figure.about) section.append(make("p", {class: "quiet"}, figure.about));
  if (figure.kind === "heat")
    section.append(make("p", {class: "quiet"}, `Down: ${figure.series_name}.`));
  if (figure.kind === "stacked" && figure.series.some(Boolean))
    section.append(make("p", {class: "quiet"}, "Bars of a group, from the left: " +
                        figure.series.join(", ") + "."));
  if (!figure.cells.length) {
    section.append(make("p", {class: "bad"}, "There are no results for this figure yet."));
  } else {
    const svg = draws[figure.kind](figure);
    makeMarksSpeak(svg, figure);
    const {columns, rows} = figureTable(figure);
    section.append(legend(figure), make("div", {class: "chart"}, svg),
      make("div", {class: "tools"},
        make("button", {type: "button", onclick: () =>
          save(`${data.name}-${figure.name}.svg`, "image/svg+xml", svgText(figure, svg))}, "save SVG"),
        make("button", {type: "button", onclick: () =>
          save(`${data.name}-${figure.name}.tsv`, "text/tab-separated-values", tsv(columns, rows))},
          "save data"),
        copyButton("copy table", () => tsv(columns, rows))),
      make("details", {}, make("summary", {}, "Numbers"),
        table(columns, rows, figure.has_summary && figure.kind !== "stacked")));
  }
  if (figure.notes.length)
    section.append(make("details", {}, make("summary", {}, `Notes (${figure.notes.length})`),
      make("ul", {class: "quiet"}, figure.notes.map((note) => make("li", {}, note)))));
  return section;
};

// ---------------------------------------------------------------------------------------- pages
const changesText = (point) => Object.entries(point.changes || {})
  .map(([key, value]) => `${key} = ${value}`).join(", ");

const workloads = unique(data.points.map((point) => point.workload));

/// Runs whose launches were not simulated all in one go: how that approximates (docs/launches.md).
const approximatedPoints = data.points.filter((point) => point.launches && point.launches.approximated.length);

const figuresPage = () => [
  ...(approximatedPoints.length
    ? [make("p", {class: "quiet"}, `${approximatedPoints.length} of ${data.points.length} runs are approximated: ` +
        `${approximatedPoints[0].launches.approximated.join("; ")}.`)] : []),
  ...(data.studies.some((study) => study.complete < study.points)
    ? [make("p", {class: "bad"}, "Not all runs are there: " + data.studies
        .filter((study) => study.complete < study.points)
        .map((study) => `${study.name} has ${study.complete} of ${study.points}` +
             (study.failed ? `, ${study.failed} failed` : "")).join("; ") + ".")] : []),
  ...data.figures.map(draw)];

/// The figures as texts of files: `nearwarp experiment --figures` takes them from here.
const filesPage = () => data.figures.filter((figure) => figure.cells.length).map((figure) =>
  make("pre", {"data-file": figure.name}, svgText(figure, draws[figure.kind](figure))));

const runText = (point) => [point.machine, point.policy, changesText(point)].filter(Boolean).join(", ");

/// What cycles of the SMs of a class were spent on, as a figure: a bar for each run.
const cyclesFigure = (points, sms) => {
  const runs = points.map((point) => [point, (point.sm_cycles || []).find((c) => c.sms === sms)])
    .filter(([, cycles]) => cycles && cycles.cycles);
  const parts = unique(runs.flatMap(([, cycles]) =>
    Object.keys(cycles.uses).filter((use) => cycles.uses[use])));
  for (const use of parts)
    if (!colourOf.has(use)) colourOf.set(use, colours[colourOf.size % colours.length]);
  const machines = unique(points.map((point) => point.machine));
  return {name: `cycles-${sms}`, title: `Cycles of ${sms === "sm" ? "SMs" : sms.replace("_", " ") + "s"}`,
    about: "What they were spent on; docs/json.md says what each name is.", kind: "stacked", unit: "%",
    relative: false, x_name: "run", series_name: "", series: [""], parts, published: [], notes: [],
    x: runs.map(([point]) => machines.length > 1 ? runText(point)
      : [point.policy, changesText(point)].filter(Boolean).join(", ")),
    cells: runs.flatMap(([, cycles], x) => parts.map((use, part) =>
      ({x, series: 0, part, value: 100 * cycles.uses[use] / cycles.cycles})))};
};

/// Wires between routers on a grid, one way beside the other, by how busy they were.
const mesh = (network) => {
  const step = 46, room = 20, space = "http://www.w3.org/2000/svg";
  const element = (name, attributes) => {
    const e = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    return e;
  };
  const width = 2 * room + step * (network.width - 1) + 20;
  const height = 2 * room + step * (network.height - 1) + 20;
  const svg = element("svg", {width, height, viewBox: `0 0 ${width} ${height}`});
  const place = (router) => [room + 10 + step * (router % network.width),
                             room + 10 + step * Math.floor(router / network.width)];
  const shares = network.flits.map((flits) => flits / Math.max(1, network.cycles));
  const most = Math.max(...shares, 1e-9);
  network.from.forEach((from, i) => {
    const [x1, y1] = place(from), [x2, y2] = place(network.to[i]);
    // To the right of its direction, from one router's edge to the other's.
    const dx = Math.sign(x2 - x1), dy = Math.sign(y2 - y1);
    const wire = element("line", {x1: x1 + 11 * dx - 4 * dy, y1: y1 + 11 * dy + 4 * dx,
      x2: x2 - 11 * dx - 4 * dy, y2: y2 - 11 * dy + 4 * dx, "stroke-width": 6,
      stroke: d3.interpolateYlOrRd(.12 + .88 * shares[i] / most), "data-mark": "",
      "aria-label": `router ${from} to ${network.to[i]}\n${number(100 * shares[i])} % of cycles, ` +
        `${number(network.flits[i])} flits`});
    svg.append(wire);
  });
  for (let router = 0; router < network.routers; ++router) {
    const [x, y] = place(router);
    svg.append(element("rect", {x: x - 10, y: y - 10, width: 20, height: 20, rx: 3,
      fill: "none", stroke: "currentColor", "stroke-opacity": .5}));
    const text = element("text", {x, y: y + 3.5, "text-anchor": "middle", fill: "currentColor",
                                  "font-size": 9});
    text.textContent = router;
    svg.append(text);
  }
  makeMarksSpeak(svg, {title: network.name});
  return [make("h4", {}, `Wires of ${network.name}`), make("p", {class: "quiet"},
    `A wire carries a flit per cycle; dark: ${number(100 * most)} % of cycles, the most.`),
    make("div", {class: "chart"}, svg)];
};

const whereTimeWent = (point) => {
  const parts = [];
  if (point.bound) parts.push(make("p", {}, `Bound by ${point.bound}.`));
  if (point.utilisation && point.utilisation.length) parts.push(make("h4", {}, "How busy everything was"), table(
    ["what", "number", "busy [%]", "most [%]", "busiest"], point.utilisation.map((u) =>
      [u.text, u.components, 100 * u.mean, 100 * u.most, u.busiest])));
  for (const network of point.networks || []) if (network.width) parts.push(...mesh(network));
  return parts;
};

/// What became of the instances of a candidate block.
const candidateRows = (point) => (point.candidates || []).map((c) => [
  c.kernel, c.source_lines, c.instances, c.offloaded, c.refused_condition, c.refused_busy,
  c.refused_pending, c.no_memory_access, c.learning,
  c.local_lines + c.remote_lines ? 100 * c.local_lines / (c.local_lines + c.remote_lines) : "-",
  c.kept ? c.kept_cycles / c.kept : "-", c.returned ? c.offloaded_cycles / c.returned : "-"]);

const decisions = (point) => {
  const parts = [];
  const rows = candidateRows(point);
  if (rows.length) parts.push(make("h4", {}, "Candidate blocks"), table(
    ["kernel", "lines", "instances", "offloaded", "kept: condition", "kept: busy", "kept: full",
     "no access", "while learning", "lines local [%]", "at home [cycles]", "offloaded [cycles]"],
    rows));
  if (point.mapping) {
    const m = point.mapping;
    parts.push(make("h4", {}, "Data mapping"), make("p", {},
      (m.applied ? `Bits ${m.bits[0]}:${m.bits[1]} choose the stack, `
                 : "No mapping was applied, ") +
      `${m.source === "learnt" ? "learnt from" : "known from"} ${number(m.instances.seen)} of ` +
      `${number(m.instances.total)} instances${m.instances.few ? ", which is luck" : ""}` +
      (m.resume_cycle ? `; the program goes on in cycle ${number(m.resume_cycle)}.` : ".")));
    if (m.ranges.length) parts.push(table(["allocation", "bytes", "mapping"],
      m.ranges.map((r) => [r.name || "-", r.bytes, r.remapped ? "the chosen one" : "baseline"])));
  }
  if (point.placement) parts.push(make("h4", {}, "Objects"), table(
    ["object", "bytes", "pages", "B [bytes]", "from", "accesses", "local if placed [%]"],
    point.placement.map((o) => [o.name || "-", o.bytes, o.pages === "cgp" ? "in stacks" : "spread",
      o.block_bytes, o.block_bytes ? (o.from_code ? "code" : "traces") : "-", o.accesses,
      o.accesses ? 100 * o.local / o.accesses : "-"])));
  if (point.kernel_totals) parts.push(make("h4", {}, "Kernels"), table(
    ["kernel", "launches", "cycles", "warp-instructions", "IPC", "registers"],
    point.kernel_totals.map((k) => [k.kernel, k.launches, k.cycles, k.warp_instructions, k.ipc,
                                    k.registers])));
  return parts;
};

/// Made when it is opened first.
const opened = (title, content) => {
  const details = make("details", {}, make("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(...content());
  });
  return details;
};

const workloadPage = (name) => {
  const points = data.points.filter((point) => point.workload === name);
  const good = points.filter((point) => point.quantities);
  const shown = ["cycles", "ipc", "offloaded", "tx", "rx", "cross", "energy"]
    .filter((q) => data.quantities[q]);
  const columns = ["study", "machine", "policy", "changes", "status",
    ...shown.map((q) => q + (data.quantities[q].unit ? ` [${data.quantities[q].unit}]` : ""))];
  const rows = points.map((point) => [point.study, point.machine, point.policy,
    changesText(point) || "-", point.error || point.status,
    ...shown.map((q) => point.quantities ? point.quantities[q] : "-")]);
  const filter = make("input", {type: "search", placeholder: "e.g. l2.", "aria-label":
    "Part of counters' names", size: 18});
  const place = make("div");
  const main = good.filter((point) => point.study === (good[0] || {}).study);
  const fill = () => {
    const names = counterNames.filter((counter) => filter.value && counter.includes(filter.value));
    place.replaceChildren(names.length ? table(["counter", "unit",
      ...main.map((point) => [point.policy, changesText(point)].filter(Boolean).join(", "))],
      names.slice(0, 300).map((counter) => {
        const at = counterNames.indexOf(counter);
        const cell = make("span", {title: data.counters[counter].meaning}, counter);
        return [cell, data.counters[counter].unit, ...main.map((point) => point.counters[at] ?? "-")];
      })) : make("p", {class: "quiet"}, filter.value ? "No counter has that in its name." : ""));
  };
  filter.addEventListener("input", fill);
  return [make("h2", {}, `${name}, size ${data.size}`), table(columns, rows),
    make("div", {class: "tools"}, copyButton("copy table", () => tsv(columns, rows))),
    make("h3", {}, "Where the time went"),
    ...unique(main.flatMap((point) => (point.sm_cycles || []).map((c) => c.sms)))
      .map((sms) => draw(cyclesFigure(main, sms))),
    ...good.filter((point) => point.bound).map((point) => opened(runText(point),
      () => whereTimeWent(point))),
    make("h3", {}, "Decisions"),
    make("p", {class: "quiet"}, "What was offloaded or placed, and why not; open a run."),
    ...good.map((point) => opened(runText(point), () => decisions(point))),
    make("h3", {}, "Counters"),
    make("p", {}, make("label", {}, "Counters with ", filter, " in their names, of study " +
      ((main[0] || {}).study || "-"))), place];
};

const workloadsPage = () => [make("h2", {}, "Workloads"), table(
  ["workload", "runs", "complete", "failed"],
  workloads.map((name) => {
    const points = data.points.filter((point) => point.workload === name);
    return [make("a", {href: `#workload/${encodeURIComponent(name)}`}, name), points.length,
            points.filter((point) => point.status === "complete").length,
            points.filter((point) => point.status === "failed").length];
  }))];

const configurationPage = () => {
  const parts = [make("h2", {}, "Configuration"), make("p", {},
    `nearwarp ${data.nearwarp_version}, size ${data.size}. A configuration is named by a hash of ` +
    "all keys of machine, energy file and policy.")];
  const configurations = new Map();
  for (const point of data.points)
    if (point.configuration && !configurations.has(point.configuration))
      configurations.set(point.configuration, point);
  parts.push(make("h3", {}, "Configurations, and what they change of their files"),
    table(["configuration", "machine", "policy", "changes"], [...configurations].map(([hash, p]) =>
      [hash, p.machine, p.policy, changesText(p) || "none"])));
  const policies = Object.entries(data.policies);
  if (policies.length) {
    const keys = Object.keys(policies[0][1]).filter((key) =>
      key !== "policy.description" &&
      unique(policies.map(([, values]) => values[key]?.value)).length > 1);
    parts.push(make("h3", {}, "Policies: keys in which they differ"),
      table(["key", ...policies.map(([name]) => name)], keys.map((key) =>
        [make("span", {title: policies[0][1][key].meaning}, key),
         ...policies.map(([, values]) => values[key]?.value ?? "-")])));
  }
  const machines = Object.entries(data.machines);
  if (machines.length > 1) {
    const keys = unique(machines.flatMap(([, values]) => Object.keys(values))).filter((key) =>
      unique(machines.map(([, values]) => values[key]?.value)).length > 1);
    parts.push(make("details", {}, make("summary", {},
      `Machines: ${keys.length} keys in which they differ`),
      table(["key", ...machines.map(([name]) => name)], keys.map((key) =>
        [key, ...machines.map(([, values]) => values[key]?.value ?? "-")]))));
  }
  for (const [name, values] of machines)
    parts.push(make("h3", {}, `Machine ${name}`),
      make("p", {}, data.machine_descriptions[name] || ""),
      make("details", {}, make("summary", {}, "All keys"),
      table(["key", "value", "unit", "meaning"], Object.entries(values).map(([key, k]) =>
        [key, k.value, k.unit || "-", k.meaning]))));
  parts.push(make("h3", {}, "Studies"), table(["study", "points", "complete", "failed", "about"],
    data.studies.map((s) => [s.name, s.points, s.complete, s.failed, s.about || "-"])));
  return parts;
};

// ----------------------------------------------------------------------------------- navigation
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
    `size ${data.size} · nearwarp ${data.nearwarp_version} · ` +
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
let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => { if (root.dataset.page === "figures") show(); }, 150);
});
show();
root.dataset.ready = "yes";
})();
