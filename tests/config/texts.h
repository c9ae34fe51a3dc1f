// Functions for tests of configurations: texts of files and messages of errors.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "host/config/config.h"
#include "host/core/error.h"

namespace nearwarp::config {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The message of the Error that `action` throws; "" if it throws none.
template <class F>
std::string message_of(F action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

inline std::string override_error(const std::string& text) {
  return message_of([&] { load_machine("tom", std::vector<std::string>{text}); });
}

}  // namespace nearwarp::config
