// Comments of configuration files: all that they say beside their values, whose sources they name.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace nearwarp::config {

/// The comments on one key or section.
struct Remark {
  std::vector<std::string> before;  ///< comment lines above it, without "# "
  std::string behind;               ///< comment in its line, without "# "
  std::string value;                ///< of a key, as in the file; empty: a section
};

struct FileComments {
  std::vector<std::string> head;          ///< comment lines at the file's top, which are of it all
  std::map<std::string, Remark> by_path;  ///< keys and sections by dotted path
};

/// Reads a file that loads as TOML. Throws nearwarp::Error if it cannot be read.
FileComments read_comments(const std::string& path);

}  // namespace nearwarp::config
