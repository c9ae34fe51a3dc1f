// Runs of a workload: where their time went, what was decided, what changed; its page.

/// A run's name among the others; with the machine, if there are several.
const runText = (point) => [unique(data.points.map((p) => p.machine)).length > 1 ? point.machine : "",
  point.policy, changesText(point)].filter(Boolean).join(", ");

/// A figure of what cycles of the SMs of a class were spent on: a bar for each run.
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

/// The cycles that a run takes more than its reference run, by kernel and by what SMs did.
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

/// Tables call quantities so, where their names say little.
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
