// Makes folders that options name.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "host/core/error_parts.h"

namespace nearwarp {

/// Makes the folder that an option names, if it is not there. Throws nearwarp::Error.
inline void make_folder(const std::string& folder, const std::string& option) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw file_error(folder, "cannot make the folder '" + folder + "': " + failed.message(),
                     "choose another " + option);
}

}  // namespace nearwarp
