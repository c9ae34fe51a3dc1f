#include "host/cli/files/result_files.h"

#include "host/timing/report/csv.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {

void ResultFiles::declare(CommandLine& line, const std::string& page, const std::string& row) {
  line.value("json", "write everything to this file (" + page + ")", "FILE");
  line.value("csv", "write the numbers to this file, a row per " + row, "FILE");
}

ResultFiles ResultFiles::of(const CommandLine& line) {
  const ResultFiles files{line.text("json"), line.text("csv")};
  if (!files.json.empty()) report::check_writable(files.json);
  if (!files.csv.empty()) report::check_writable(files.csv);
  return files;
}

void ResultFiles::write(const std::string& document, const char* rows) const {
  if (!json.empty()) report::write_file(json, document);
  if (!csv.empty()) report::write_file(csv, report::csv_text(document, rows));
}

}  // namespace nearwarp::cli
