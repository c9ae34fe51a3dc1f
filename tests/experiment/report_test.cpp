// Does the report show every figure, without an error and without a network?
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/browser.h"
#include "tests/cli/program.h"
#include "tests/experiment/small.h"

namespace nearwarp::testing {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) n += 1;
  return n;
}

/// The small experiment is made once; every test has a copy of its own to change.
class Report : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<TemporaryFolder>();
    write_text(made_->file("small.toml"), kSmallExperiment);
    const Outcome outcome = run_program(
        {"experiment", made_->file("small.toml"), "--out", made_->file("x"), "--threads", "2"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  static void TearDownTestSuite() { made_.reset(); }
  void SetUp() override {
    std::filesystem::copy(made_->path(), folder_.path(), std::filesystem::copy_options::recursive);
  }

  PageView view(const std::string& suffix, unsigned width = 1280) {
    return view_page(browser_, folder_.file("x/report.html"), suffix, width,
                     folder_.path().string());
  }

  static void expect_no_error(const PageView& page) {
    EXPECT_FALSE(contains(page.log, "CONSOLE")) << page.log;
    EXPECT_TRUE(contains(page.dom, "data-errors=\"0\""));
    EXPECT_TRUE(contains(page.dom, "data-ready=\"yes\"")) << page.log;
  }

  static std::unique_ptr<TemporaryFolder> made_;
  TemporaryFolder folder_;
  std::string browser_ = find_browser();
};
std::unique_ptr<TemporaryFolder> Report::made_;

TEST_F(Report, IsOneFileWithoutANetwork) {
  const std::string html = read_text(folder_.file("x/report.html"));
  EXPECT_FALSE(std::regex_search(html.substr(0, 4000), std::regex("src=|href=\"http")));
  EXPECT_EQ(count(html, "<script src"), 0u);
  EXPECT_EQ(count(html, "@import"), 0u);
  EXPECT_TRUE(contains(html, "<title>A &lt;small> experiment</title>"));
  for (const char* place : {"@TITLE@", "@STYLE@", "@D3@", "@PLOT@", "@SCRIPT@", "@LICENCES@"})
    EXPECT_FALSE(contains(html, place)) << place;
  EXPECT_TRUE(contains(html, "Permission to use, copy, modify"));
  EXPECT_LT(html.size(), 2'000'000u);
}

TEST_F(Report, EveryFigureHasAMarkForEachOfItsNumbers) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  for (const unsigned width : {1280u, 400u}) {
    const PageView page = view("", width);
    expect_no_error(page);
    // 2 workloads and their mean x 3 policies; 2 x 3 x 3 parts; 2 x 2; 2 x 2.
    const std::vector<std::pair<std::string, std::string>> figures = {
        {"speedup", "9"}, {"traffic", "18"}, {"warps", "4"}, {"both", "4"}};
    for (const auto& [name, marks] : figures) {
      const size_t begin = page.dom.find("data-figure=\"" + name + "\"");
      ASSERT_NE(begin, std::string::npos) << name;
      const std::string figure = page.dom.substr(begin, page.dom.find("</section>", begin) - begin);
      EXPECT_TRUE(contains(figure, "data-marks=\"" + marks + "\""))
          << name << ": " << figure.substr(0, 1500);
      EXPECT_TRUE(contains(figure, "aria-label=\"")) << name;
      EXPECT_TRUE(contains(figure, "<table>")) << name;
    }
    EXPECT_TRUE(contains(page.dom, "1.250 (nowhere)"));  // the published value
  }
}

TEST_F(Report, ItsOtherPagesAreThere) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  const PageView workload = view("#workload/kmeans");
  expect_no_error(workload);
  EXPECT_TRUE(contains(workload.dom, "kmeans, size small"));
  EXPECT_TRUE(contains(workload.dom, "stack.sm_warps = 96"));
  EXPECT_TRUE(contains(workload.dom, "data-figure=\"cycles-sm\""));
  EXPECT_TRUE(contains(workload.dom, "data-figure=\"cycles-stack_sm\""));
  const PageView configuration = view("#configuration");
  expect_no_error(configuration);
  EXPECT_TRUE(contains(configuration.dom, "offload.dynamic_control"));
  EXPECT_TRUE(contains(configuration.dom, "links.gpu_to_memory_mbps"));
}

/// Focuses the first mark and presses keys; <body> then has the tooltip's text after each key.
constexpr const char* kPressKeys = R"(<script>
addEventListener("load", () => setTimeout(() => {
  const tip = document.getElementById("tip"), said = [];
  const note = () => said.push(tip.hidden ? "nothing" : tip.textContent.replace(/\n/g, " "));
  document.querySelector("[data-mark][tabindex='0']").focus();
  note();
  for (const key of ["ArrowRight", "ArrowLeft", "ArrowLeft", "Escape"]) {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    note();
  }
  document.body.dataset.said = said.join(";");
  document.body.dataset.stops = document.querySelectorAll("[data-mark][tabindex='0']").length;
}, 500));
</script></body>)";

