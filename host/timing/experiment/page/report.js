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
                 "#b8a800", "#8c6bb1", "#a0522d", "#20808d", "#332288", "#8fbf6b", "#882255",
                 "#f2b6a0", "#4d4d4d"];
// What is nothing, or what all is compared with, looks like that everywhere.
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

/// Of a share, without more digits than anybody reads.
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

// --------------------------------------------------------------------------------------- charts
const rowsOf = (figure) => figure.cells.map((cell) => ({
  x: figure.x[cell.x], xi: cell.x, series: figure.series[cell.series] || figure.title,
  si: cell.series, part: figure.parts[cell.part], pi: cell.part, value: cell.value}));

const textOf = (figure, row) => [
  `${row.x}${row.series && figure.series_name ? ", " + row.series : ""}${row.part ? ", " + row.part : ""}`,
  `${number(row.value)}${figure.unit ? " " + figure.unit : ""}`].join("\n");

const seriesNames = (figure) => figure.series.map((name) => name || figure.title);

/// What cycles of SMs are spent on, by the names that counters have and that figures have.
const useLabels = {issued: "issue", lsu: "load-store unit full", misses: "misses full",
  network: "network full", ports: "ports busy", memory: "memory", dependency: "results",
  barrier: "barriers", fetch: "instructions", offload: "offloaded work", mechanism: "mechanism",
  no_warp: "no warp"};

/// What a figure tells apart by colours.
const colouredNames = (figure) => figure.kind === "heat" ? []
  : figure.kind === "stacked" ? figure.parts : seriesNames(figure);

// A meaning has one colour on all pages, and in a figure no two have the same: names that stand in
// a figure together are neighbours, and a name takes a colour that none of its neighbours has,
// those first that the fewest others have. The baseline is grey everywhere.
const colourOf = new Map();
(() => {
  const groups = [...data.figures.map(colouredNames), Object.values(useLabels)];
  const neighbours = new Map();
  for (const group of groups)
    for (const name of group) {
      if (!neighbours.has(name)) neighbours.set(name, new Set());
      for (const other of group) if (other !== name) neighbours.get(name).add(other);
    }
  const most = Math.max(colours.length, ...groups.map((group) => new Set(group).size));
  const palette = [...colours];
  for (let i = palette.length; i <= most; ++i)
    palette.push(d3.hcl((i * 137.5) % 360, 45, 35 + 40 * ((i % 3) / 2)).formatHex());
  const used = new Array(palette.length).fill(0);
  for (const [name, colour] of Object.entries(fixedColours)) colourOf.set(name, colour);
  const names = [...neighbours.keys()].filter((name) => !colourOf.has(name));
  for (const name of names) {
    const taken = new Set([...neighbours.get(name)].map((other) => colourOf.get(other)));
    let best = -1;
    for (let i = 1; i < palette.length; ++i)
      if (!taken.has(palette[i]) && (best < 0 || used[i] < used[best])) best = i;
    if (best < 0) {
      palette.push(d3.hcl((palette.length * 137.5) % 360, 50, 60).formatHex());
      used.push(0);
      best = palette.length - 1;
    }
    used[best] += 1;
    colourOf.set(name, palette[best]);
  }
})();
const range = (names) => names.map((name) => colourOf.get(name));

const isNumeric = (list) => list.every((text) => text !== "" && isFinite(+text));

// How figures are drawn: on the page as wide as that is, on paper as wide as A4 has room, in files
// as wide as asked. Sizes of type are in pixels.
const paperWidth = 660;
let drawing = {width: null, type: 11, fit: false, capped: false};
const wide = () => drawing.width ?? Math.max(300, Math.min(1184,
  document.getElementById("main").clientWidth - 34));
const drawnAs = (how, what) => {
  const before = drawing;
  drawing = {...before, ...how};
  try { return what(); } finally { drawing = before; }
};
// Files may be shown in another font than this page's.
const ruler = document.createElement("canvas").getContext("2d");
const textWidth = (text) => {
  ruler.font = `${drawing.type}px sans-serif`;
  return 1.06 * ruler.measureText(text).width;
};

/// The mean over all others comes first.
const groupsOf = (figure) => figure.has_summary
  ? [figure.x[figure.x.length - 1], ...figure.x.slice(0, -1)] : figure.x;

/// A key's unit, of axes that are keys.
const unitOfKey = (name) => {
  for (const group of [data.machines, data.policies])
    for (const values of Object.values(group || {}))
      if (values[name] && values[name].unit) return values[name].unit;
  return "";
};
const axisName = (name) => unitOfKey(name) ? `${name} [${unitOfKey(name)}]` : name;

