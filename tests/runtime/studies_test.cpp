// Is an analysis of a recording made once for all that ask the same?
#include "host/recording/studies.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nearwarp::testing::studies_test {
namespace {

TEST(Studies, OneAnswerForEachQuestion) {
  runtime::Studies studies;
  int asked = 0;
  const auto answer = [&] { return ++asked; };
  EXPECT_EQ(*studies.of<int>("a", answer), 1);
  EXPECT_EQ(*studies.of<int>("b", answer), 2);
  EXPECT_EQ(*studies.of<int>("a", answer), 1);
  EXPECT_EQ(studies.made(), 2u);
}

TEST(Studies, ThreadsThatAskAtTheSameTimeWaitForOne) {
  runtime::Studies studies;
  std::atomic<int> made = 0;
  std::vector<std::shared_ptr<const std::string>> got(8);
  std::vector<std::thread> threads;
  for (auto& place : got)
    threads.emplace_back([&] {
      place = studies.of<std::string>("a", [&] {
        made += 1;
        std::this_thread::yield();
        return std::string("found");
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  for (const auto& place : got) EXPECT_EQ(place, got[0]);
}

TEST(Studies, FailureIsPassedOnAndTriedAgain) {
  runtime::Studies studies;
  EXPECT_THROW(studies.of<int>("a", []() -> int { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(studies.made(), 0u);
  EXPECT_EQ(*studies.of<int>("a", [] { return 3; }), 3);
}

TEST(Studies, TheOldestAreForgotten) {
  runtime::Studies studies;
  int asked = 0;
  const auto answer = [&] { return ++asked; };
  const auto first = studies.of<int>("0", answer);
  for (size_t i = 1; i <= runtime::Studies::kMost; ++i) studies.of<int>(std::to_string(i), answer);
  EXPECT_EQ(*studies.of<int>("1", answer), 2);
  EXPECT_EQ(*studies.of<int>("0", answer), asked);
  EXPECT_GT(asked, int(runtime::Studies::kMost) + 1);
  EXPECT_EQ(*first, 1);  // who has it keeps it
}

}  // namespace
}  // namespace nearwarp::testing::studies_test
