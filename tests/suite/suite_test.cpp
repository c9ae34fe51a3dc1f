// Do programs of the kinds that people have print what a GPU prints, and end as they do there?
// (table.tsv)
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

struct Row {
  std::string executable, program, kind, arguments, options, exit_code, prints, says;
};

/// Prints a test's parameter in ctest's lists.
void PrintTo(const Row& r, std::ostream* out) {
  *out << r.kind << ": " << r.executable << " " << r.program;
}

std::string unescaped(const std::string& text) {
  std::string lines;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool line = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n';
    lines += line ? '\n' : text[i];
    i += line ? 1 : 0;
  }
  return lines;
}

std::vector<Row> rows() {
  std::ifstream table(std::string(NW_SOURCE_DIR) + "/tests/suite/table.tsv");
  std::vector<Row> all;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    Row r;
    for (std::string* field : {&r.executable, &r.program, &r.kind, &r.arguments, &r.options,
                               &r.exit_code, &r.prints, &r.says})
      std::getline(in, *field, '\t');
    all.push_back(std::move(r));
  }
  return all;
}

Words words_of(const std::string& text) {
  Words words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Programs alone in their executable are some of tests/cudart/apps.
std::string path_of(const Row& r) {
  return std::string(r.program.empty() ? NW_APPLICATIONS : NW_SUITE) + "/" + r.executable;
}

class Suite : public ::testing::TestWithParam<Row> {};

TEST_P(Suite, PrintsAndEndsAsOnAGpu) {
  const Row& row = GetParam();
  if (std::string(NW_SUITE).empty()) GTEST_SKIP() << "there is no nvcc to build it";
  if (row.executable == "nvrtc" && !std::filesystem::exists(path_of(row)))
    GTEST_SKIP() << "this toolkit has no NVRTC";
  const TemporaryFolder folder;
  const std::string trace = folder.file("suite.nwtrace");
  Words words = Words{"record", "--out", trace} + words_of(row.options);
  words.insert(words.end(), {"--", path_of(row)});
  if (!row.program.empty()) words.push_back(row.program);
  const Outcome outcome = run_program(words + words_of(row.arguments));
  // After the application's last line stands what was recorded, if anything was.
  const std::string printed = outcome.out.substr(0, outcome.out.rfind(trace));
  EXPECT_EQ(printed, unescaped(row.prints) + "\n") << outcome.err;
  EXPECT_EQ(outcome.exit_code, std::stoi(row.exit_code)) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, row.says)) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Programs, Suite, ::testing::ValuesIn(rows()), [](const auto& instance) {
  return instance.param.program.empty() ? instance.param.executable : instance.param.program;
});

/// The number after `what` in `text`.
double number_after(const std::string& text, const std::string& what) {
  const size_t at = text.find(what);
  return at == std::string::npos ? std::nan("") : std::stod(text.substr(at + what.size()));
}

TEST(SuiteTraining, AGpt2LearnsOnTheGpuAsOnTheCpu) {
  if (std::string(NW_SUITE).empty()) GTEST_SKIP() << "there is no nvcc to build it";
  const TemporaryFolder folder;
  const std::string app = std::string(NW_SUITE) + "/train_gpt2";
  const Outcome outcome =
      run_program({"record", "--out", folder.file("gpt2.nwtrace"), "--", app, "6"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "the GPU trains as the CPU does\n")) << outcome.out;
  // As likely as any of 128 words at first, and better soon.
  EXPECT_NEAR(number_after(outcome.out, "step 1: loss "), std::log(128.0), 0.05) << outcome.out;
  EXPECT_LT(number_after(outcome.out, "step 6: loss "),
            number_after(outcome.out, "step 1: loss ") - 0.1)
      << outcome.out;
  const Outcome wrong = run_program({"record", "--out", folder.file("x.nwtrace"), "--", app, "0"});
  EXPECT_TRUE(contains(wrong.out, "usage: train_gpt2 [STEPS [CHECKED")) << wrong.out;
}

TEST(SuiteTable, HasForty) {
  EXPECT_GE(rows().size(), 40u);
  for (const Row& r : rows()) {
    EXPECT_FALSE(r.kind.empty() || r.prints.empty()) << r.executable << " " << r.program;
    EXPECT_TRUE(!r.exit_code.empty() && std::isdigit(static_cast<unsigned char>(r.exit_code[0])));
  }
}

}  // namespace
}  // namespace nearwarp::testing
