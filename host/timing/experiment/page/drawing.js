// How figures are drawn: names, colours, sizes, axes.

const rowsOf = (figure) => figure.cells.map((cell) => ({
  x: figure.x[cell.x], xi: cell.x, series: figure.series[cell.series] || figure.title,
  si: cell.series, part: figure.parts[cell.part], pi: cell.part, value: cell.value}));

const textOf = (figure, row) => [
  `${row.x}${row.series && figure.series_name ? ", " + row.series : ""}${row.part ? ", " + row.part : ""}`,
  `${number(row.value)}${figure.unit ? " " + figure.unit : ""}`].join("\n");

const seriesNames = (figure) => figure.series.map((name) => name || figure.title);

/// SMs spend their cycles on these, by the names that counters have and that figures have.
const useLabels = {issued: "issue", lsu: "load-store unit full", misses: "misses full",
  network: "network full", ports: "ports busy", memory: "memory", dependency: "results",
  barrier: "barriers", fetch: "instructions", offload: "offloaded work", mechanism: "mechanism",
  no_warp: "no warp"};

/// A figure tells these apart by colours.
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
    other.cells.length).map(topOf).sort(d3.descending);
  // From the largest on: those that are not much smaller have its axis, the next begins another.
  let axis = tops[0];
  for (const top of tops) if (top >= own && axis > 1.6 * top) axis = top;
  return Math.max(own, axis ?? own);
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
