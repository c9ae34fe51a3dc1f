// Writes the trace event format (JSON) that Perfetto and chrome://tracing open, event by event.
//
// The file is an array that may lack its end. Only whole events are handed to the operating system,
// so the file can be opened however the program ended. A nanosecond of the format is a core cycle.
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

/// The value of one series of a counter, in hundredths.
struct Sample {
  const char* series;
  uint64_t hundredths;
};

/// Writes a trace file. All functions throw nearwarp::Error if the file cannot be written.
class TraceWriter {
 public:
  explicit TraceWriter(const std::string& path);

  /// Name a process or a thread, under which events are shown; processes are sorted by `place`.
  void process(uint32_t pid, std::string_view name, uint32_t place);
  void thread(uint32_t pid, uint32_t tid, std::string_view name);

  /// Set the values that series of a counter have from `cycle` on.
  void counter(uint32_t pid, std::string_view name, uint64_t cycle,
               std::span<const Sample> samples);
  /// Write the span [begin, end) of a thread. `detail` is shown when it is selected, and may be
  /// empty.
  void span(uint32_t pid, uint32_t tid, std::string_view name, uint64_t begin, uint64_t end,
            std::string_view detail = {});
  /// Write an arrow from the span on one thread in a cycle to the span on another in a later cycle.
  void arrow(uint64_t id, uint32_t from_pid, uint32_t from_tid, uint64_t from_cycle,
             uint32_t to_pid, uint32_t to_tid, uint64_t to_cycle);

  /// Hand all events to the operating system.
  void flush();
  /// End the array; nothing more is written.
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
  uint64_t bytes_ = 0;  ///< bytes that were handed to the operating system
  bool first_ = true;
};

}  // namespace nearwarp::timeline
