// Are exported figures whole, whatever their names, their bars and their gaps are?
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <regex>
#include <string>

#include "tests/cli/browser.h"
#include "tests/cli/program.h"
#include "tests/experiment/small.h"

namespace nearwarp::testing {
namespace {

/// Puts other figures into a report: of ten bars in each of twelve groups, two of them empty, the
/// first with a long name; of a whole with published parts; and three of one quantity.
constexpr const char* kOtherFigures = R"(<script>
{
  const place = document.getElementById("data");
  const all = JSON.parse(place.textContent);
  const figure = (name, kind, x, series, parts, value) => ({...all.figures[0], name, kind, x, series,
    parts, title: name, quantity: null, relative: false, has_summary: false, published: [], notes: [],
    cells: x.flatMap((_, i) => series.flatMap((_, s) => parts.map((_, p) =>
      ({x: i, series: s, part: p, value: value(i, s, p), points: []}))))
      .filter((cell) => cell.value)});
  const numbered = (letter, many) => [...Array(many).keys()].map((i) => letter + i);
  const many = figure("many", "bars", ["a \\ long_name ~ of a program", ...numbered("program-", 11)],
    numbered("s", 10), [""], (x) => x === 4 || x === 5 ? 0 : 1 + x / 8);
  const levels = figure("levels", "stacked", ["mean", "kmeans"], ["tom"], ["L1", "L2", "DRAM"],
    (x, s, part) => .2 + .1 * part);
  levels.published = levels.parts.map((part) =>
    ({x: "mean", series: "tom", part, value: .25, source: "nowhere"}));
  const alike = [1, 1.5, 2.2].map((top) => ({...figure(`top-${10 * top}`, "bars", ["a", "b"],
    ["tom"], [""], (x) => x ? top : .5), quantity: "one"}));
  all.figures = [many, levels, ...alike];
  place.textContent = JSON.stringify(all);
}
</script>)";

class Exported : public ::testing::Test {
 protected:
  void SetUp() override {
    if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
    write_text(folder_.file("small.toml"), kSmallExperiment);
    const Outcome outcome =
        run_program({"experiment", folder_.file("small.toml"), "--out", folder_.file("x")});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::string html = read_text(folder_.file("x/report.html"));
    const std::string end = "</script>";
    const size_t at = html.find(end, html.find("id=\"data\">"));
    ASSERT_NE(at, std::string::npos);
    html.insert(at + end.size(), kOtherFigures);
    write_text(folder_.file("x/report.html"), html);
  }

  PageView ask(const std::string& suffix, const std::string& script) {
    return view_frame(browser_, folder_.file("x/report.html"), suffix, 1280, script,
                      folder_.path().string());
  }

  /// A member of what a script returned; NaN if there is none.
  static double said(const PageView& page, const std::string& name) {
    std::smatch found;
    const bool is_there =
        std::regex_search(page.dom, found, std::regex("[> ]" + name + ": ([-0-9.]+);"));
    EXPECT_TRUE(is_there) << name << "\n" << page.log;
    return is_there ? std::stod(found[1]) : std::nan("");
  }

  TemporaryFolder folder_;
  std::string browser_ = find_browser();
};

/// A script that measures the files of all figures.
constexpr const char* kMeasureFiles = R"(
  let files = 0, cut = 0, twice = 0, bars = 0, thinnest = 99, colours = 0;
  const tops = {};
  for (const pre of page.querySelectorAll("pre[data-file]")) {
    const place = page.createElement("div");
    place.style = "position:absolute;left:0;top:0";
    place.innerHTML = pre.textContent;
    page.body.append(place);
    files += 1;
    const svg = place.querySelector("svg"), box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const at = text.getBoundingClientRect();
      if (at.width && (at.left < box.left - 1 || at.right > box.right + 1 ||
          at.top < box.top - 1 || at.bottom > box.bottom + 1)) cut += 1;
    }
    const ticks = [...svg.querySelectorAll('g[aria-label="y-axis tick label"] text')]
      .map((text) => text.textContent);
    twice += ticks.length - new Set(ticks).size;
    tops[pre.dataset.file.replace("-", "_")] = ticks[ticks.length - 1];
    if (pre.dataset.file === "many") for (const bar of svg.querySelectorAll('g[aria-label="bar"] rect')) {
      bars += 1;
      thinnest = Math.min(thinnest, bar.getBoundingClientRect().width);
    }
    if (pre.dataset.file === "levels-published") {
      const legend = [...svg.children].filter((part) => part.tagName === "rect")
        .map((part) => part.getAttribute("fill"));
      const dots = [...svg.querySelectorAll("circle")].map((dot) => dot.getAttribute("fill"));
      colours = new Set(legend.filter((fill) => dots.includes(fill))).size;
    }
    place.remove();
  }
  return {files, cut, twice, bars, thinnest, colours, ...tops};)";

TEST_F(Exported, FilesHaveWholeNamesAllBarsOneAxisAndTheirColours) {
  for (const char* suffix : {"?columns=1#files", "?columns=2#files"}) {
    const PageView page = ask(suffix, kMeasureFiles);
    EXPECT_EQ(said(page, "files"), 6) << suffix;
    EXPECT_EQ(said(page, "cut"), 0) << suffix << ": texts that stick out";
    EXPECT_EQ(said(page, "twice"), 0) << suffix << ": beside an empty group is no second axis";
    EXPECT_EQ(said(page, "bars"), 100) << suffix;
    EXPECT_GT(said(page, "thinnest"), 0.8) << suffix << ": every bar is seen";
    EXPECT_EQ(said(page, "colours"), 3) << suffix << ": the legend has the dots' colours";
    // The two figures of nearly the same size share an axis; the smallest has one of its own.
    EXPECT_EQ(said(page, "top_15"), said(page, "top_22")) << suffix;
    EXPECT_LE(said(page, "top_10"), 1) << suffix;
  }
}

TEST_F(Exported, LettersThatMeanSomethingToLatexAreEscaped) {
  const PageView page = ask("", R"(
    let saved = "";
    const view = page.defaultView, Whole = view.Blob;
    view.Blob = function (parts, options) {
      saved = parts[0];
      return new Whole(parts, options);
    };
    for (const button of page.querySelectorAll('[data-figure="many"] button'))
      if (button.textContent === "save LaTeX") button.click();
    return {name: saved.split("\n").find((line) => line.includes("program &"))};)");
  EXPECT_TRUE(
      contains(page.dom, "name:   a \\textbackslash{} long\\_name \\~{} of a program &amp; "))
      << page.log;
}

}  // namespace
}  // namespace nearwarp::testing
