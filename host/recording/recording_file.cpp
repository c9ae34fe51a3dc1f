// Reads and writes recordings as files.
//
// Layout: the header; the compressed chunks of the traces, equal ones only once; and the compressed
// description (kernels, launches, allocations, directory of chunks). The header holds hashes of
// itself and of the description; the directory holds a hash of every chunk.
#include "host/recording/recording_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "host/core/error_parts.h"
#include "host/core/hash.h"
#include "host/recording/chunk_codec.h"
#include "host/recording/recording_archive.h"
#include "host/recording/spill_file.h"

namespace nearwarp::runtime {

namespace {

constexpr char kMagic[8] = {'N', 'W', 'R', 'E', 'C', 'O', 'R', 'D'};
constexpr uint64_t kMaxDescription = uint64_t{1} << 32;

struct Header {
  char magic[8] = {};
  uint32_t format = kRecordingFormat;
  uint32_t executor = kExecutorVersion;
  uint64_t file_bytes = 0;
  uint64_t description_offset = 0, description_bytes = 0, description_hash = 0;
  uint64_t header_hash = 0;  // of the header's bytes before it
};

}  // namespace

struct ChunkEntry {
  uint64_t offset = 0, bytes = 0, hash = 0, words = 0, resident_bytes = 0;
  uint32_t blocks = 0;
};

namespace {

uint64_t hash_of(const std::vector<uint8_t>& data) {
  return checksum({reinterpret_cast<const char*>(data.data()), data.size()});
}
uint64_t header_hash(const Header& h) {
  return checksum({reinterpret_cast<const char*>(&h), offsetof(Header, header_hash)});
}

}  // namespace

// --- Structures (outside of the unnamed namespace: found by argument-dependent lookup) -----------

template <class A>
void io(A& a, ChunkEntry& e) {
  io_all(a, e.offset, e.bytes, e.hash, e.words, e.resident_bytes, e.blocks);
}

/// Everything in a recording except the traces. `sequence` has, for each chunk of the traces in
/// order, its position in `chunks`.
template <class A>
void io(A& a, Recording& r, std::vector<compiler::Kernel>& kernels, std::vector<ChunkEntry>& chunks,
        std::vector<uint32_t>& sequence) {
  io_all(a, r.name, r.warp_instructions, r.thread_instructions, r.execution_seconds, r.truncated,
         r.no_offloading);
  io(a, kernels);
  io(a, r.launches);
  io(a, r.allocations);
  io(a, chunks);
  io(a, sequence);
}

namespace {

/// A file that is written under a temporary name; it is renamed by commit(), or else removed.
class PendingFile {
 public:
  explicit PendingFile(const std::string& path)
      : path_(path), temporary_(fmt::format("{}.tmp{}", path, getpid())) {
    std::error_code unknown;
    const auto there = std::filesystem::status(path, unknown);
    if (exists(there) && !is_regular_file(there))
      throw ErrorWithParts<>(
          {.what = fmt::format("cannot write the recording {}: it is no regular file", path_),
           .right = "choose another path",
           .file = path_});
    fd_ = open(temporary_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (fd_ < 0) fail(errno, "choose a writable directory");
  }
  ~PendingFile() {
    if (fd_ >= 0) close(fd_);
    if (!committed_) unlink(temporary_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(uint64_t offset, const void* data, size_t bytes) {
    const auto* p = static_cast<const char*>(data);
    while (bytes != 0) {
      const ssize_t n = pwrite(fd_, p, bytes, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail(n < 0 ? errno : ENOSPC);
      p += n;
      offset += static_cast<uint64_t>(n);
      bytes -= static_cast<size_t>(n);
    }
  }
  void commit() {
    const int fd = std::exchange(fd_, -1);
    if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS) {
      const int code = errno;
      close(fd);
      fail(code);
    }
    if (close(fd) != 0) fail(errno);
    if (rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
    committed_ = true;
  }

 private:
  [[noreturn]] void fail(int code, std::string right = {}) const {
    if (code == ENOSPC) right = "free some space or use another directory";
    throw ErrorWithParts<>(
        {.what = fmt::format("cannot write the recording {}: {}", path_, std::strerror(code)),
         .right = std::move(right),
         .file = path_});
  }
  std::string path_, temporary_;
  int fd_ = -1;
  bool committed_ = false;
};

[[noreturn]] void corrupted(const std::string& path, const std::string& what) {
  throw ErrorWithParts<>({.what = fmt::format("{} is no usable recording: {}", path, what),
                          .right = "delete it; it will be made again",
                          .file = path});
}

}  // namespace

void save_recording(const Recording& recording, const std::string& path) {
  PendingFile file(path);
  Header header;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  uint64_t offset = sizeof(Header);
  std::vector<ChunkEntry> chunks;
  std::vector<uint32_t> sequence;
  for (uint32_t i = 0; i < recording.traces.size(); ++i) {
    sequence.push_back(recording.traces.identity(i));
    if (sequence.back() < chunks.size()) continue;
    const auto chunk = recording.traces.chunk(i);
    const std::vector<uint8_t> data = compress_chunk(*chunk);
    file.write(offset, data.data(), data.size());
    chunks.push_back({offset, data.size(), hash_of(data), chunk->words.size(),
                      TraceStore::memory_bytes(*chunk), chunk->num_blocks});
    offset += data.size();
  }
  Recording description;  // a copy, since io() takes references that are not const
  description.name = recording.name;
  description.launches = recording.launches;
  description.allocations = recording.allocations;
  description.warp_instructions = recording.warp_instructions;
  description.thread_instructions = recording.thread_instructions;
  description.execution_seconds = recording.execution_seconds;
  description.truncated = recording.truncated;
  description.no_offloading = recording.no_offloading;
  std::vector<compiler::Kernel> kernels;
  for (const auto& k : recording.kernels) kernels.push_back(*k);
  Writer writer;
  io(writer, description, kernels, chunks, sequence);
  std::vector<uint8_t> packed(ZSTD_compressBound(writer.out.size()));
  const size_t n =
      ZSTD_compress(packed.data(), packed.size(), writer.out.data(), writer.out.size(), 3);
  if (ZSTD_isError(n)) throw Error(fmt::format("cannot compress: {}", ZSTD_getErrorName(n)));
  packed.resize(n);
  file.write(offset, packed.data(), packed.size());
  header.description_offset = offset;
  header.description_bytes = packed.size();
  header.description_hash = hash_of(packed);
  header.file_bytes = offset + packed.size();
  header.header_hash = header_hash(header);
  file.write(0, &header, sizeof(header));
  file.commit();
}

Recording load_recording(const std::string& path, const TraceStore::Options& options) {
  auto file = std::make_shared<SpillFile>(SpillFile::open_existing(path));
  const auto read = [&](uint64_t offset, uint64_t bytes) { return file->read({offset, bytes}); };
  if (file->size() < sizeof(Header)) corrupted(path, "it is truncated");
  Header header;
  const std::vector<uint8_t> head = read(0, sizeof(Header));
  std::memcpy(&header, head.data(), sizeof(Header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    corrupted(path, "it does not begin with NWRECORD");
  if (header.format != kRecordingFormat || header.executor != kExecutorVersion)
    corrupted(path, fmt::format("it has format {}.{}, this program writes {}.{}", header.format,
                                header.executor, kRecordingFormat, kExecutorVersion));
  if (header.header_hash != header_hash(header)) corrupted(path, "its header is damaged");
  if (header.file_bytes != file->size()) corrupted(path, "it is truncated");
  if (header.description_offset > header.file_bytes ||
      header.description_bytes > header.file_bytes - header.description_offset)
    corrupted(path, "its header is damaged");
  const std::vector<uint8_t> packed = read(header.description_offset, header.description_bytes);
  if (hash_of(packed) != header.description_hash) corrupted(path, "its description is damaged");
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > kMaxDescription) corrupted(path, "its description is damaged");
  std::vector<uint8_t> plain(size);
  const size_t n = ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
  if (ZSTD_isError(n) || n != size) corrupted(path, "its description is damaged");

  Recording recording;
  std::vector<compiler::Kernel> kernels;
  std::vector<ChunkEntry> chunks;
  std::vector<uint32_t> sequence;
  Reader reader(plain.data(), plain.size());
  try {
    io(reader, recording, kernels, chunks, sequence);
  } catch (const Error&) {
    corrupted(path, "its description is damaged");
  }
  for (compiler::Kernel& k : kernels)
    recording.kernels.push_back(std::make_shared<const compiler::Kernel>(std::move(k)));
  std::vector<TraceStore::StoredChunk> stored;
  for (const ChunkEntry& e : chunks) {
    if (e.offset > header.file_bytes || e.bytes > header.file_bytes - e.offset)
      corrupted(path, "its directory is damaged");
    const std::vector<uint8_t> data = read(e.offset, e.bytes);
    if (hash_of(data) != e.hash) corrupted(path, "its traces are damaged");
    if (!is_possible_chunk(data, e.words, e.resident_bytes, e.blocks))
      corrupted(path, "its directory is damaged");
    stored.push_back({e.offset, e.bytes, e.words, e.resident_bytes, e.blocks});
  }
  for (const uint32_t identity : sequence)
    if (identity >= stored.size()) corrupted(path, "its directory is damaged");
  for (size_t i = 0; i < recording.launches.size(); ++i) {
    const LaunchRecord& l = recording.launches[i];
    if (l.kernel >= recording.kernels.size() ||
        uint64_t{l.first_chunk} + l.num_chunks > sequence.size())
      corrupted(path, fmt::format("launch {} lacks its parts", i));
    if (!possible_order(l, i))
      corrupted(path, fmt::format("launch {} waits for what does not come before it", i));
    if (!possible_clusters(l))
      corrupted(path, fmt::format("launch {} has clusters that cannot be", i));
  }
  recording.traces = TraceStore(options, std::move(file), stored, std::move(sequence));
  return recording;
}

std::string recording_key(const std::string& ptx, const std::string& workload,
                          const std::string& size, const std::string& detail) {
  std::string text = fmt::format("nearwarp {} {}", kRecordingFormat, kExecutorVersion);
  for (const std::string* part : {&workload, &size, &detail, &ptx})
    text += fmt::format("\n{}\n", part->size()) + *part;
  return content_hash(text).hex();
}

}  // namespace nearwarp::runtime
