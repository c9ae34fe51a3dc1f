// Pages of all workloads, and of configurations.

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
