// Are the forms of PTX that the table names decoded or refused as it says, and has the page it?
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "host/functional/ptx/mnemonic.h"

namespace nearwarp::ptx {
namespace {

std::string file(const std::string& path) {
  std::ifstream in(NW_SOURCE_DIR "/" + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Forms, AreDecodedOrRefusedByName) {
  std::istringstream lines(file("tests/ptx/forms.tsv"));
  const std::string page = file("docs/ptx.md");
  size_t forms = 0, refused = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    const std::string form = line.substr(0, tab), outcome = line.substr(tab + 1);
    const Mnemonic m = decode_mnemonic(form);
    ++forms;
    if (outcome == "runs") {
      EXPECT_EQ(m.problem, "") << form;
    } else {
      ++refused;
      EXPECT_NE(m.problem.find(outcome), std::string::npos) << form << ": " << m.problem;
    }
    const std::string row = "| `" + form + "` | " + (outcome == "runs" ? "runs" : "refused") + " |";
    EXPECT_NE(page.find(row), std::string::npos) << "docs/ptx.md lacks " << row;
  }
  EXPECT_GT(forms, 60u);
  EXPECT_GT(refused, 5u);
}

}  // namespace
}  // namespace nearwarp::ptx
