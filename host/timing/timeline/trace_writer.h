// Writes the trace event format (JSON) that Perfetto and chrome://tracing open, event by event.
//
// The file is an array that may lack its end: whatever ends the program, the file can be opened, as
// events are handed to the system whole. A nanosecond of the format is a core cycle here.
//
// Source: "Trace Event Format", Google, 2016.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace nearwarp::timeline {

/// Value of one series of a counter, in hundredths.
struct Sample {
  const char* series;
  uint64_t hundredths;
};

class TraceWriter {
 public:
  /// Throws nearwarp::Error if the file cannot be written, as all functions below.
  explicit TraceWriter(const std::string& path);

  /// Names for what events are sorted under; processes come in the order of `place`.
  void process(uint32_t pid, std::string_view name, uint32_t place);
  void thread(uint32_t pid, uint32_t tid, std::string_view name);

  /// From `cycle` on series of the counter have these values.
  void counter(uint32_t pid, std::string_view name, uint64_t cycle,
               std::span<const Sample> samples);
  /// [begin, end), on a thread. `detail`: what is shown of it when it is chosen; may be empty.
  void span(uint32_t pid, uint32_t tid, std::string_view name, uint64_t begin, uint64_t end,
            std::string_view detail = {});
  /// An arrow from the span on a thread at one moment to the span on another at a later one.
  void arrow(uint64_t id, uint32_t from_pid, uint32_t from_tid, uint64_t from_cycle,
             uint32_t to_pid, uint32_t to_tid, uint64_t to_cycle);

  /// Hand everything to the system.
  void flush();
  /// The array's end; nothing more is written.
  void close();
  uint64_t bytes() const { return bytes_ + buffer_.size(); }

 private:
  void write(std::string_view event);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string buffer_;
  uint64_t bytes_ = 0;  ///< handed over
  bool first_ = true;
};

}  // namespace nearwarp::timeline
