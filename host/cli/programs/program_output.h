// Runs another program and collects its output.
#pragma once

#include <string>

#include "host/cli/options.h"

namespace nearwarp::cli {

struct ProgramOutput {
  int status = 0;  ///< exit code, or 128 plus the number of the signal that ended the program
  std::string out, err;
};

/// Runs the program words[0], found on $PATH, with the other words, and waits for its end. Ctrl-C
/// on the terminal does not reach it; with `may_be_interrupted` it is killed then. Throws
/// nearwarp::Error if it cannot be started.
ProgramOutput output_of(const Words& words, bool may_be_interrupted);

/// Whether there is such a program on $PATH.
bool is_on_path(const std::string& program);

}  // namespace nearwarp::cli
