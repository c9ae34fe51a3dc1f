// Writes and reads journals.
//
// Layout: entries, each a header (mark, type, bytes, hash of the payload) and a payload. The first
// entry has the versions and the program's name.
#include "host/recording/recording_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "host/core/error.h"
#include "host/core/hash.h"
#include "host/recording/chunk_codec.h"
#include "host/recording/recording_archive.h"
#include "host/recording/recording_file.h"
#include "host/recording/spill_file.h"

namespace nearwarp::runtime {

namespace {

constexpr uint32_t kMark = 0x4a574e7e;  // "~NWJ"
constexpr uint32_t kJournalFormat = 5;
// Bytes before a compressed chunk: its numbers of words, of bytes in memory, and of thread blocks.
constexpr uint64_t kChunkPrefix = 24;

enum EntryType : uint32_t {
  kBegin,
  kAllocation,
  kKernel,
  kChunk,
  kSameChunk,  // an earlier chunk again; the payload is its identity
  kLaunch,
  kTruncated,
  kFault,
  kEnd,
  kCalls,
};

struct EntryHeader {
  uint32_t mark = kMark;
  uint32_t type = 0;
  uint64_t bytes = 0;
  uint64_t hash = 0;
};

struct Begin {
  uint32_t journal = kJournalFormat, recording = kRecordingFormat, executor = kExecutorVersion;
  std::string name;
};

uint64_t hash_of(uint32_t type, const std::vector<uint8_t>& payload) {
  return checksum({reinterpret_cast<const char*>(payload.data()), payload.size()}, type);
}

template <class T>
std::vector<uint8_t> packed(const T& value) {
  Writer writer;
  T copy = value;  // io() serves both directions
  io(writer, copy);
  return std::move(writer.out);
}

}  // namespace

template <class A>
void io(A& a, Begin& b) {
  io_all(a, b.journal, b.recording, b.executor, b.name);
}

template <class A>
void io(A& a, CallSummary& c) {
  io_all(a, c.unseen, c.seen, c.launched);
}

struct TimedLaunch {
  LaunchRecord launch;
  double seconds = 0;
};
template <class A>
void io(A& a, TimedLaunch& l) {
  io(a, l.launch);
  io(a, l.seconds);
}

// --- Writing -------------------------------------------------------------------------------------

JournalWriter::JournalWriter(const std::string& path, const std::string& name) : path_(path) {
  fd_ = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ < 0)
    throw Error(fmt::format("cannot write the recording {}: {} - choose a writable folder", path_,
                            std::strerror(errno)));
  Begin begin;
  begin.name = name;
  append(kBegin, packed(begin));
}

JournalWriter::~JournalWriter() {
  if (fd_ >= 0) close(fd_);
}