TEST_F(Report, KeysGoFromMarkToMark) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  std::string html = read_text(folder_.file("x/report.html"));
  html.replace(html.rfind("</body>"), 7, kPressKeys);
  write_text(folder_.file("keys.html"), html);
  const PageView page =
      view_page(browser_, folder_.file("keys.html"), "", 1280, folder_.path().string());
  expect_no_error(page);
  std::smatch found;
  ASSERT_TRUE(std::regex_search(page.dom, found, std::regex("data-said=\"([^\"]*)\"")));
  std::vector<std::string> said;
  std::istringstream whole(found[1].str());
  for (std::string one; std::getline(whole, one, ';');) said.push_back(one);
  ASSERT_EQ(said.size(), 5u) << found[1];
  EXPECT_TRUE(contains(said[0], "times as fast")) << said[0];
  EXPECT_NE(said[1], said[0]);
  EXPECT_EQ(said[2], said[0]);
  EXPECT_NE(said[3], said[0]);  // from the first to the last
  EXPECT_NE(said[3], said[1]);
  EXPECT_EQ(said[4], "nothing");
  EXPECT_TRUE(contains(page.dom, "data-stops=\"5\""));  // Tab stops once in each figure and scatter
}

TEST_F(Report, FiguresAreFilesToo) {
  const Words words = {"experiment", folder_.file("small.toml"),
                       "--out",      folder_.file("x"),
                       "--no-run",   "--figures"};
  const auto with = [&](const Words& more) {
    Words all = words;
    all.insert(all.end(), more.begin(), more.end());
    return run_program(all);
  };
  EXPECT_EQ(with({"gif"}).exit_code, 2);
  EXPECT_EQ(with({"svg", "--figure-columns", "3"}).exit_code, 2);
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.path().c_str(), 1);
  const Outcome none = with({"svg"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_TRUE(contains(none.err, "--figures needs Chromium")) << none.err;
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";

  const Outcome outcome = with({"svg,png", "--only", "speedup"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string svg = read_text(folder_.file("x/figures/speedup.svg"));
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"")) << svg.substr(0, 200);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_TRUE(contains(svg, ">Speed-up [times as fast]</text>")) << svg.substr(0, 600);
  EXPECT_EQ(count(svg, "<rect"), 9u + 3u);  // bars, and the legend's colours
  EXPECT_TRUE(read_text(folder_.file("x/figures/speedup.png")).starts_with("\x89PNG\r\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("x/figures/traffic.svg")));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("x/figures/speedup.pdf")));
}

TEST_F(Report, FilesAreAsWideAsColumnsWithTypeOfOneSize) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  const auto svg = [&](const char* columns, const char* points) {
    const Outcome outcome =
        run_program({"experiment", folder_.file("small.toml"), "--out", folder_.file("x"),
                     "--no-run", "--figures", "svg,pdf", "--only", "traffic", "--figure-columns",
                     columns, "--figure-type", points});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read_text(folder_.file("x/figures/traffic.svg"));
  };
  const std::string two = svg("2", "8");
  EXPECT_TRUE(contains(two, "viewBox=\"0 0 672 ")) << two.substr(0, 300);
  EXPECT_TRUE(contains(two, "font-size:10.666666666666666px")) << "8 pt";
  EXPECT_TRUE(read_text(folder_.file("x/figures/traffic.pdf")).starts_with("%PDF"));
  const std::string one = svg("1", "6");
  EXPECT_TRUE(contains(one, "viewBox=\"0 0 320 ")) << one.substr(0, 300);
  EXPECT_TRUE(contains(one, "font-size:8px")) << "6 pt";
  // Stacked bars are labelled, and the axis has its unit.
  for (const char* text : {">ndp-controlled-bmap<", ">tom<", ">baseline<", ">MB<"})
    EXPECT_TRUE(contains(one, text)) << text;
  EXPECT_TRUE(
      contains(read_text(folder_.file("x/figures/traffic.tex")), "\\begin{tabular}{llrrr}"));
}

/// The names in legends with their colours, figure by figure.
std::vector<std::map<std::string, std::string>> legends(const std::string& dom) {
  std::vector<std::map<std::string, std::string>> all;
  const std::regex entry("<i style=\"background:([^\"]*)\"></i>([^<]*)");
  for (size_t at = 0; (at = dom.find("class=\"legend\"", at)) != std::string::npos; ++at) {
    const std::string legend = dom.substr(at, dom.find("</div>", at) - at);
    all.emplace_back();
    for (std::sregex_iterator i(legend.begin(), legend.end(), entry), end; i != end; ++i)
      all.back()[(*i)[2]] = (*i)[1];
  }
  return all;
}

TEST_F(Report, AColourMeansOneThingOnAllPages) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  std::map<std::string, std::string> meaning;  // by name
  size_t figures = 0;
  for (const char* page : {"", "#workload/kmeans", "#workload/fma", "?theme=dark"}) {
    for (const auto& legend : legends(view(page).dom)) {
      figures += 1;
      std::set<std::string> colours;
      for (const auto& [name, colour] : legend) {
        EXPECT_TRUE(colours.insert(colour).second) << page << ": " << name << " is " << colour;
        EXPECT_EQ(meaning.try_emplace(name, colour).first->second, colour) << page << ": " << name;
      }
    }
  }
  EXPECT_GE(figures, 8u);
  EXPECT_EQ(meaning.count("memory"), 1u);
  EXPECT_EQ(meaning.count("barriers"), 1u) << "the twelve uses of cycles have a colour each";
}

TEST_F(Report, SaysInShortWhatItFound) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  const PageView page = view("");
  EXPECT_TRUE(contains(page.dom, "In short"));
  EXPECT_TRUE(
      std::regex_search(page.dom, std::regex("<li>kmeans: [0-9,]+ cycles (lost|saved) under ")))
      << "a sentence for each workload";
  EXPECT_TRUE(contains(page.dom, " in the geometric mean (published: 1.100)"));
  EXPECT_TRUE(contains(page.dom, "data-scatter=\"speedup\""));
  EXPECT_TRUE(contains(page.dom, "against 3 published values, the mean error is "));
  // The mean is the first of a figure's groups, and the first row of its table.
  const size_t figure = page.dom.find("data-figure=\"speedup\"");
  EXPECT_LT(page.dom.find(">geometric mean</text>", figure), page.dom.find(">fma</text>", figure));
  EXPECT_LT(page.dom.find("<td class=\"text\">geometric mean</td>", figure),
            page.dom.find("<td class=\"text\">fma</td>", figure));
  EXPECT_TRUE(contains(page.dom, "stack.sm_warps [warps]")) << "axes have units";
  EXPECT_TRUE(std::regex_search(view("#workloads").dom, std::regex("<th[^>]*>tom</th>")))
      << "speed-ups by policy";
}

