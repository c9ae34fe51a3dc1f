// An experiment's figures as files of their own, for papers: a browser draws them, as the report's.
#pragma once

#include <string>
#include <vector>

#include "host/cli/options.h"

namespace nearwarp::cli {

/// Which kinds of files, and what makes them.
struct FigureFiles {
  bool svg = false, png = false;
  std::string browser;  ///< path; empty if no files are wanted

  bool wanted() const { return svg || png; }
};

/// Understands "svg", "png" or both. Throws UsageError, and nearwarp::Error if there is no browser.
FigureFiles figure_files(const std::string& kinds);

/// Writes FOLDER/figures/NAME.svg and .png of all figures of FOLDER/report.html that have numbers.
/// Throws nearwarp::Error if the browser fails.
void write_figure_files(const FigureFiles& files, const std::string& folder);

}  // namespace nearwarp::cli
