// An experiment's figures as files of their own, for papers: a browser draws them, as the report's.
#pragma once

#include <string>
#include <vector>

#include "host/cli/options.h"

namespace nearwarp::cli {

/// Which kinds of files, and what makes them.
struct FigureFiles {
  bool svg = false, png = false, pdf = false;
  unsigned columns = 2;  ///< of a paper, that a figure is as wide as
  unsigned points = 8;   ///< size of type
  std::string browser;   ///< path; empty if no files are wanted

  bool wanted() const { return svg || png || pdf; }
};

/// Declares --figures, --figure-columns and --figure-type.
void declare_figure_files(CommandLine& line);

/// Their values. Throws UsageError, and nearwarp::Error if there is no browser.
FigureFiles figure_files(const CommandLine& line);

/// Writes FOLDER/figures/NAME.svg, .png and .pdf of all figures of FOLDER/report.html that have
/// numbers. Throws nearwarp::Error if the browser fails.
void write_figure_files(const FigureFiles& files, const std::string& folder);

}  // namespace nearwarp::cli
