// The files that a command writes its results to besides printing them.
#pragma once

#include <string>

#include "host/cli/options.h"

namespace nearwarp::cli {

struct ResultFiles {
  std::string json, csv;  ///< empty: none

  /// Declare --json and --csv; `page` is where the document is described, `row` what one is of.
  static void declare(CommandLine& line, const std::string& page, const std::string& row);
  /// As given; throws nearwarp::Error if one cannot be written.
  static ResultFiles of(const CommandLine& line);

  bool any() const { return !json.empty() || !csv.empty(); }
  /// `document`: JSON; the elements of its array `rows` are those of the CSV file.
  void write(const std::string& document, const char* rows) const;
};

}  // namespace nearwarp::cli
