// Kinds of charts, by Plot: bars, scatters, curves, heat maps.

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
  // Bars of a group say below what they are, where their colours do not.
  const named = stacked && perGroup > 1;
  // Names of groups lie flat, aslant or upright, as there is room. Aslant they end below their
  // group, and the first ones may begin left of the axis.
  const before = named ? 0
    : Math.max(...groups.map((name, i) => .79 * textWidth(name) + type - room * (i + .5)));
  const tilt = longest <= room - 4 ? 0
    : room >= 1.5 * type && before < Math.max(left, width / 4) ? -38 : -90;
  const marginLeft = tilt === -38 ? Math.max(left, before) : left;
  const high = tilt === 0 ? type : tilt === -90 ? longest : .62 * longest + type;
  const flat = Math.max(...names.map(textWidth)) <= .86 * room / perGroup - 6;
  const below = named ? (flat ? type + 4 : Math.max(...names.map(textWidth))) + 6 : high + 12;
  const above = named ? high + 16 : type + 12;
  const groupAxis = Plot.axisFx({anchor: named ? "top" : "bottom", label: null, tickRotate: tilt,
    fontSize: type, padding: 3,
    ...(tilt ? {textAnchor: named ? "start" : "end", frameAnchor: named ? "top" : "bottom",
                dy: named ? -4 : 4} : {})});
  const apart = figure.has_summary ? groups[0] : null;
  // Thin bars keep most of their width.
  const apartBy = Math.min(.5, .1 * room / perGroup);
  const marks = [
    Plot.ruleY([0]),
    figure.relative ? Plot.ruleY([1], {strokeDasharray: "4 3", strokeOpacity: .6}) : null,
    groupAxis,
    named ? Plot.axisX({anchor: "bottom", label: null, tickSize: 0, tickRotate: flat ? 0 : -90,
      fontSize: Math.min(type, Math.max(5, room * .86 / perGroup))}) : null,
    // The axis stands once, at the left, though groups may be empty.
    Plot.axisY({facetAnchor: "left", label: figure.unit || null, labelArrow: "none", labelAnchor: "center",
      labelOffset: left - 4, tickSize: 0, ticks: 6, fontSize: type}),
    Plot.gridY({strokeOpacity: .12}),
    Plot.barY(rows, {fx: "x", x: "series", y: "value",
                     fill: stacked ? "part" : "series",
                     ...(stacked ? {order: figure.parts} : {}), insetLeft: apartBy, insetRight: apartBy}),
  ];
  if (apart) marks.push(Plot.frame({fx: apart, anchor: "right", strokeOpacity: .35, insetRight: -.08 * room}));
  const published = figure.published.filter((p) => figure.x.includes(p.x) && !p.part)
    .map((p) => ({x: p.x, series: p.series || names[0], value: p.value}));
  if (published.length)
    marks.push(Plot.tickY(published, {fx: "x", x: "series", y: "value", stroke: "currentColor",
                                      strokeWidth: 2}));
  const height = (drawing.fit ? Math.min(230, .52 * width) : 250) + below + above;
  const svg = Plot.plot({width, height, marginBottom: below, marginLeft,
    marginTop: above, marginRight: named && tilt === -38 ? Math.max(8, .8 * longest - room / 2) : 8,
    style: {fontSize: `${type}px`, overflow: "visible"},
    fx: {domain: groups, padding: .14, label: null, round: !drawing.fit},
    x: {domain: names, axis: null, padding: 0, label: null, round: !drawing.fit},
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
  const last = figure.x.length ? figure.x[figure.x.length - 1] : "";
  const right = .5 * textWidth(numeric ? (+last).toLocaleString("en-GB") : last) + 4;
  const svg = Plot.plot({width: Math.min(wide(), 760), height: drawing.fit ? 240 : 320, marginLeft: left,
    marginBottom: 3 * type + 12, marginTop: 14, marginRight: Math.max(20, right),
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
