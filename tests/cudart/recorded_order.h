// The order that a recording of this process has for its launches. The process makes one
// recording, which begins with the first test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "host/recording/recording_journal.h"

namespace nearwarp::cudart {

using Indices = std::vector<uint32_t>;

class RecordedOrder : public testing::Test {
 protected:
  RecordedOrder() { journal(); }  // before the library is used
  static void TearDownTestSuite() { std::filesystem::remove(journal()); }

  /// The launches of this test follow.
  void begin() { first_ = static_cast<uint32_t>(all_launches().size()); }

  /// The launches of this test.
  std::vector<runtime::LaunchRecord> launches() const {
    auto all = all_launches();
    all.erase(all.begin(), all.begin() + first_);
    return all;
  }
  /// The launches of this test that each waits for: those that none of the others waits for.
  std::vector<Indices> order() const {
    std::vector<Indices> all;
    std::vector<std::set<uint32_t>> before;
    for (const runtime::LaunchRecord& launch : launches()) {
      Indices after;
      for (uint32_t j = 0; launch.after_all && j < all.size(); ++j) after.push_back(j);
      for (const uint32_t j : launch.after)
        if (j >= first_) after.push_back(j - first_);
      std::set<uint32_t> earlier;
      for (const uint32_t j : after) earlier.insert(before[j].begin(), before[j].end());
      if (launch.after_all) std::erase_if(after, [&](uint32_t j) { return earlier.contains(j); });
      earlier.insert(after.begin(), after.end());
      before.push_back(earlier);
      all.push_back(after);
    }
    return all;
  }

 private:
  /// Kernels `fill_shared` are recorded.
  static const std::string& journal() {
    static const std::string path = [] {
      const std::filesystem::path file =
          std::filesystem::temp_directory_path() / ("nearwarp-order-" + std::to_string(getpid()));
      setenv("NEARWARP_CUDART_RECORD", file.c_str(), 1);
      setenv("NEARWARP_CUDART_KERNELS", "fill_shared", 1);
      return file.string();
    }();
    return path;
  }
  static std::vector<runtime::LaunchRecord> all_launches() {
    return runtime::load_journal(journal()).recording.launches;
  }

  uint32_t first_ = 0;
};

}  // namespace nearwarp::cudart
