// Is the report whole in all the ways in which it is looked at: on a telephone, in the dark, on
// paper?
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <regex>
#include <string>

#include "tests/cli/browser.h"
#include "tests/cli/program.h"
#include "tests/experiment/small.h"

namespace nearwarp::testing {
namespace {

/// The small experiment's report, made once.
class ReportInAllWays : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    write_text(folder_->file("small.toml"), kSmallExperiment);
    const Outcome outcome = run_program(
        {"experiment", folder_->file("small.toml"), "--out", folder_->file("x"), "--threads", "2"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  }

  PageView ask(const std::string& suffix, unsigned width, const std::string& script) {
    return view_frame(browser_, folder_->file("x/report.html"), suffix, width, script,
                      folder_->path().string());
  }

  /// A member of what a script returned; NaN if there is none.
  static double said(const PageView& page, const std::string& name) {
    std::smatch found;
    const bool is_there =
        std::regex_search(page.dom, found, std::regex("[> ]" + name + ": ([-0-9.]+);"));
    EXPECT_TRUE(is_there) << name << "\n" << page.log;
    return is_there ? std::stod(found[1]) : std::nan("");
  }

  /// Page by page.
  std::string printed(const std::string& suffix) {
    const std::string pdf = folder_->file("printed.pdf"), text = folder_->file("printed.txt");
    EXPECT_TRUE(print_page(browser_, folder_->file("x/report.html"), suffix, pdf,
                           folder_->path().string()));
    EXPECT_TRUE(contains(read_text(pdf), "MediaBox [0 0 594")) << "A4";
    if (std::system(("pdftotext -layout '" + pdf + "' '" + text + "'").c_str()) != 0) return "";
    return read_text(text);
  }

  static std::unique_ptr<TemporaryFolder> folder_;
  std::string browser_ = find_browser();
};
std::unique_ptr<TemporaryFolder> ReportInAllWays::folder_;

/// A script that finds what sticks out of the page, or out of a chart that does not scroll.
constexpr const char* kMeasure = R"(
  let cut = 0, texts = 0, small = 0;
  for (const chart of page.querySelectorAll(".chart")) {
    const box = chart.querySelector("svg").getBoundingClientRect();
    for (const text of chart.querySelectorAll("svg text")) {
      const at = text.getBoundingClientRect();
      if (!at.width) continue;
      texts += 1;
      if (at.left < box.left - 2 || at.right > box.right + 2 || at.top < box.top - 2 ||
          at.bottom > box.bottom + 2) cut += 1;
    }
  }
  for (const part of page.querySelectorAll("main *"))
    if (part.textContent.trim() && parseFloat(page.defaultView.getComputedStyle(part).fontSize) < 7)
      small += 1;
  return {width: page.documentElement.clientWidth, wide: page.documentElement.scrollWidth,
          charts: page.querySelectorAll(".chart").length, texts, cut, small};)";

TEST_F(ReportInAllWays, OnATelephoneNothingIsCutOff) {
  for (const char* suffix : {"", "#workloads", "#workload/kmeans", "#configuration"}) {
    const PageView page = ask(suffix, 390, kMeasure);
    EXPECT_EQ(said(page, "width"), 390) << suffix;
    EXPECT_LE(said(page, "wide"), 390) << suffix << ": the page itself does not scroll sideways";
    EXPECT_EQ(said(page, "cut"), 0) << suffix << ": texts that stick out of their charts";
    EXPECT_EQ(said(page, "small"), 0) << suffix << ": texts that nobody can read";
  }
  const PageView figures = ask("", 390, kMeasure);
  EXPECT_GE(said(figures, "charts"), 4);
  EXPECT_GE(said(figures, "texts"), 40);
}

TEST_F(ReportInAllWays, OnADeskNothingIsCutOff) {
  for (const char* suffix : {"", "?paper", "#workload/kmeans"}) {
    const PageView page = ask(suffix, 1100, kMeasure);
    EXPECT_LE(said(page, "wide"), 1100) << suffix;
    EXPECT_EQ(said(page, "cut"), 0) << suffix;
  }
}

/// Contrasts, as WCAG 2 defines them, of all texts with the page, and of marks with it.
constexpr const char* kContrasts = R"(
  const light = (text) => {
    const [r, g, b] = text.match(/[0-9.]+/g).map((part) => part / 255)
      .map((c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const style = (part) => page.defaultView.getComputedStyle(part);
  const ground = light(style(page.body).backgroundColor);
  const contrast = (colour) => {
    const other = light(colour);
    return (Math.max(ground, other) + .05) / (Math.min(ground, other) + .05);
  };
  let worst = 99, marks = 99;
  for (const part of page.querySelectorAll("main p, main li, main h2, main td, main th, main a"))
    worst = Math.min(worst, contrast(style(part).color));
  for (const part of page.querySelectorAll("main svg text"))
    worst = Math.min(worst, contrast(style(part).color));
  for (const part of page.querySelectorAll(".legend i"))
    marks = Math.min(marks, contrast(style(part).backgroundColor));
  return {ground, worst, marks};)";

TEST_F(ReportInAllWays, LightAndDarkCanBeRead) {
  const PageView light = ask("?theme=light", 1100, kContrasts);
  EXPECT_GT(said(light, "ground"), 0.8);
  EXPECT_GE(said(light, "worst"), 4.5);
  EXPECT_GE(said(light, "marks"), 1.2);
  const PageView dark = ask("?theme=dark", 1100, kContrasts);
  EXPECT_LT(said(dark, "ground"), 0.05);
  EXPECT_GE(said(dark, "worst"), 4.5);
  EXPECT_GE(said(dark, "marks"), 1.2);
}

TEST_F(ReportInAllWays, PaperHasEveryFigureWithItsNumbers) {
  const std::string text = printed("");
  if (text.empty()) GTEST_SKIP() << "no pdftotext is installed (Debian: poppler-utils)";
  for (const char* part : {"In short", "Speed-up", "Traffic", "Warps and L1", "geometric mean",
                           "ndp-controlled-bmap", "1.250 (nowhere)", "stack.sm_warps"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  EXPECT_FALSE(contains(text, "save SVG")) << "what is to be clicked is not printed";
}

TEST_F(ReportInAllWays, PaperHasWhatIsFoldedOnTheScreen) {
  const std::string text = printed("#workload/kmeans");
  if (text.empty()) GTEST_SKIP() << "no pdftotext is installed (Debian: poppler-utils)";
  for (const char* part : {"What policies change", "kmeans_transpose", "wait for offloaded work",
                           "Bound by", "Candidate blocks", "Kernels", "How busy everything was"})
    EXPECT_TRUE(contains(text, part)) << part;
  EXPECT_FALSE(contains(text, "Counters with")) << "there is nothing to type";
}

/// On paper tables have smaller type rather than words that go on in the next line.
constexpr const char* kTables = R"(
  let most = 0, tables = 0, divided = 0;
  for (const table of page.querySelectorAll("main table")) {
    tables += 1;
    most = Math.max(most, table.offsetWidth);
    for (const cell of table.querySelectorAll("th")) {
      const range = page.createRange();
      for (const node of cell.childNodes) {
        if (node.nodeType !== 3) continue;
        for (const word of node.data.matchAll(/[^\s-]+/g)) {
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
          if (lines.size > 1) divided += 1;
        }
      }
    }
  }
  return {most, tables, divided};)";

TEST_F(ReportInAllWays, TablesFitOnPaperWithoutDividedWords) {
  for (const char* suffix : {"?paper", "?paper#workload/kmeans", "?paper#configuration"}) {
    const PageView page = ask(suffix, 705, kTables);
    EXPECT_GE(said(page, "tables"), 3) << suffix;
    EXPECT_LE(said(page, "most"), 705) << suffix;
    EXPECT_EQ(said(page, "divided"), 0) << suffix;
  }
}

TEST_F(ReportInAllWays, FiguresAreExportedWithNothingCutOff) {
  const Outcome outcome =
      run_program({"experiment", folder_->file("small.toml"), "--out", folder_->file("x"),
                   "--no-run", "--figures", "svg,pdf,png", "--figure-columns", "1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* name : {"speedup", "traffic", "warps", "both", "speedup-published"}) {
    const std::string file = folder_->file(std::string("x/figures/") + name);
    EXPECT_TRUE(read_text(file + ".png").starts_with("\x89PNG\r\n")) << name;
    const std::string pdf = read_text(file + ".pdf");
    EXPECT_TRUE(pdf.starts_with("%PDF")) << name;
    // One page, as wide as a column: 3.33 inches.
    std::smatch box;
    ASSERT_TRUE(std::regex_search(pdf, box, std::regex("MediaBox \\[0 0 ([0-9.]+) ([0-9.]+)")))
        << name;
    EXPECT_LE(std::stod(box[1]), 242) << name;
    EXPECT_GE(std::stod(box[1]), std::string(name).ends_with("-published") ? 200 : 238) << name;
    EXPECT_TRUE(contains(pdf, "/Count 1")) << name << " has one page";
    const std::string page = folder_->file("svg.html");
    write_text(page, "<body style=\"margin:0\"><main><div class=\"chart\">" +
                         read_text(file + ".svg") + "</div></main></body>");
    const PageView view = view_frame(browser_, page, "", 400, kMeasure, folder_->path().string());
    EXPECT_EQ(said(view, "cut"), 0) << name;
    EXPECT_GE(said(view, "texts"), 5) << name;
  }
}

}  // namespace
}  // namespace nearwarp::testing
