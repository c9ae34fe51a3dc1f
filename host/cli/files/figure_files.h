// Writes an experiment's figures as files for papers. A browser draws them, as it does in the
// report.
#pragma once

#include <string>
#include <vector>

#include "host/cli/options.h"

namespace nearwarp::cli {

/// The kinds of files to write, the size of figures, and the browser that draws them.
struct FigureFiles {
  bool svg = false, png = false, pdf = false;
  unsigned columns = 2;  ///< columns of a paper that a figure fills
  unsigned points = 8;   ///< size of type, in points
  std::string browser;   ///< path; empty if no files are wanted

  bool wanted() const { return svg || png || pdf; }
};

/// Declares --figures, --figure-columns and --figure-type.
void declare_figure_files(CommandLine& line);

/// The values of these options. Throws UsageError, and nearwarp::Error if there is no browser.
FigureFiles figure_files(const CommandLine& line);

/// Writes FOLDER/figures/NAME.svg, .png and .pdf of all figures of FOLDER/report.html that have
/// numbers. Throws nearwarp::Error if the browser fails.
void write_figure_files(const FigureFiles& files, const std::string& folder);

}  // namespace nearwarp::cli