/// Figures of the same quantity have the same axis, as long as none of them becomes small by that.
const topOf = (figure) => {
  const heights = new Map();
  for (const cell of figure.cells) {
    const at = figure.kind === "stacked" ? `${cell.x} ${cell.series}` : `${cell.x} ${cell.series} ${cell.part}`;
    heights.set(at, (heights.get(at) || 0) + cell.value);
  }
  return Math.max(0, ...heights.values(), ...(figure.published || []).filter((p) => !p.part).map((p) => p.value));
};
const sharedTop = (figure) => {
  const own = topOf(figure);
  if (!figure.quantity) return own;
  const tops = data.figures.filter((other) => other.quantity === figure.quantity && other.kind === figure.kind &&
    other.cells.length).map(topOf).filter((top) => top <= 1.6 * own);
  return Math.max(own, ...tops);
};

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
  const perGroup = names.length, type = drawing.type;
  const groups = groupsOf(figure);
  const left = 3.4 * type + 12;
  // On a narrow page the chart keeps bars that can be told apart, and scrolls; on paper it fits.
  const most = 70 + groups.length * (24 + perGroup *
    (stacked ? Math.max(96, Math.max(...names.map(textWidth)) + 14) / .86 : 64));
  const width = drawing.fit ? Math.min(wide(), drawing.capped ? most : Infinity)
    : Math.max(Math.min(wide(), most), 70 + groups.length * Math.max(46, perGroup * (stacked ? 14 : 11) + 10));
  const longest = Math.max(...groups.map(textWidth));
  const room = (width - left - 10) / groups.length;
  // Names of groups lie flat, aslant or upright, as there is room.
  const tilt = longest <= room - 4 ? 0 : room >= 1.5 * type ? -38 : -90;
  const high = tilt === 0 ? type : tilt === -90 ? longest : .62 * longest + type;
  // Bars of a group say below what they are, where their colours do not.
  const named = stacked && perGroup > 1;
  const flat = Math.max(...names.map(textWidth)) <= .86 * room / perGroup - 6;
  const below = named ? (flat ? type + 4 : Math.max(...names.map(textWidth))) + 6 : high + 12;
  const above = named ? high + 16 : type + 12;
  const groupAxis = Plot.axisFx({anchor: named ? "top" : "bottom", label: null, tickRotate: tilt,
    fontSize: type, padding: 3,
    ...(tilt ? {textAnchor: named ? "start" : "end", frameAnchor: named ? "top" : "bottom",
                dy: named ? -4 : 4} : {})});
  const apart = figure.has_summary ? groups[0] : null;
  const marks = [
    Plot.ruleY([0]),
    figure.relative ? Plot.ruleY([1], {strokeDasharray: "4 3", strokeOpacity: .6}) : null,
    groupAxis,
    named ? Plot.axisX({anchor: "bottom", label: null, tickSize: 0, tickRotate: flat ? 0 : -90,
      fontSize: Math.min(type, Math.max(5, room * .86 / perGroup))}) : null,
    Plot.axisY({label: figure.unit || null, labelArrow: "none", labelAnchor: "center", labelOffset: left - 4, tickSize: 0, ticks: 6, fontSize: type}),
    Plot.gridY({strokeOpacity: .12}),
    Plot.barY(rows, {fx: "x", x: "series", y: "value",
                     fill: stacked ? "part" : "series",
                     ...(stacked ? {order: figure.parts} : {}), insetLeft: .5, insetRight: .5}),
  ];
  if (apart) marks.push(Plot.frame({fx: apart, anchor: "right", strokeOpacity: .35, insetRight: -.08 * room}));
  const published = figure.published.filter((p) => figure.x.includes(p.x) && !p.part)
    .map((p) => ({x: p.x, series: p.series || names[0], value: p.value}));
  if (published.length)
    marks.push(Plot.tickY(published, {fx: "x", x: "series", y: "value", stroke: "currentColor",
                                      strokeWidth: 2}));
  const height = (drawing.fit ? Math.min(230, .52 * width) : 250) + below + above;
  const svg = Plot.plot({width, height, marginBottom: below, marginLeft: left,
    marginTop: above, marginRight: named && tilt === -38 ? Math.max(8, .8 * longest - room / 2) : 8,
    style: {fontSize: `${type}px`, overflow: "visible"},
    fx: {domain: groups, padding: .14, label: null},
    x: {domain: names, axis: null, padding: 0, label: null},
    y: {zero: true, nice: true, domain: [Math.min(0, ...rows.map((row) => row.value)), sharedTop(figure)]},
    color: {domain: stacked ? figure.parts : names, range: range(stacked ? figure.parts : names)}, marks});
  markData(svg, figure, ["bar"], rows);
  return svg;
};

/// Ours against what has been published or measured, place by place: on the line they are equal.
const comparable = (figure) => figure.kind === "heat" ? [] : figure.published.map((p) => {
  const xi = figure.x.indexOf(p.x), si = Math.max(0, figure.series.indexOf(p.series));
  const cells = figure.cells.filter((c) => c.x === xi && c.series === si &&
    (figure.kind !== "stacked" || !p.part || figure.parts[c.part] === p.part));
  if (!cells.length || p.value <= 0) return null;
  const ours = d3.sum(cells, (c) => c.value), name = figure.series[si] || figure.title;
  return {x: p.x, series: p.part && figure.kind === "stacked" ? `${name}, ${p.part}` : name,
    colour: p.part && figure.kind === "stacked" ? p.part : name, ours, published: p.value,
    source: p.source, error: ours / p.value - 1};
}).filter(Boolean);
const meanError = (pairs) => pairs.reduce((sum, p) => sum + Math.abs(p.error), 0) / pairs.length;

