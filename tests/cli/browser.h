// Runs a headless Chromium, if one is installed.
#pragma once

#include <string>

namespace nearwarp::testing {

/// Path of the browser; empty if none is installed.
std::string find_browser();

struct PageView {
  std::string dom;  ///< the document after its scripts have run
  std::string log;  ///< what the browser wrote to standard error, the page's console included
};

/// Opens a file, or an address, in a window of this width; `suffix` goes behind its address, e.g.
/// "#configuration". `folder` is for the browser's own files.
PageView view_page(const std::string& browser, const std::string& file, const std::string& suffix,
                   unsigned width, const std::string& folder);

/// Opens a file in a frame of this width, such as a telephone's: windows cannot be so narrow.
/// `script`, a function's body, may ask `page`, the file's document, and returns an object, whose
/// members are written as "name: value;" in a line of `dom`.
PageView view_frame(const std::string& browser, const std::string& file, const std::string& suffix,
                    unsigned width, const std::string& script, const std::string& folder);

/// Prints a file to a PDF. Returns whether there is one.
bool print_page(const std::string& browser, const std::string& file, const std::string& suffix,
                const std::string& pdf, const std::string& folder);

}  // namespace nearwarp::testing
