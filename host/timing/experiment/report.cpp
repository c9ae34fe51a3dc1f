// Makes the report of an experiment, one HTML file.
#include "host/timing/experiment/report.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "host/core/json_as_text.h"

namespace nearwarp::experiment {

namespace page {
// The text files of the folder page/ are embedded at build time.
extern const char* const html;
extern const char* const style;
extern const char* const d3;
extern const char* const plot;
extern const char* const licences;
// The next ones are the parts of the script, in the order in which they are executed.
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

/// Replace the first `place` in a text.
void put(std::string& text, std::string_view place, std::string_view what) {
  const size_t at = text.find(place);
  if (at != std::string::npos) text.replace(at, place.size(), what);
}

/// A text as content of an HTML element.
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

/// JSON as content of a script element, without "<", since "</script" would end the element and
/// "<!--<script" would hide its end. JSON has "<" in texts alone, where it can be escaped.
std::string for_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
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
  std::string text = page::html;
  put(text, "@TITLE@", escaped(document.at("title").get<std::string>()));
  put(text, "@STYLE@", page::style);
  put(text, "@LICENCES@", escaped(page::licences));
  put(text, "@D3@", page::d3);
  put(text, "@PLOT@", page::plot);
  put(text, "@SCRIPT@", script());
  // The document comes last, so that its texts are not searched for places.
  put(text, "@DATA@", for_script(json_as_text(document)));
  return text;
}

}  // namespace nearwarp::experiment
