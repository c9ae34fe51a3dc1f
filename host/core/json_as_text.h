// JSON documents as text.
#pragma once

#include <string>

namespace nearwarp {

/// The text of an nlohmann::json or ordered_json, without a line feed at its end; `indent` as of
/// its dump(): blanks a level, or all in one line for -1. Names of files may have bytes that are
/// not UTF-8. These are replaced, so that nothing is thrown.
template <class Json>
std::string json_as_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace nearwarp
