// Runs another program and takes what it writes.
#pragma once

#include <string>

#include "host/cli/options.h"

namespace nearwarp::cli {

struct ProgramOutput {
  int status = 0;  ///< its exit code; 128 and the signal's number if one ended it
  std::string out, err;
};

/// Runs the program that `words` begin with, from $PATH, and waits for its end. Ctrl-C on the
/// terminal does not reach it; with `may_be_interrupted` it is killed then. Throws nearwarp::Error
/// if it cannot be started.
ProgramOutput output_of(const Words& words, bool may_be_interrupted);

/// Is there such a program on $PATH?
bool is_on_path(const std::string& program);

}  // namespace nearwarp::cli
