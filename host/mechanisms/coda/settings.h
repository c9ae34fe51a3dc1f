// How a policy sets CODA; keys.cpp says what each key means.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::coda {

struct PageSettings {            // [pages]; CODA, section 4.3
  std::string chunk = "blocks";  ///< "blocks" or "page": whether Eq. (2) is bounded by a page
  std::string strides = "both";  ///< "both", "code" or "traces": where B comes from
  /// "known", "cgp" or "fgp": where a page lies before its first touch
  std::string before_touch = "known";
  std::string units = "machine";  ///< "machine" or "objects": near-bank units of an object's lines
  uint32_t local_percent = 50;    ///< of an object's accesses must be local for it to be localised
};

}  // namespace nearwarp::coda
