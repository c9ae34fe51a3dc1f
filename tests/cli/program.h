// Runs the program as a user does, and returns its output and exit code.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace nearwarp::testing {

using Words = std::vector<std::string>;
/// The words of both, in this order.
inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct Outcome {
  int exit_code = -1;  ///< -1: ended by a signal
  int signal = 0;
  std::string out, err;
};

struct Setting {
  std::string stdout_path;          ///< e.g. "/dev/full"; empty: collected in Outcome::out
  bool stdout_closed = false;       ///< the pipe on standard output has no reader
  bool stderr_is_terminal = false;  ///< standard error is a terminal of 80 columns
  /// Called every few milliseconds while the program runs, with what standard error got so far.
  std::function<void(pid_t, const std::string& err)> watch;
};

/// Run `nearwarp` with these words. A program that takes longer than two minutes is killed.
Outcome run_program(const Words& words, const Setting& setting = {});

/// Length of the longest line, in characters (not bytes).
size_t longest_line(const std::string& text);
/// Number of lines.
size_t count_lines(const std::string& text);
bool contains(const std::string& text, const std::string& part);

/// A folder that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ / name; }
  /// Number of entries.
  size_t size() const;

 private:
  std::filesystem::path path_;
};

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

}  // namespace nearwarp::testing
