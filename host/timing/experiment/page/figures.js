// A figure on a page, as a file and as LaTeX, with its conclusion and its table.

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
  const colour = (name) => figure.colours?.get(name) ?? colourOf.get(name) ?? "black";
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
                                           fill: colour(name)}))
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
    ? number(cell) : cell ?? "").replace(/[\\&%$#_{}~^]/g, (letter) => letter === "\\"
      ? "\\textbackslash{}" : "~^".includes(letter) ? `\\${letter}{}` : `\\${letter}`);
  const line = (row) => "  " + row.map(escaped).join(" & ") + " \\\\";
  return [`\\begin{tabular}{l${"r".repeat(columns.length - 1)}}`, "  \\hline", line(columns), "  \\hline",
    ...rows.map(line), "  \\hline", "\\end{tabular}", ""].join("\n");
};

/// A figure's conclusion, in words, by series.
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
