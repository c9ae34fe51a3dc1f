// Reads the traces of a program, as Accel-Sim's tracer writes them, into a recording.
#include "host/recording/accel_sim/program_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "host/core/error.h"
#include "host/core/file_hash.h"
#include "host/recording/accel_sim/launch_reader.h"
#include "host/recording/accel_sim/tracez_reader.h"
#include "host/recording/launch_order.h"

namespace nearwarp::sass {

namespace fs = std::filesystem;

const char* const kNoOffloading =
    "candidates for offloading are chosen by an analysis of PTX (loops, live registers, conditions "
    "of loops), and a trace of machine instructions has none";

namespace {

/// A kernel and what is counted of it.
struct Entry {
  std::unique_ptr<MachineKernel> kernel;
  KernelSummary summary;
};

std::string_view without_modifiers(std::string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

void count_opcodes(Entry& entry) {
  std::map<std::pair<std::string_view, OpcodeClass>, OpcodeCount> counts;
  uint32_t executed = 0;
  for (const MachineInstruction& in : entry.kernel->instructions()) {
    executed += !in.derived;
    if (in.issued == 0) continue;
    OpcodeCount& c = counts[{without_modifiers(in.line.opcode), in.opcode_class}];
    c.name = without_modifiers(in.line.opcode);
    c.opcode_class = in.opcode_class;
    c.warp_instructions += in.issued;
    c.thread_instructions += in.threads;
  }
  KernelSummary& s = entry.summary;
  s.static_instructions = executed;
  for (auto& [name, count] : counts) s.opcodes.push_back(std::move(count));
  std::stable_sort(s.opcodes.begin(), s.opcodes.end(),
                   [](const OpcodeCount& a, const OpcodeCount& b) {
                     return a.warp_instructions > b.warp_instructions;
                   });
}

/// Finds what kernels of several streams wait for. Traces do not say which streams are blocking, so
/// all are; nor what events and calls of the host order, so more kernels may overlap than did.
class StreamOrder {
 public:
  /// A copy to the device: the tracer writes those that the host waits for.
  void copy() { order_.host_waited(); }
  void launch(uint64_t handle, runtime::LaunchRecord& record) {
    const runtime::LaunchOrder::Work work(order_, stream(handle));
    order_.launched(record);
  }
  size_t streams() const { return streams_.size(); }

 private:
  static constexpr uint64_t kLegacy = 1;  // CU_STREAM_LEGACY; so is 0

  const std::shared_ptr<runtime::LaunchStream>& stream(uint64_t handle) {
    using Kind = runtime::LaunchStream::Kind;
    if (handle == kLegacy) handle = 0;
    auto& s = streams_[handle];
    // Handles of streams are addresses: they get numbers as they come.
    if (s == nullptr && handle != 0)
      s = std::make_shared<runtime::LaunchStream>(Kind::kBlocking, ++created_);
    if (s == nullptr) s = std::make_shared<runtime::LaunchStream>(Kind::kLegacy);
    return s;
  }

  runtime::LaunchOrder order_;
  std::map<uint64_t, std::shared_ptr<runtime::LaunchStream>> streams_;
  uint32_t created_ = 0;
};

/// Reads one program.
class ProgramReader {
 public:
  ProgramReader(TraceList list, const ReadOptions& options)
      : list_(std::move(list)), options_(options), addresses_(list_.copies) {
    program_.recording.traces = runtime::TraceStore(options.traces);
    std::error_code ignored;
    for (const std::string& file : list_.kernels) total_bytes_ += fs::file_size(file, ignored);
  }

  TraceProgram read() {
    const auto start = std::chrono::steady_clock::now();
    runtime::Recording& recording = program_.recording;
    auto copy = list_.copies.begin();
    for (const std::string& file : list_.kernels) {
      for (; copy != list_.copies.end() && copy->kernels_before <= recording.launches.size();
           ++copy)
        order_.copy();
      launch(file);
      std::error_code ignored;
      done_bytes_ += fs::file_size(file, ignored);
    }
    for (Entry& entry : entries_) {
      recording.kernels.push_back(std::make_shared<const compiler::Kernel>(entry.kernel->finish()));
      count_opcodes(entry);
      program_.kernels.push_back(std::move(entry.summary));
    }
    recording.name = list_.path;
    recording.no_offloading = kNoOffloading;
    recording.allocations = addresses_.allocations();
    recording.execution_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    warn();
    return std::move(program_);
  }

 private:
  void launch(const std::string& file) {
    if (file.ends_with(".tracez")) {
      TracezFile traces(file);
      const KernelHeader header = header_of(traces);
      LaunchBuilder builder = builder_of(header);
      add(header, builder,
          read_tracez(
              traces, header, builder, [&](uint64_t at) { progress(at); }, &markers_));
      return;
    }
    LineReader lines(file);
    const KernelHeader header = read_kernel_header(lines);
    LaunchBuilder builder = builder_of(header);
    LaunchReader reader(lines, header, builder);
    const runtime::LaunchRecord record = reader.read([&] { return progress(lines.position()); });
    for (const std::string& marker : reader.markers()) add_once(markers_, marker);
    add(header, builder, record);
  }

  LaunchBuilder builder_of(const KernelHeader& header) {
    return {header, *entry_of(header).kernel, addresses_, program_.recording.traces};
  }

  void add(const KernelHeader& header, const LaunchBuilder& builder,
           const runtime::LaunchRecord& record) {
    runtime::Recording& recording = program_.recording;
    recording.launches.push_back(record);
    recording.launches.back().kernel = index_of_[key(header)];
    order_.launch(header.stream, recording.launches.back());
    recording.warp_instructions += record.warp_instructions;
    recording.thread_instructions += record.thread_instructions;
    Entry& entry = entry_of(header);
    entry.summary.launches += 1;
    entry.summary.thread_blocks += record.blocks_recorded;
    async_ = async_ || header.tracer_version >= kAsyncVersion;
    tries_ += builder.left_out_tries();
    assumed_ += builder.assumed_phases();
    for (const std::string& doubt : header.doubts)
      if (doubts_++ == 0) program_.warnings.push_back(doubt);
  }

  using Key = std::tuple<std::string, uint32_t, uint32_t>;
  static Key key(const KernelHeader& h) { return {h.name, h.registers, h.binary_version}; }

  Entry& entry_of(const KernelHeader& header) {
    const auto next = static_cast<uint32_t>(entries_.size());
    const auto [it, is_new] = index_of_.emplace(key(header), next);
    if (is_new) {
      Entry& e = entries_.emplace_back();
      e.kernel = std::make_unique<MachineKernel>(header.name, header.registers);
      e.summary.name = header.name;
      e.summary.binary_version = header.binary_version;
      e.summary.registers = header.registers;
    }
    return entries_[it->second];
  }

  void progress(uint64_t position) {
    if (options_.progress && !options_.progress(done_bytes_ + position, total_bytes_))
      throw Interrupted(fmt::format("interrupted while '{}' was read", list_.path));
  }

  /// A warning for each kind of instruction that counts as something else than it is.
  void warn() {
    const auto warn_of_lines = [&](const std::vector<std::string>& words, const char* where) {
      if (!words.empty())
        program_.warnings.push_back(fmt::format("lines {} that begin with {} are passed over",
                                                where, fmt::join(words, ", ")));
    };
    warn_of_lines(list_.passed_over, "of the list");
    warn_of_lines(markers_, "between instructions");
    std::map<OpcodeClass, std::map<std::string, uint64_t>> counts;
    for (const KernelSummary& kernel : program_.kernels)
      for (const OpcodeCount& c : kernel.opcodes)
        counts[c.opcode_class][c.name] += c.warp_instructions;
    const auto warn_of = [&](OpcodeClass c, const char* what) {
      const auto it = counts.find(c);
      if (it == counts.end()) return;
      std::string list;
      for (const auto& [name, count] : it->second)
        list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", name, count);
      program_.warnings.push_back(fmt::format("{}: {}", list, what));
    };
    if (doubts_ > 1)
      program_.warnings.push_back(fmt::format("{} more impossible values of headers", doubts_ - 1));
    warn_of(OpcodeClass::kUnknown,
            "not in the table of opcodes; counted as loads where they have addresses, else as "
            "integer additions");
    warn_of(OpcodeClass::kTensor,
            "matrix units are not modelled but for their rate, sm.matrix_products_per_cycle of the "
            "machine; where that is 0, counted as a multiply-add for every 1024 products");
    warn_of(OpcodeClass::kTexture,
            "counted as loads where the trace has addresses, else as reads of constants");
    if (!async_) {
      warn_of(OpcodeClass::kBulkCopy, "bulk copies are not modelled; their traffic is missing");
      warn_of(OpcodeClass::kAsync,
              "waits for asynchronous copies, matrix instructions and other blocks of a cluster "
              "are not modelled; each takes an issue slot");
    }
    if (tries_ != 0)
      program_.warnings.push_back(
          fmt::format("{} tries of waits for mbarriers are left out: a wait takes one", tries_));
    if (assumed_ != 0)
      program_.warnings.push_back(
          fmt::format("{} phases of mbarriers are ended by nothing that the traces have; nobody "
                      "waits for them",
                      assumed_));
    if (order_.streams() > 1)
      program_.warnings.push_back(
          fmt::format("kernels of {} streams may overlap more than they did: traces have neither "
                      "events nor what the host waited for",
                      order_.streams()));
  }

  TraceList list_;
  const ReadOptions& options_;
  AddressSpace addresses_;
  TraceProgram program_;
  std::vector<Entry> entries_;
  std::map<Key, uint32_t> index_of_;
  StreamOrder order_;
  uint64_t doubts_ = 0;
  bool async_ = false;  // of a tracer that tells what is asynchronous
  uint64_t tries_ = 0, assumed_ = 0;
  std::vector<std::string> markers_;  // in kernels' files
  uint64_t done_bytes_ = 0, total_bytes_ = 0;
};

}  // namespace

TraceProgram read_program(const std::string& path, const ReadOptions& options) {
  return ProgramReader(read_trace_list(path), options).read();
}

std::string fingerprint(const std::string& path) {
  const TraceList list = read_trace_list(path);
  std::string text;
  for (const CopyToDevice& c : list.copies) text += fmt::format("{:x} {}\n", c.address, c.bytes);
  for (const std::string& file : list.kernels)
    text += fmt::format("{} {}\n", fs::path(file).filename().string(), file_hash(file));
  return text;
}

}  // namespace nearwarp::sass
