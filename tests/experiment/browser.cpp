// A headless Chromium, if there is one.
#include "tests/experiment/browser.h"

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

PageView view_page(const std::string& browser, const std::string& file, const std::string& suffix,
                   unsigned width, const std::string& folder) {
  const std::string profile = folder + "/profile", log = folder + "/browser.log";
  fs::remove_all(profile);
  std::string command = "timeout 100 '" + browser + "'";
  for (const char* flag :
       {"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--enable-logging=stderr", "--virtual-time-budget=10000",
        "--dump-dom"})
    command += std::string(" ") + flag;
  command += " --window-size=" + std::to_string(width) + ",900 --user-data-dir='" + profile +
             "' '" + (file.find("://") == file.npos ? "file://" : "") + file + suffix + "' 2> '" +
             log + "'";
  PageView view;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return view;
  char text[65536];
  for (size_t n = 0; (n = fread(text, 1, sizeof text, pipe)) > 0;) view.dom.append(text, n);
  pclose(pipe);
  view.log = read_text(log);
  return view;
}

}  // namespace nearwarp::testing