/// Names beside a scatter's dots, where they hide neither each other nor dots; others are in tooltips.
const nameDots = (svg, pairs, size) => {
  const [x, y] = ["x", "y"].map((axis) => svg.scale(axis).apply);
  const dots = pairs.map((pair) => [x(pair.published), y(pair.ours)]);
  const taken = dots.map(([cx, cy]) => [cx - 4, cy - 4, cx + 4, cy + 4]);
  const right = +svg.getAttribute("width");
  pairs.forEach((pair, i) => {
    const [cx, cy] = dots[i], long = textWidth(pair.x) * size / drawing.type;
    const places = [[cx + 6, cy + size / 3], [cx - 6 - long, cy + size / 3], [cx + 4, cy - 6],
                    [cx + 4, cy + 5 + size], [cx - 4 - long, cy - 6], [cx - 4 - long, cy + 5 + size]];
    for (const [left, base] of places) {
      const box = [left, base - size, left + long, base + 2];
      const free = box[0] > 40 && box[2] < right - 2 && taken.every((other, k) => k === i ||
        box[2] < other[0] || other[2] < box[0] || box[3] < other[1] || other[3] < box[1]);
      if (!free) continue;
      taken.push(box);
      const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      for (const [key, value] of Object.entries({x: left, y: base, "font-size": size,
        "text-anchor": "start", fill: "currentColor"}))
        text.setAttribute(key, value);
      text.textContent = pair.x;
      svg.append(text);
      break;
    }
  });
};