void JournalWriter::append(uint32_t type, const std::vector<uint8_t>& payload) {
  EntryHeader header;
  header.type = type;
  header.bytes = payload.size();
  header.hash = hash_of(type, payload);
  std::vector<uint8_t> whole(sizeof(header) + payload.size());
  std::memcpy(whole.data(), &header, sizeof(header));
  if (!payload.empty()) std::memcpy(whole.data() + sizeof(header), payload.data(), payload.size());
  for (size_t done = 0; done < whole.size();) {
    const ssize_t n = write(fd_, whole.data() + done, whole.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      throw Error(
          fmt::format("cannot write the recording {}: {} - free some space or use another "
                      "folder ($TMPDIR)",
                      path_, std::strerror(n < 0 ? errno : ENOSPC)));
    done += static_cast<size_t>(n);
  }
}

void JournalWriter::allocation(const Allocation& a) { append(kAllocation, packed(a)); }
void JournalWriter::kernel(const compiler::Kernel& k) { append(kKernel, packed(k)); }
void JournalWriter::chunk(const TraceChunk& chunk) {
  const ChunkIds::Id id = chunks_.of(chunk);
  if (!id.is_new) {
    append(kSameChunk, packed(id.number));
    return;
  }
  const std::vector<uint8_t> data = compress_chunk(chunk);
  std::vector<uint8_t> payload(kChunkPrefix + data.size());
  const uint64_t prefix[3] = {chunk.words.size(), TraceStore::memory_bytes(chunk),
                              chunk.num_blocks};
  static_assert(sizeof(prefix) == kChunkPrefix);
  std::memcpy(payload.data(), prefix, kChunkPrefix);
  std::memcpy(payload.data() + kChunkPrefix, data.data(), data.size());
  append(kChunk, payload);
}
void JournalWriter::launch(const LaunchRecord& launch, double execution_seconds) {
  append(kLaunch, packed(TimedLaunch{launch, execution_seconds}));
}
void JournalWriter::truncated() { append(kTruncated, {}); }
void JournalWriter::fault(const std::string& message) { append(kFault, packed(message)); }
void JournalWriter::calls(const CallSummary& calls) { append(kCalls, packed(calls)); }
void JournalWriter::end() { append(kEnd, {}); }

// --- Reading -------------------------------------------------------------------------------------

namespace {

class JournalReader {
 public:
  explicit JournalReader(const std::string& path)
      : path_(path), file_(std::make_shared<SpillFile>(SpillFile::open_existing(path))) {}

  Journal run(const TraceStore::Options& options) {
    EntryHeader header;
    const bool whole = next(header);
    // The version is checked first, since another version may have another hash.
    uint32_t format = kJournalFormat;
    if (header.mark == kMark && header.type == kBegin && payload_.size() >= sizeof(format))
      std::memcpy(&format, payload_.data(), sizeof(format));
    if (format != kJournalFormat) fail_version();
    if (!whole || header.type != kBegin)
      throw Error(fmt::format("{} is no recording of a program", path_));
    const Begin begin = unpacked<Begin>();
    if (begin.recording != kRecordingFormat || begin.executor != kExecutorVersion) fail_version();
    journal_.recording.name = begin.name;
    while (next(header)) take(header.type);
    journal_.damaged = offset_ < file_->size();
    journal_.recording.traces = TraceStore(options, file_, chunks_, std::move(sequence_));
    return std::move(journal_);
  }

 private:
  [[noreturn]] void fail_version() const {
    throw Error(
        fmt::format("the recording {} was written by another version of nearwarp's CUDA "
                    "runtime library - use the library that came with this program",
                    path_));
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw Error(fmt::format("{} is no usable recording: {}", path_, why));
  }
  /// The structure that the entry's payload holds.
  template <class T>
  T unpacked() const {
    Reader reader(payload_.data(), payload_.size());
    T value{};
    try {
      io(reader, value);
    } catch (const Error&) {
      fail("an entry is shorter than what it holds");
    }
    return value;
  }

  /// Reads the entry at `offset_`; false if there is no further undamaged entry.
  bool next(EntryHeader& header) {
    const uint64_t left = file_->size() - offset_;
    if (left < sizeof(header)) return false;
    const std::vector<uint8_t> head = file_->read({offset_, sizeof(header)});
    std::memcpy(&header, head.data(), sizeof(header));
    if (header.mark != kMark || header.bytes > left - sizeof(header)) return false;
    payload_ = file_->read({offset_ + sizeof(header), header.bytes});
    if (hash_of(header.type, payload_) != header.hash) return false;
    payload_offset_ = offset_ + sizeof(header);
    offset_ = payload_offset_ + header.bytes;
    return true;
  }

  void take(uint32_t type) {
    Recording& r = journal_.recording;
    switch (type) {
      case kAllocation:
        r.allocations.push_back(unpacked<Allocation>());
        break;
      case kKernel:
        r.kernels.push_back(std::make_shared<const compiler::Kernel>(unpacked<compiler::Kernel>()));
        break;
      case kChunk: {
        uint64_t prefix[3];
        sequence_.push_back(static_cast<uint32_t>(chunks_.size()));
        if (payload_.size() < kChunkPrefix) fail("it has an impossible chunk");
        std::memcpy(prefix, payload_.data(), kChunkPrefix);
        if (!is_possible_chunk(std::span(payload_).subspan(kChunkPrefix), prefix[0], prefix[1],
                               prefix[2]))
          fail("it has an impossible chunk");
        chunks_.push_back({payload_offset_ + kChunkPrefix, payload_.size() - kChunkPrefix,
                           prefix[0], prefix[1], static_cast<uint32_t>(prefix[2])});
        break;
      }
      case kSameChunk:
        sequence_.push_back(unpacked<uint32_t>());
        if (sequence_.back() >= chunks_.size()) fail("a launch lacks its parts");
        break;
      case kLaunch: {
        const auto timed = unpacked<TimedLaunch>();
        const LaunchRecord& l = timed.launch;
        if (l.kernel >= r.kernels.size() ||
            uint64_t{l.first_chunk} + l.num_chunks > sequence_.size())
          fail("a launch lacks its parts");
        if (!possible_order(l, r.launches.size()))
          fail(fmt::format("launch {} waits for what does not come before it", r.launches.size()));
        if (!possible_clusters(l))
          fail(fmt::format("launch {} has clusters that cannot be", r.launches.size()));
        r.launches.push_back(l);
        r.warp_instructions += l.warp_instructions;
        r.thread_instructions += l.thread_instructions;
        r.execution_seconds += timed.seconds;
        break;
      }
      case kTruncated:
        r.truncated = true;
        break;
      case kFault:
        journal_.faults.push_back(unpacked<std::string>());
        break;
      case kCalls:
        journal_.calls = unpacked<CallSummary>();
        break;
      case kEnd:
        journal_.ended = true;
        break;
      default:
        break;
    }
  }

  std::string path_;
  std::shared_ptr<SpillFile> file_;
  uint64_t offset_ = 0, payload_offset_ = 0;
  std::vector<uint8_t> payload_;
  std::vector<TraceStore::StoredChunk> chunks_;  // by identity
  std::vector<uint32_t> sequence_;               // identities of all chunks, in their order
  Journal journal_;
};

}  // namespace

Journal load_journal(const std::string& path, const TraceStore::Options& options) {
  return JournalReader(path).run(options);
}

}  // namespace nearwarp::runtime
