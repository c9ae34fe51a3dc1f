// Does a page hold its document, whatever texts are in it?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "host/timing/experiment/report.h"

namespace nearwarp::experiment {
namespace {

TEST(ReportHtml, TextsNeitherEndNorHideTheScript) {
  nlohmann::ordered_json document;
  for (const char* title : {"</script>", "<!--<script>", "a < b & c"}) {
    document["title"] = title;
    const std::string html = report_html(document);
    const std::string begin = "id=\"data\">";
    const size_t at = html.find(begin);
    ASSERT_NE(at, std::string::npos);
    const size_t from = at + begin.size();
    const std::string data = html.substr(from, html.find("</script>", from) - from);
    EXPECT_EQ(data.find('<'), std::string::npos) << data;
    EXPECT_EQ(nlohmann::ordered_json::parse(data), document);
  }
}

}  // namespace
}  // namespace nearwarp::experiment
