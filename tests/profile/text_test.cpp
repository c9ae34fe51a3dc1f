// Do the tables of a profile fit and say what they leave out?
#include <gtest/gtest.h>

#include "host/timing/report/profile.h"

namespace nearwarp::report {
namespace {

Profile example(size_t kernels, size_t lines, const std::string& name) {
  Profile p;
  p.workload = "x";
  p.line_bytes = 128;
  for (size_t k = 0; k < kernels; ++k) {
    ProfileKernel& row = p.kernels.emplace_back();
    row.name = name + std::to_string(k);
    row.launches = 1'000'000;
    row.counts.warp_instructions = 1'000'000'000'000 * (k + 1);
    row.counts.thread_instructions = 31'500'000'000'000 * (k + 1);
    row.counts.loads = {1'000'000'000, 32'000'000'000, 32'000'000'000, 32'000'000'000, 1};
    row.counts.shared.accesses = 7;
    p.launches += row.launches;
    p.all.add(row.counts);
  }
  for (size_t i = 0; i < lines; ++i)
    p.lines.push_back({static_cast<uint32_t>(i % kernels), "a/folder/" + name + ".cu",
                       static_cast<uint32_t>(i + 1), 0, 0, p.kernels[i % kernels].counts});
  return p;
}

size_t longest_line(const std::string& text) {
  size_t longest = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ProfileText, FitsIn80Columns) {
  for (const char* name :
       {"k", "a_kernel_of_some_length", "a_kernel_whose_name_is_longer_than_any_table"})
    for (const size_t kernels : {1u, 2u, 40u})
      EXPECT_LE(longest_line(format_profile(example(kernels, 50, name), 20)), 80u)
          << name << kernels;
}

TEST(ProfileText, SaysWhatItLeavesOut) {
  const std::string text = format_profile(example(40, 50, "k"), 20);
  EXPECT_TRUE(contains(text, "17 other kernels")) << text;
  EXPECT_TRUE(contains(text, "30 more lines (`most`)")) << text;
  EXPECT_FALSE(contains(format_profile(example(2, 20, "k"), 20), "more line"));
  EXPECT_TRUE(contains(format_profile(example(2, 21, "k"), 20), "1 more line ("));
}

TEST(ProfileText, NothingExecutedAndWhatHasNoLines) {
  Profile p;
  p.workload = "nothing";
  EXPECT_EQ(format_profile(p, 20),
            "nothing; 0 warp-instructions in 0 launches, with - active lanes on average\n");
  p = example(1, 0, "k");
  p.lines.push_back({0, "", 0, 12, 0, p.all});
  p.lines.push_back({0, "", 0, 0, 34, p.all});
  p.lines.push_back({0, "", 56, 0, 0, p.all});
  p.truncated = true;
  const std::string text = format_profile(p, 20);
  for (const char* part : {"\nPTX 12 ", "\ninstr. 34 ", "\nline:56 ", "An instruction limit ended"})
    EXPECT_TRUE(contains(text, part)) << text;
}

}  // namespace
}  // namespace nearwarp::report
