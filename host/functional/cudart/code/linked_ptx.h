// PTX of several translation units in one text: what linking at run time gives, and what can be
// loaded where one text can.
#pragma once

#include <string>
#include <vector>

namespace nearwarp::cudart {

std::string join_ptx(const std::vector<std::string>& units);
/// The units again; a text that join_ptx() did not make is one.
std::vector<std::string> split_ptx(const std::string& text);

}  // namespace nearwarp::cudart