const scatter = (figure, pairs = comparable(figure)) => {
  const type = drawing.type;
  const top = 1.06 * Math.max(...pairs.flatMap((p) => [p.ours, p.published]), figure.relative ? 1 : 0);
  const names = unique(pairs.map((p) => p.series));
  const size = Math.min(wide(), drawing.fit ? 290 : 380), left = 3.4 * type + 12;
  const svg = Plot.plot({width: size, height: size, marginLeft: left, marginBottom: 3 * type + 10,
    marginTop: type, marginRight: type + 4, style: {fontSize: `${type}px`, overflow: "visible"},
    x: {domain: [0, top], label: `${figure.against}${figure.unit ? " [" + figure.unit + "]" : ""}`,
        labelAnchor: "center", labelArrow: "none", labelOffset: 3 * type + 3, nice: true},
    y: {domain: [0, top], label: `ours${figure.unit ? " [" + figure.unit + "]" : ""}`,
        labelAnchor: "center", labelArrow: "none", labelOffset: left - 4, nice: true},
    color: {domain: names, range: names.map((name) =>
      colourOf.get(pairs.find((p) => p.series === name).colour) || "currentColor")},
    marks: [Plot.gridX({strokeOpacity: .12}), Plot.gridY({strokeOpacity: .12}),
            Plot.line([[0, 0], [top, top]], {stroke: "currentColor", strokeDasharray: "4 3"}),
            Plot.text([`mean error ${percent(meanError(pairs))} %, ${pairs.length} values`],
              {frameAnchor: "top-left", dx: 6, dy: 4, fontSize: type}),
            Plot.dot(pairs, {x: "published", y: "ours", fill: "series", r: 4})]});
  nameDots(svg, pairs.filter((pair) => pair.x), Math.max(6, type - 2));
  const marks = [...svg.querySelectorAll('g[aria-label="dot"] circle')];
  for (const mark of marks) {
    const pair = pairs[mark.__data__];
    if (!pair) continue;
    mark.setAttribute("data-mark", "");
    mark.setAttribute("aria-label", `${pair.at || pair.x}, ${pair.series}\nours ${number(pair.ours)}, ${figure.against} ` +
      `${number(pair.published)} (${pair.source}): ${percent(pair.error)} %`);
  }
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
  const type = drawing.type;
  // Room for the axis' longest number and its label.
  const most = Math.round(Math.max(...rows.map((row) => row.value ?? 0)));
  const left = Math.max(3.4 * type + 14, textWidth(most.toLocaleString("en-GB")) + type + 16);
  const svg = Plot.plot({width: Math.min(wide(), 760), height: drawing.fit ? 240 : 320, marginLeft: left,
    marginBottom: 3 * type + 12, marginTop: 14, marginRight: 20,
    style: {fontSize: `${type}px`, overflow: "visible"},
    x: {label: axisName(figure.x_name), labelAnchor: "center", labelArrow: "none", labelOffset: 3 * type + 5,
        ...(numeric ? {type: log ? "log" : "linear", ticks: values,
                       tickFormat: (d) => d.toLocaleString("en-GB")}
                    : {type: "point", domain: figure.x})},
    y: {nice: true, zero: !figure.relative, label: figure.unit || null, labelAnchor: "center",
        labelArrow: "none", labelOffset: left - 4},
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
    height: 70 + 44 * names.length, style: {fontSize: `${drawing.type}px`, overflow: "visible"},
    marginLeft: 24 + Math.max(...names.map(textWidth)), marginBottom: 44, marginTop: 10,
    x: {domain: figure.x, label: axisName(figure.x_name), labelAnchor: "center", labelArrow: "none", labelOffset: 37,
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
  const names = colouredNames(figure);
  if (names.length < 2) return "";
  return make("div", {class: "legend"}, names.map((name) => make("span", {},
    make("i", {style: `background:${colourOf.get(name)}`}), name)));
};

/// A figure as a file by itself: with its title, legend and colours, on white. The legend goes on
/// below where the line is full.
const svgText = (figure, svg, titled = true) => {
  const copy = svg.cloneNode(true);
  const names = colouredNames(figure), type = drawing.type;
  const width = +svg.getAttribute("width"), height = +svg.getAttribute("height");
  const space = "http://www.w3.org/2000/svg";
  const outer = document.createElementNS(space, "svg");
  const text = (x, y, what, size) => {
    const element = document.createElementNS(space, "text");
    for (const [k, v] of Object.entries({x, y, "font-size": size, fill: "black"}))
      element.setAttribute(k, v);
    element.textContent = what;
    outer.append(element);
  };
  let y = 4;
  if (titled) {
    // In as many lines as the width wants.
    let line = "";
    const put = () => {
      y += 1.3 * type;
      text(6, y, line, 1.15 * type);
    };
    for (const word of (figure.title + (figure.unit ? ` [${figure.unit}]` : "")).split(" ")) {
      const longer = line ? `${line} ${word}` : word;
      if (line && 1.15 * textWidth(longer) > width - 12) {
        put();
        line = word;
      } else {
        line = longer;
      }
    }
    put();
    y += .4 * type;
  }
  if (names.length > 1) {
    let x = 6;
    y += 1.1 * type;
    for (const name of names) {
      const room = 1.9 * type + textWidth(name);
      if (x > 6 && x + room > width) {
        x = 6;
        y += 1.4 * type;
      }
      const box = document.createElementNS(space, "rect");
      for (const [k, v] of Object.entries({x, y: y - .85 * type, width: .9 * type, height: .9 * type,
                                           fill: colourOf.get(name)}))
        box.setAttribute(k, v);
      outer.append(box);
      text(x + 1.25 * type, y, name, type);
      x += room;
    }
    y += .6 * type;
  }
  const top = Math.ceil(y);
  outer.setAttribute("xmlns", space);
  outer.setAttribute("viewBox", `0 0 ${width} ${height + top}`);
  outer.setAttribute("width", width);
  outer.setAttribute("height", height + top);
  outer.setAttribute("style", `background:white;color:black;font-family:sans-serif;font-size:${type}px`);
  copy.setAttribute("y", top);
  outer.append(copy);
  return new XMLSerializer().serializeToString(outer);
};

/// As wide as columns of papers are, in inches (two columns of a page of letter size).
const columnInches = {1: 3.33, 2: 7};
/// The figure as a file for so many columns of a paper, with type of so many points.
const fileText = (figure, columns, points, titled) => drawnAs(
  {width: Math.round(96 * columnInches[columns]), type: points * 96 / 72, fit: true, capped: false},
  () => svgText(figure, draws[figure.kind](figure), titled));

/// For LaTeX: letters that mean something there are escaped.
const latexText = (columns, rows) => {
  const escaped = (cell) => String(cell instanceof Node ? cell.textContent : typeof cell === "number"
    ? number(cell) : cell ?? "").replace(/\\/g, "\\textbackslash{}").replace(/[&%$#_{}]/g, "\\$&");
  const line = (row) => "  " + row.map(escaped).join(" & ") + " \\\\";
  return [`\\begin{tabular}{l${"r".repeat(columns.length - 1)}}`, "  \\hline", line(columns), "  \\hline",
    ...rows.map(line), "  \\hline", "\\end{tabular}", ""].join("\n");
};

/// What a figure says, in words, by series.
const conclusion = (figure) => {
  const names = seriesNames(figure), said = [];
  const at = (x, series) => figure.cells.find((c) => c.x === x && c.series === series)?.value;
  const many = (value) => `${number(value)}${figure.unit ? " " + figure.unit : ""}`;
  if (figure.kind === "bars" && figure.x.length > 1) {
    const last = figure.has_summary ? figure.x.length - 1 : -1;
    const shown = names.map((name, i) => [name, i]).filter(([, i]) =>
      !(figure.relative && figure.cells.filter((c) => c.series === i).every((c) => c.value === 1)));
    for (const [name, series] of shown.slice(0, 4)) {
      const values = figure.x.map((x, xi) => [x, at(xi, series)])
        .filter(([, value], xi) => value !== undefined && xi !== last);
      if (values.length < 2) continue;
      const most = d3.greatest(values, (v) => v[1]), least = d3.least(values, (v) => v[1]);
      const mean = last >= 0 ? at(last, series) : undefined;
      const paper = last >= 0 ? figure.published.find((p) => p.x === figure.x[last] &&
        (p.series || "") === (figure.series[series] || "")) : undefined;
      said.push((shown.length > 1 || names.length > 1 ? name + ": " : "") +
        (mean !== undefined ? `${many(mean)} in the ${figure.x[last]}` +
          (paper ? ` (${figure.against}: ${number(paper.value)})` : "") + ", " : "") +
        `${number(most[1])} at most (${most[0]}), ${number(least[1])} at least (${least[0]})`);
    }
    if (shown.length > 4) said.push(`${shown.length - 4} more in the figure`);
  }
  if (figure.kind === "bars" && figure.x.length === 1 && names.length > 1) {
    const values = names.map((name, series) => [name, at(0, series)]).filter(([name, v]) => v !== undefined &&
      !(figure.relative && name === "baseline"));
    if (figure.relative) for (const [name, value] of values.slice(0, 4)) said.push(`${name}: ${value.toFixed(3)} ${figure.unit}`);
    const most = d3.greatest(values, (v) => v[1]), least = d3.least(values, (v) => v[1]);
    if (!figure.relative && most && most[1] !== least[1]) said.push(`${most[0]} has most, ${many(most[1])}; ${least[0]} least, ${many(least[1])}`);
  }
  if (figure.kind === "stacked") {
    names.slice(0, 4).forEach((name, series) => {
      const sums = figure.parts.map((part, pi) => [part, d3.sum(figure.cells
        .filter((c) => c.part === pi && c.series === series &&
                       !(figure.has_summary && c.x === figure.x.length - 1)), (c) => c.value)]);
      const all = d3.sum(sums, (s) => s[1]);
      const most = d3.greatest(sums, (s) => s[1]);
      if (all > 0 && most) said.push((names.length > 1 ? name + ": " : "") +
        `most is ${most[0]}, ${percent(most[1] / all)} % of all`);
    });
  }
  if (figure.kind === "curve") names.slice(0, 6).forEach((name, series) => {
    const values = figure.x.map((x, xi) => [x, at(xi, series)]).filter(([, v]) => v !== undefined);
    if (values.length < 2) return;
    const [first, end] = [values[0], values[values.length - 1]];
    said.push((names.length > 1 ? name + ": " : "") + `from ${many(first[1])} at ${first[0]} to ` +
      `${many(end[1])} at ${end[0]} (${end[1] >= first[1] ? "+" : ""}${percent(end[1] / first[1] - 1)} %)`);
  });
  const pairs = comparable(figure);
  if (pairs.length > 1) said.push(`against ${pairs.length} ${figure.against} values, the mean error is ` +
    `${percent(meanError(pairs))} %`);
  return said;
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
  groupsOf(figure).forEach((x) => {
    const xi = figure.x.lastIndexOf(x);
    if (!stacked) return rows.push([x, ...figure.series.map((_, si) => value(xi, si, 0))]);
    figure.series.forEach((s, si) => {
      const parts = figure.parts.map((_, pi) => value(xi, si, pi));
      if (parts.some((part) => part !== "-"))
        rows.push([x, s, ...parts, parts.reduce((a, b) => a + (b === "-" ? 0 : b), 0)]);
    });
  });
  if (published) {
    columns.push(figure.against);
    for (const row of rows) {
      row.push(published(row[0], row[1]).map((p) =>
        `${p.part || p.series} ${number(p.value)} (${p.source})`.trim()).join("; ") || "-");
    }
  }
  return {columns, rows};
};

const draws = {bars, stacked: bars, curve, heat};

/// Files of a figure, for so many columns of a paper.
const savingTools = (figure, columns, rows) => {
  const width = make("select", {"aria-label": "Width of files"},
    make("option", {value: 1}, "1 column"), make("option", {value: 2, selected: true}, "2 columns"));
  const type = make("select", {"aria-label": "Size of type in files"},
    [6, 7, 8, 9, 10].map((points) => make("option", {value: points, selected: points === 8}, `${points} pt`)));
  const text = () => fileText(figure, +width.value, +type.value, true);
  const base = `${data.name}-${figure.name}`;
  const png = () => {
    const image = new Image(), scale = 300 / 96;
    image.onload = () => {
      const canvas = make("canvas", {width: Math.ceil(image.width * scale), height: Math.ceil(image.height * scale)});
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(base + ".png", "image/png", blob));
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text());
  };
  const button = (label, onclick) => make("button", {type: "button", onclick}, label);
  return make("div", {class: "tools"}, width, type,
    button("save SVG", () => save(base + ".svg", "image/svg+xml", text())), button("save PNG", png),
    button("save LaTeX", () => save(base + ".tex", "text/x-tex", latexText(columns, rows))),
    button("save data", () => save(base + ".tsv", "text/tab-separated-values", tsv(columns, rows))),
    copyButton("copy table", () => tsv(columns, rows)));
};

const draw = (figure) => {
  const section = make("section", {class: "figure", id: `figure-${figure.name}`,
                                   "data-figure": figure.name});
  section.append(make("h2", {}, figure.title,
    figure.unit ? make("span", {class: "quiet"}, ` [${figure.unit}]`) : ""));
  if (figure.about) section.append(make("p", {class: "quiet"}, figure.about));
  if (figure.kind === "heat")
    section.append(make("p", {class: "quiet"}, `Down: ${axisName(figure.series_name)}.`));
  if (!figure.cells.length) {
    section.append(make("p", {class: "bad"}, "There are no results for this figure yet."));
  } else {
    const svg = draws[figure.kind](figure);
    makeMarksSpeak(svg, figure);
    const {columns, rows} = figureTable(figure);
    const words = conclusion(figure);
    const together = make("div", {class: "together"}, ...section.childNodes,
      words.length ? make("ul", {class: "conclusion"}, words.map((one) => make("li", {}, one + "."))) : "",
      legend(figure), make("div", {class: "chart"}, svg));
    section.append(together, savingTools(figure, columns, rows));
    if (comparable(figure).length > 2) {
      const against = scatter(figure);
      const title = {title: `${figure.title}: ours against the ${figure.against} values`};
      makeMarksSpeak(against, title);
      section.append(make("div", {class: "together"}, make("h3", {}, `Against the ${figure.against} values`),
        make("p", {class: "quiet"}, "On the dashed line they are equal."),
        make("div", {class: "chart", "data-scatter": figure.name}, against)));
    }
    section.append(make("details", {}, make("summary", {}, "Numbers"),
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

/// The point that a point is compared with: under the first policy of its study. Another study may
/// have it, too.
const pointsById = new Map(data.points.map((point) => [point.id, point]));
const referenceOf = (point) => pointsById.get(point.reference);
const speedupOf = (point) => {
  const reference = referenceOf(point);
  return point.quantities && reference && reference.quantities
    ? reference.quantities.cycles / point.quantities.cycles : "-";
};

/// Runs whose launches were not simulated all in one go: how that approximates (docs/launches.md).
const approximatedPoints = data.points.filter((point) => point.launches && point.launches.approximated.length);

const wholePoints = data.points.filter((point) => point.launches && point.launches.in_one_go);

/// All published values beside ours, and how far these are off, where several figures have some.
const publishedSection = () => {
  const pairs = data.figures.flatMap((figure) => comparable(figure).map((pair) => ({...pair, figure})));
  if (pairs.length < 3 || unique(pairs.map((pair) => pair.figure)).length < 2) return [];
  const ratios = pairs.filter((pair) => pair.figure.relative);
  const against = unique(pairs.map((pair) => pair.figure.against)).join(" or ");
  const columns = ["figure", "where", "what", "ours", against, "error [%]", "source"];
  const rows = pairs.map((pair) => [make("a", {href: `#figure-${pair.figure.name}`}, pair.figure.title),
    pair.x, pair.series, pair.ours, pair.published, 100 * pair.error, pair.source]);
  const section = make("section", {class: "figure", id: "published"},
    make("h2", {}, `Ours against what is ${against}`),
    make("p", {}, `The mean error of ${pairs.length} values is ${percent(meanError(pairs))} %.`));
  if (ratios.length > 2) {
    const all = {title: `Ours against what is ${against}`, against, unit: "times the reference", relative: true};
    const svg = scatter(all, ratios.map((pair) => ({...pair, x: "", at: pair.x,
      series: pair.figure.title, colour: pair.figure.title})));
    makeMarksSpeak(svg, all);
    section.append(make("div", {class: "together"},
      make("p", {class: "quiet"}, "Those that are multiples; on the dashed line they are equal."),
      make("div", {class: "chart", "data-scatter": "all"}, svg)));
  }
  section.append(make("div", {class: "tools"}, copyButton("copy table", () => tsv(columns, rows))),
    make("details", {}, make("summary", {}, "All of them"), table(columns, rows)));
  return [section];
};

const figuresPage = () => [
  ...(wholePoints.length
    ? [make("p", {class: "quiet"}, `${wholePoints.length} of ${data.points.length} runs were simulated in one go, ` +
        `exactly: ${unique(wholePoints.map((point) => `${point.launches.in_one_go.tried} was given up, for ` +
          point.launches.in_one_go.why)).join("; ")}.`)] : []),
  ...(approximatedPoints.length
    ? [make("p", {class: "quiet"}, `${approximatedPoints.length} of ${data.points.length} runs are approximated: ` +
        `${approximatedPoints[0].launches.approximated.join("; ")}.`)] : []),
  ...(data.studies.some((study) => study.complete < study.points)
    ? [make("p", {class: "bad"}, "Not all runs are there: " + data.studies
        .filter((study) => study.complete < study.points)
        .map((study) => `${study.name} has ${study.complete} of ${study.points}` +
             (study.failed ? `, ${study.failed} failed` : "")).join("; ") + ".")] : []),
  ...((data.summary || []).length ? [make("section", {class: "summary"}, make("h2", {}, "In short"),
    make("ul", {}, data.summary.map((one) => make("li", {}, one.text))))] : []),
  ...publishedSection(),
  ...data.figures.map(draw)];

/// The figures as texts of files: `nearwarp experiment --figures` takes them from here.
const filesPage = () => {
  const asked = new URLSearchParams(location.search);
  const columns = +(asked.get("columns") || 2), points = +(asked.get("points") || 8);
  return data.figures.filter((figure) => figure.cells.length).flatMap((figure) => [
    make("pre", {"data-file": figure.name}, fileText(figure, columns, points, true)),
    comparable(figure).length > 2 ? make("pre", {"data-file": `${figure.name}-${figure.against}`},
      drawnAs({width: Math.round(96 * columnInches[columns]), type: points * 96 / 72, fit: true},
        () => svgText({...figure, kind: "bars", series: unique(comparable(figure).map((p) => p.series)),
          title: `${figure.title}: ours against ${figure.against}`, unit: figure.unit}, scatter(figure)))) : null]);
};

/// What tells a run apart; the machine, if there are several.
const runText = (point) => [unique(data.points.map((p) => p.machine)).length > 1 ? point.machine : "",
  point.policy, changesText(point)].filter(Boolean).join(", ");

/// What cycles of the SMs of a class were spent on, as a figure: a bar for each run.
const cyclesFigure = (points, sms) => {
  const runs = points.map((point) => [point, (point.sm_cycles || []).find((c) => c.sms === sms)])
    .filter(([, cycles]) => cycles && cycles.cycles);
  // In one order whichever runs have them: bars are compared, and what no warp does stands on top.
  const order = unique([...Object.keys(useLabels), ...runs.flatMap(([, cycles]) => Object.keys(cycles.uses))]);
  const uses = order.filter((use) => runs.some(([, cycles]) => cycles.uses[use]));
  const parts = uses.map((use) => useLabels[use] || use);
  const machines = unique(points.map((point) => point.machine));
  return {name: `cycles-${sms}`, title: `Cycles of ${sms === "sm" ? "SMs" : sms.replace(/_sm$/, "") + " SMs"}`,
    about: "What they were spent on; docs/json.md says what each name is.", kind: "stacked", unit: "%",
    relative: false, x_name: "run", series_name: "", series: [""], parts, against: "published", published: [], notes: [],
    x: runs.map(([point]) => machines.length > 1 ? runText(point)
      : [point.policy, changesText(point)].filter(Boolean).join(", ")),
    cells: runs.flatMap(([, cycles], x) => uses.map((use, part) =>
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

/// A kernel as tables have it: C++ names without parameters, with the whole name beside the pointer.
const kernelCell = (kernel) => {
  const short = (data.kernel_names || {})[kernel];
  return short ? make("span", {title: kernel}, short) : kernel;
};

/// A cell of a mechanism's section.
const sectionCell = (cell) => cell && cell.kernel ? kernelCell(cell.kernel) : cell;

const decisions = (point) => {
  const parts = [];
  for (const section of point.sections || []) {
    parts.push(make("h4", {}, section.title));
    if (section.text) parts.push(make("p", {}, section.text));
    if (section.rows.length)
      parts.push(table(section.columns, section.rows.map((row) => row.map(sectionCell))));
  }
  if (point.kernel_totals) parts.push(make("h4", {}, "Kernels"), table(
    ["kernel", "launches", "cycles", "warp-instructions", "IPC", "registers"],
    point.kernel_totals.map((k) => [kernelCell(k.kernel), k.launches, k.cycles, k.warp_instructions, k.ipc,
                                    k.registers])));
  return parts;
};

/// Made when it is opened first; on paper its title is a heading.
const opened = (title, content) => {
  const details = make("details", {class: "titled"}, make("summary", {}, title));
  details.fill = () => {
    if (details.childElementCount === 1) details.append(...content());
  };
  details.addEventListener("toggle", () => { if (details.open) details.fill(); });
  return details;
};

/// Of a run the cycles that it takes more than the reference run, by kernel and by what SMs did.
const whatChanged = (point) => {
  const signed = (cycles) => (cycles > 0 ? "+" : "") + Math.round(cycles).toLocaleString("en-GB");
  const causesOf = (causes, indent) => causes.filter((c) => c.cycles).flatMap((c) => [
    [indent + c.what, signed(c.cycles)],
    ...(c.parts || []).filter((part) => part.cycles).map((part) =>
      [`${indent}\u2003${part.what}`, signed(part.cycles)])]);
  const {kernels, causes} = point.changed;
  const columns = ["where", "core cycles more"];
  const parts = [make("h4", {}, "By what SMs did, all kernels"), table(columns, causesOf(causes, ""))];
  if (kernels.length > 1) parts.push(make("h4", {}, "By kernel"), table(columns, kernels.filter((k) => k.cycles)
    .flatMap((k) => [[kernelCell(k.kernel), signed(k.cycles)], ...causesOf(k.causes, "\u2003")])));
  return parts;
};

/// What quantities are called in tables, where their names say little.
const quantityLabels = {tx: "GPU to memory", rx: "memory to GPU", cross: "between stacks"};

const workloadPage = (name) => {
  const points = data.points.filter((point) => point.workload === name);
  const good = points.filter((point) => point.quantities);
  const shown = ["cycles", "ipc", "offloaded", "tx", "rx", "cross", "energy"]
    .filter((q) => data.quantities[q]);
  const over = (point) => (referenceOf(point) || {policy: "-"}).policy;
  const references = unique(points.map(over));
  // Columns in which all runs have the same, which says nothing, are left out.
  const described = [["study", (point) => point.study], ["machine", (point) => point.machine],
    ["changes", (point) => changesText(point) || "-"], ["status", (point) => point.error || point.status]]
    .filter(([, of]) => unique(points.map(of)).length > 1 || points.some((point) => point.error));
  if (references.length > 1) described.push(["over", over]);
  const speedup = references.length > 1 ? "speed-up" : `speed-up over ${references[0]}`;
  const columns = ["policy", ...described.map(([title]) => title), speedup,
    ...shown.map((q) => (quantityLabels[q] || q) +
      (data.quantities[q].unit ? ` [${data.quantities[q].unit}]` : ""))];
  const rows = points.map((point) => [point.policy, ...described.map(([, of]) => of(point)), speedupOf(point),
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
  const size = (points[0] || {}).size;
  const changes = main.filter((point) => point.change);
  return [make("h2", {}, size ? `${name}, size ${size}` : name),
    ...(changes.length ? [make("ul", {}, changes.map((point) => make("li", {}, point.change +
      (changesText(point) ? ` [${changesText(point)}]` : "") + ".")))] : []),
    table(columns, rows),
    make("div", {class: "tools"}, copyButton("copy table", () => tsv(columns, rows))),
    ...(changes.some((point) => point.changed && point.changed.kernels.length)
      ? [make("h3", {}, "What policies change"), make("p", {class: "quiet"},
          "Core cycles more than in the reference run, means of all SMs; kernels add up to the run's, and causes to each kernel's."),
         ...changes.filter((point) => point.changed && point.changed.kernels.length)
           .map((point) => opened(runText(point), () => whatChanged(point)))] : []),
    make("h3", {}, "Where the time went"),
    ...unique(main.flatMap((point) => (point.sm_cycles || []).map((c) => c.sms)))
      .map((sms) => draw(cyclesFigure(main, sms))),
    ...good.filter((point) => point.bound).map((point) => opened(runText(point),
      () => whereTimeWent(point))),
    make("h3", {}, "Decisions"),
    make("p", {class: "quiet"}, "What was offloaded or placed, and why not; open a run."),
    ...good.map((point) => opened(runText(point), () => decisions(point))),
    make("h3", {class: "screen"}, "Counters"),
    make("p", {class: "screen"}, make("label", {}, "Counters with ", filter, " in their names, of study " +
      ((main[0] || {}).study || "-"))), place];
};

/// Speed-ups over the first policy, of the first study that a workload is in.
const workloadsPage = () => {
  const shown = workloads.map((name) => {
    const points = data.points.filter((point) => point.workload === name);
    const first = points.filter((point) => point.study === points[0].study);
    // Where a study changes keys, or has several machines, those with its first reference.
    return {name, points, main: first.filter((point) => point.reference === first[0].reference)};
  });
  const policies = unique(shown.flatMap((one) => one.main.map((point) => point.policy)));
  const speedup = (one, policy) => {
    const point = one.main.find((p) => p.policy === policy);
    return point ? speedupOf(point) : "-";
  };
  return [make("h2", {}, "Workloads"),
    make("p", {class: "quiet"}, "Speed-ups over the first policy of a workload's first study."), table(
    ["workload", ...policies, "runs", "complete", "failed"],
    shown.map((one) => [make("a", {href: `#workload/${encodeURIComponent(one.name)}`}, one.name),
      ...policies.map((policy) => speedup(one, policy)), one.points.length,
      one.points.filter((point) => point.status === "complete").length,
      one.points.filter((point) => point.status === "failed").length]))];
};

const configurationPage = () => {
  const parts = [make("h2", {}, "Configuration"), make("p", {},
    `nearwarp ${data.nearwarp_version}${data.points.some((point) => point.size) ? `, size ${data.size}` : ""}. A configuration is named by a hash of ` +
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
})();
