// The report: one HTML file.
#include "host/timing/experiment/report.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace nearwarp::experiment {

namespace page {
// Text files of the folder page/, embedded at build time.
extern const char* const html;
extern const char* const style;
extern const char* const d3;
extern const char* const plot;
extern const char* const licences;
// Parts of the script, in the order in which they are executed.
extern const char* const elements;
extern const char* const drawing;
extern const char* const charts;
extern const char* const figures;
extern const char* const pages;
extern const char* const runs;
extern const char* const overview;
extern const char* const navigation;
}  // namespace page

namespace {

void put(std::string& text, std::string_view place, std::string_view what) {
  const size_t at = text.find(place);
  if (at != std::string::npos) text.replace(at, place.size(), what);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// JSON inside of a script element must not end it.
std::string for_script(std::string text) {
  for (size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.replace(at, 2, "<\\/");
  return text;
}

/// The body of the page's script, which is one function.
std::string script() {
  std::string text;
  for (const char* part : {page::elements, page::drawing, page::charts, page::figures, page::pages,
                           page::runs, page::overview, page::navigation})
    text += part;
  return text;
}

}  // namespace

std::string report_html(const nlohmann::ordered_json& document) {
  using Json = nlohmann::ordered_json;
  std::string text = page::html;
  put(text, "@TITLE@", escaped(document.at("title").get<std::string>()));
  put(text, "@STYLE@", page::style);
  put(text, "@LICENCES@", escaped(page::licences));
  put(text, "@D3@", page::d3);
  put(text, "@PLOT@", page::plot);
  put(text, "@SCRIPT@", script());
  // Last: what it holds is not searched for places.
  put(text, "@DATA@", for_script(document.dump(-1, ' ', false, Json::error_handler_t::replace)));
  return text;
}

}  // namespace nearwarp::experiment