TEST_F(Report, AllPublishedValuesStandTogether) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  EXPECT_FALSE(contains(view("").dom, "id=\"published\"")) << "one figure has it by itself";
  std::string more = kSmallExperiment;
  const std::string traffic = "title = \"Traffic\"\n";
  more.insert(more.find(traffic) + traffic.size(),
              "published = [{x = \"kmeans\", series = \"tom\", value = 7, source = \"a\"},\n"
              "{x = \"kmeans\", series = \"tom\", part = \"RX\", value = 2, source = \"b\"}]\n");
  write_text(folder_.file("small.toml"), more);
  const Outcome outcome = run_program(
      {"experiment", folder_.file("small.toml"), "--out", folder_.file("x"), "--no-run"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* suffix : {"", "?theme=dark", "?paper"}) {
    const PageView page = view(suffix);
    expect_no_error(page);
    const size_t at = page.dom.find("id=\"published\"");
    ASSERT_NE(at, std::string::npos) << suffix;
    const std::string section = page.dom.substr(at, page.dom.find("</section>", at) - at);
    EXPECT_TRUE(contains(section, "The mean error of 5 values is ")) << suffix;
    EXPECT_TRUE(contains(section, "data-scatter=\"all\"")) << suffix;
    EXPECT_EQ(count(section, "data-mark=\"\""), 3u) << "bytes are no multiples";
    EXPECT_TRUE(contains(section, "<td class=\"text\">tom, RX</td>")) << section;
  }
}

TEST_F(Report, PoliciesChangesAreDividedOnTheWorkloadsPage) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  std::string html = read_text(folder_.file("x/report.html"));
  html.replace(html.rfind("</body>"), 7, R"(<script>
addEventListener("load", () => setTimeout(() => {
  for (const details of document.querySelectorAll("main details")) details.open = true;
}, 500));
</script></body>)");
  write_text(folder_.file("x/report.html"), html);
  const PageView page = view("#workload/kmeans");
  expect_no_error(page);
  EXPECT_TRUE(contains(page.dom, "What policies change"));
  EXPECT_TRUE(contains(page.dom, "<td class=\"text\">wait for offloaded work</td>"));
  EXPECT_TRUE(contains(page.dom, "<td class=\"text\">\u2003remote lines</td>"));
  EXPECT_TRUE(contains(page.dom, "<td class=\"text\">\u2003banks</td>"));
  EXPECT_TRUE(contains(page.dom, "<td class=\"text\">kmeans_assign</td>"));
}

TEST_F(Report, PaperHasAllOfIt) {
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (tools/setup --browser)";
  const std::string screen = view("").dom, paper = view("?paper").dom;
  // Paper has every mark of the screen, figures no wider than A4, and all tables open.
  EXPECT_EQ(count(paper, "data-mark=\"\""), count(screen, "data-mark=\"\""));
  const std::regex width("<svg[^>]* width=\"([0-9.]+)\"");
  size_t svgs = 0;
  for (std::sregex_iterator i(paper.begin(), paper.end(), width), end; i != end; ++i, ++svgs)
    EXPECT_LE(std::stod((*i)[1]), 700) << "190 mm";
  EXPECT_GE(svgs, 5u);
  const std::string main =
      paper.substr(paper.find("<main"), paper.find("</main>") - paper.find("<main"));
  EXPECT_EQ(count(main, "<details>"), 0u) << "they are <details open=\"\">";
  EXPECT_GE(count(main, "<details open"), 4u);
}

}  // namespace
}  // namespace nearwarp::testing
