// Writes the trace event format (JSON) that Perfetto and chrome://tracing open, event by event.
#include "host/timing/timeline/trace_writer.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "host/core/error_parts.h"
#include "host/core/json_as_text.h"

namespace nearwarp::timeline {

namespace {

/// Handed to the system when there is as much, at an event's end.
constexpr size_t kBuffer = size_t{1} << 16;

/// Microseconds, with a nanosecond for a cycle.
std::string time(uint64_t cycle) { return fmt::format("{}.{:03}", cycle / 1000, cycle % 1000); }

/// A JSON string, with quotation marks. Names of kernels and files may hold anything.
std::string quoted(std::string_view text) {
  return json_as_text(nlohmann::json(std::string(text)));
}

}  // namespace

TraceWriter::TraceWriter(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "wb")), buffer_("[\n") {
  if (file_ == nullptr)
    throw file_error(path, fmt::format("'{}' cannot be written: {}", path, std::strerror(errno)));
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // events are handed over whole
}

void TraceWriter::write(std::string_view event) {
  if (!first_) buffer_ += ",\n";
  first_ = false;
  buffer_ += event;
  if (buffer_.size() >= kBuffer) flush();
}

void TraceWriter::flush() {
  if (file_ == nullptr) return;
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size())
    throw file_error(path_, fmt::format("'{}' cannot be written: {}", path_, std::strerror(errno)));
  bytes_ += buffer_.size();
  buffer_.clear();
}

void TraceWriter::close() {
  if (file_ == nullptr) return;
  buffer_ += "\n]\n";
  flush();
  if (std::fclose(file_.release()) != 0)
    throw file_error(path_, fmt::format("'{}' cannot be written: {}", path_, std::strerror(errno)));
}

void TraceWriter::process(uint32_t pid, std::string_view name, uint32_t place) {
  write(fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid,
                    quoted(name)));
  write(
      fmt::format(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})",
                  pid, place));
}

void TraceWriter::thread(uint32_t pid, uint32_t tid, std::string_view name) {
  write(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
                    pid, tid, quoted(name)));
}

void TraceWriter::counter(uint32_t pid, std::string_view name, uint64_t cycle,
                          std::span<const Sample> samples) {
  std::string args;
  for (const Sample& s : samples)
    args += fmt::format(R"({}"{}":{}.{:02})", args.empty() ? "" : ",", s.series, s.hundredths / 100,
                        s.hundredths % 100);
  write(fmt::format(R"({{"ph":"C","pid":{},"name":{},"ts":{},"args":{{{}}}}})", pid, quoted(name),
                    time(cycle), args));
}

void TraceWriter::span(uint32_t pid, uint32_t tid, std::string_view name, uint64_t begin,
                       uint64_t end, std::string_view detail) {
  const std::string args =
      detail.empty() ? "" : fmt::format(R"(,"args":{{"detail":{}}})", quoted(detail));
  write(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{},"dur":{}{}}})", pid, tid,
                    quoted(name), time(begin), time(end - begin), args));
}

void TraceWriter::arrow(uint64_t id, uint32_t from_pid, uint32_t from_tid, uint64_t from_cycle,
                        uint32_t to_pid, uint32_t to_tid, uint64_t to_cycle) {
  constexpr const char* kEnd =
      R"({{"ph":"{}","cat":"offload","name":"offload","id":{},"pid":{},"tid":{},"ts":{}{}}})";
  write(fmt::format(kEnd, "s", id, from_pid, from_tid, time(from_cycle), ""));
  write(fmt::format(kEnd, "f", id, to_pid, to_tid, time(to_cycle), R"(,"bp":"e")"));
}

}  // namespace nearwarp::timeline
