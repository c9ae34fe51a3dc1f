// Pages of all figures, on the screen and as files, and ours beside published values.

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
          colours: new Map(comparable(figure).map((p) => [p.series, colourOf.get(p.colour)])),
          title: `${figure.title}: ours against ${figure.against}`, unit: figure.unit}, scatter(figure)))) : null]);
};
