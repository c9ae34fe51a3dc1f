// Completion of a command line's word, for shells.
#pragma once

#include "host/cli/options.h"

namespace nearwarp::cli {

struct Completion {
  std::vector<Candidate> candidates;  ///< whole words, which begin with what has been typed
  bool files = false;                 ///< names of files may stand there, too,
  std::string before_files = {};      ///< behind this beginning of what has been typed
};

/// Completes the last of `words`, which may be empty; the first is the command's name. Mistakes in
/// the other words are ignored.
Completion complete(const Words& words);

}  // namespace nearwarp::cli
