// The files that a command writes its results to besides printing them.
#pragma once

#include <string>

#include "host/cli/options.h"

namespace nearwarp::cli {

struct ResultFiles {
  std::string json, csv;  ///< empty: none

  /// Declare --json and --csv. `page` is the page that describes the JSON document, `row` says what
  /// a row of the CSV file describes.
  static void declare(CommandLine& line, const std::string& page, const std::string& row);
  /// The files given on the command line; throws nearwarp::Error if one of them cannot be written.
  static ResultFiles of(const CommandLine& line);

  bool any() const { return !json.empty() || !csv.empty(); }
  /// Write the JSON `document`, and the elements of its array named `rows` as the CSV file's rows.
  void write(const std::string& document, const char* rows) const;
};

}  // namespace nearwarp::cli
