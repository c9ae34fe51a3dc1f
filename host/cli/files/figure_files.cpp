// Writes an experiment's figures as files for papers. A browser draws them, as it does in the
// report.
#include "host/cli/files/figure_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "host/cli/programs/program_output.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/core/temporary_folder.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBrowsers[] = {"chromium", "chromium-browser", "google-chrome"};
/// Pixels of a PNG for each pixel of the SVG: 300 per inch in place of a screen's 96.
constexpr double kScale = 3.125;

/// The URL of a file. Characters that would mean something in a URL are escaped.
std::string address_of(const fs::path& file) {
  std::string address = "file://";
  for (const char c : fs::absolute(file).string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '-' || c == '_' || c == '.' || c == '~';
    address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

std::string browse(const std::string& browser, const Words& options, const std::string& address) {
  const TemporaryFolder profile;
  Words words = {browser,
                 "--headless",
                 "--no-sandbox",  // root cannot have one, and the page is our own
                 "--disable-gpu",
                 "--disable-dev-shm-usage",
                 "--disable-background-networking",
                 "--no-first-run",
                 "--hide-scrollbars",
                 "--virtual-time-budget=10000",
                 "--user-data-dir=" + profile.path().string()};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(address);
  const ProgramOutput output = output_of(words, true);
  if (output.status == 0) return output.out;
  throw Error(fmt::format("{} could not draw {}: exit code {}{}", browser, address, output.status,
                          output.err.empty() ? "" : ", '" + output.err.substr(0, 500) + "'"));
}

/// Replaces HTML's entities by their characters.
std::string unescaped(std::string_view html) {
  static constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&nbsp;", "\u00a0"}, {"&amp;", "&"}};
  std::string text;
  while (!html.empty()) {
    std::string_view from = html.substr(0, 1), to = from;
    for (const auto& [entity, character] : kEntities)
      if (html.starts_with(entity)) from = entity, to = character;
    text += to;
    html.remove_prefix(from.size());
  }
  return text;
}

/// The value of an attribute of the text's first element, in whole pixels.
unsigned size_in(const std::string& svg, const std::string& name) {
  const size_t at = svg.find(" " + name + "=\"");
  return at == std::string::npos
             ? 0
             : static_cast<unsigned>(std::strtod(svg.c_str() + at + name.size() + 3, nullptr) + 1);
}

/// Writes a PDF of one page as large as the figure, of lines and letters instead of pixels.
void write_pdf(const FigureFiles& files, const std::string& svg, const fs::path& base) {
  const TemporaryFolder folder;
  const fs::path page = folder.path() / "figure.html";
  report::write_file(
      page.string(),
      fmt::format("<!doctype html><meta charset=\"utf-8\"><style>@page {{ size: {}px {}px; margin: "
                  "0 }} body {{ margin: 0 }} svg {{ display: block }}</style>{}",
                  size_in(svg, "width"), size_in(svg, "height") + 1, svg));
  browse(files.browser,
         {"--print-to-pdf=" + fs::absolute(base).string() + ".pdf", "--no-pdf-header-footer"},
         address_of(page));
}

}  // namespace

void declare_figure_files(CommandLine& line) {
  line.value("figures", "also write each figure as a file; Chromium draws them", "svg,png,pdf");
  line.offer("figures", {"svg", "png", "pdf"});
  line.value("figure-columns", "as wide as 1 or 2 columns of a paper (3.33 or 7 inches)", "N", "2");
  line.value("figure-type", "size of type in them, in points", "N", "8");
}

FigureFiles figure_files(const CommandLine& line) {
  FigureFiles files;
  files.columns = static_cast<unsigned>(line.number("figure-columns", 1, 2));
  files.points = static_cast<unsigned>(line.number("figure-type", 4, 24));
  for (const std::string& kind : split_commas(line.text("figures"))) {
    if (kind != "svg" && kind != "png" && kind != "pdf")
      throw UsageError(fmt::format("--figures cannot be '{}'{}", kind,
                                   config::suggestion(kind, {"svg", "png", "pdf"})));
    (kind == "svg" ? files.svg : kind == "png" ? files.png : files.pdf) = true;
  }
  if (!files.wanted()) return files;
  for (const char* name : kBrowsers)
    if (files.browser.empty() && is_on_path(name)) files.browser = name;
  if (files.browser.empty()) {
    throw Error(
        "--figures needs Chromium or Chrome, which draws them as the report's, and there is none "
        "on PATH (chromium, chromium-browser or google-chrome; Debian's package is chromium) - "
        "without it, the report's buttons save them");
  }
  return files;
}

void write_figure_files(const FigureFiles& files, const std::string& folder) {
  const std::string page =
      browse(files.browser, {"--dump-dom", "--window-size=1280,900"},
             address_of(fs::path(folder) / "report.html") +
                 fmt::format("?columns={}&points={}#files", files.columns, files.points));
  const std::string mark = "<pre data-file=\"", end = "</pre>";
  if (page.find("data-errors=\"0\"") == std::string::npos)
    throw Error(
        fmt::format("{} did not draw '{}/report.html' - open it to see", files.browser, folder));
  for (size_t at = 0; (at = page.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    const size_t name_end = page.find("\">", at), text_end = page.find(end, at);
    if (name_end == std::string::npos || text_end == std::string::npos) break;
    const fs::path base = fs::path(folder) / "figures" / page.substr(at, name_end - at);
    const std::string svg =
        unescaped(std::string_view(page).substr(name_end + 2, text_end - name_end - 2));
    at = text_end;
    const std::string file = base.string() + ".svg";
    report::write_file(file, svg + "\n");
    if (files.pdf) write_pdf(files, svg, base);
    if (files.png)
      browse(files.browser,
             {"--screenshot=" + fs::absolute(base).string() + ".png",
              fmt::format("--window-size={},{}", size_in(svg, "width"), size_in(svg, "height")),
              fmt::format("--force-device-scale-factor={}", kScale)},
             address_of(file));
    if (!files.svg) fs::remove(file);
  }
}

}  // namespace nearwarp::cli
