// A headless Chromium, if there is one.
#pragma once

#include <string>

namespace nearwarp::testing {

/// Path of the browser; empty if none is installed.
std::string find_browser();

struct PageView {
  std::string dom;  ///< after its scripts have run
  std::string log;  ///< what the browser wrote to standard error, the page's console included
};

/// Opens a file, or an address, in a window of this width; `suffix` goes behind its address, e.g.
/// "#configuration". `folder` is for the browser's own files.
PageView view_page(const std::string& browser, const std::string& file, const std::string& suffix,
                   unsigned width, const std::string& folder);

}  // namespace nearwarp::testing
