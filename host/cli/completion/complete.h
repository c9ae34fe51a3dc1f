// What a word of a command line could become, for shells.
#pragma once

#include "host/cli/options.h"

namespace nearwarp::cli {

struct Completion {
  std::vector<Candidate> candidates;  ///< whole words, which begin with what has been typed
  bool files = false;                 ///< names of files may stand there, too
};

/// Of the last of `words`, which may be empty; the first of them is the command's name. What is
/// wrong with the others is nobody's concern here.
Completion complete(const Words& words);

}  // namespace nearwarp::cli
