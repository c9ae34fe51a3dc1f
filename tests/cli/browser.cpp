// Runs a headless Chromium, if one is installed.
#include "tests/cli/browser.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/cli/program.h"

namespace nearwarp::testing {

namespace fs = std::filesystem;

std::string find_browser() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (const fs::path file = fs::path(folder) / name; fs::exists(file)) return file;
  return "";
}

namespace {

/// The browser's command line for the page at `file` and `suffix`, with options that all uses need.
std::string browser_command(const std::string& browser, const std::string& file,
                            const std::string& suffix, const std::string& flags,
                            const std::string& folder) {
  const std::string profile = folder + "/profile";
  fs::remove_all(profile);
  std::string command = "timeout 100 '" + browser + "'";
  for (const char* flag :
       {"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr",
        "--virtual-time-budget=10000"})
    command += std::string(" ") + flag;
  return command + " " + flags + " --user-data-dir='" + profile + "' '" +
         (file.find("://") == file.npos ? "file://" : "") + file + suffix + "' 2> '" + folder +
         "/browser.log'";
}

PageView dump(const std::string& command, const std::string& folder) {
  PageView view;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return view;
  char text[65536];
  for (size_t n = 0; (n = fread(text, 1, sizeof text, pipe)) > 0;) view.dom.append(text, n);
  pclose(pipe);
  view.log = read_text(folder + "/browser.log");
  return view;
}

}  // namespace

PageView view_page(const std::string& browser, const std::string& file, const std::string& suffix,
                   unsigned width, const std::string& folder) {
  return dump(browser_command(browser, file, suffix,
                              "--dump-dom --window-size=" + std::to_string(width) + ",900", folder),
              folder);
}

PageView view_frame(const std::string& browser, const std::string& file, const std::string& suffix,
                    unsigned width, const std::string& script, const std::string& folder) {
  const std::string frame = folder + "/frame.html";
  write_text(frame, "<body><iframe src=\"file://" + file + suffix +
                        "\" style=\"border:0;height:800px;width:" + std::to_string(width) +
                        "px\"></iframe><script>\nconst ask = (page) => {" + script +
                        "};\naddEventListener(\"load\", () => setTimeout(() => {\n"
                        "const said = ask(document.querySelector(\"iframe\").contentDocument);\n"
                        "document.body.append(Object.entries(said).map(([name, value]) =>"
                        " `${name}: ${value};`).join(\" \"));\n}, 1000));\n</script></body>");
  return dump(
      browser_command(browser, frame, "",
                      "--dump-dom --allow-file-access-from-files --window-size=1280,900", folder),
      folder);
}

bool print_page(const std::string& browser, const std::string& file, const std::string& suffix,
                const std::string& pdf, const std::string& folder) {
  const std::string command = browser_command(
      browser, file, suffix, "--no-pdf-header-footer --print-to-pdf='" + pdf + "'", folder);
  return std::system((command + " > /dev/null").c_str()) == 0 && fs::exists(pdf);
}

}  // namespace nearwarp::testing
