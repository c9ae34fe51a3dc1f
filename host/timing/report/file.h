// Writing a file so that it is there whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace nearwarp::report {

/// A file written in parts, to a temporary file beside `path` that commit() renames: an earlier
/// file stays intact until the new one is complete, and nothing half-written is left. Devices and
/// pipes are written directly. Everything throws nearwarp::Error (e.g. when the disk is full).
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter();  ///< without commit(): as if nothing had been written
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  void write(std::string_view text);
  void commit();

 private:
  [[noreturn]] void fail(int error_number);
  std::string path_;
  std::filesystem::path target_, temporary_;  ///< no temporary file: written directly
  int file_ = -1;
};

/// Writes a text that is there as a whole.
void write_file(const std::string& path, std::string_view text);

/// Check beforehand that write_file() has a chance: the folder exists and lets files be made, or
/// the existing file can be replaced. Throws nearwarp::Error.
void check_writable(const std::string& path);

}  // namespace nearwarp::report
