// Reads and writes files with the traces of one kernel launch and an index (".tracez").
#include "host/recording/accel_sim/tracez_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "host/core/error_parts.h"

namespace nearwarp::sass {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr uint64_t kMostHeaderBytes = uint64_t{1} << 20;
constexpr uint64_t kMostPartBytes = uint64_t{1} << 24;  // of a part that is read, decompressed
// A written part ends after so many bytes (the lines of tensor boxes may be long) or instructions.
constexpr uint64_t kWrittenPartBytes = uint64_t{1} << 22;
constexpr uint32_t kPartInstructions = 4096;

}  // namespace

struct TracezFile::Zstd {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ZSTD_DDict* dictionary = nullptr;
  Zstd() = default;
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
  ~Zstd() {
    ZSTD_freeDDict(dictionary);
    ZSTD_freeDCtx(context);
  }
};

TracezFile::TracezFile(const std::string& path) : path_(path), zstd_(std::make_unique<Zstd>()) {
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (fd_ < 0 || fstat(fd_, &status) != 0) {
    const std::string why = std::strerror(errno);
    if (fd_ >= 0) close(fd_);
    throw file_error(path, fmt::format("cannot open '{}': {}", path, why), "check the path");
  }
  try {
    size_ = static_cast<uint64_t>(status.st_size);
    std::string front(std::min(size_, kMostHeaderBytes), '\0');
    read(front.data(), front.size(), 0, "its header");
    const size_t end = front.find('\0');
    if (end == std::string::npos) fail("its header has no end", 0);
    header_ = front.substr(0, end);
    uint64_t at = end + 1;
    const auto dictionary_bytes = number<uint32_t>(&at, "its dictionary");
    (void)number<uint32_t>(
        &at, "its dictionary");  // most instructions of a part; the index has exact numbers
    if (dictionary_bytes > size_ - at) fail("its dictionary goes beyond its end", at);
    if (dictionary_bytes != 0) {
      std::string dictionary(dictionary_bytes, '\0');
      read(dictionary.data(), dictionary_bytes, at, "its dictionary");
      zstd_->dictionary = ZSTD_createDDict(dictionary.data(), dictionary.size());
      if (zstd_->dictionary == nullptr) fail("its dictionary is none of zstd", at);
    }
    first_warp_ = at + dictionary_bytes;
    read_index();
  } catch (...) {
    close(fd_);
    throw;
  }
}

TracezFile::~TracezFile() { close(fd_); }

void TracezFile::fail(const std::string& what, uint64_t at) const {
  throw Error(fmt::format("{} ('{}', byte {}) - trace the program again, or copy the whole file",
                          what, path_, at));
}

void TracezFile::read(void* to, uint64_t bytes, uint64_t at, const char* what) const {
  if (at > size_ || bytes > size_ - at) fail(fmt::format("the file ends inside {}", what), at);
  auto* next = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t n = pread(fd_, next, bytes, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(fmt::format("cannot read {}: {}", what, std::strerror(errno)), at);
    if (n == 0) fail(fmt::format("the file ends inside {}", what), at);
    next += n;
    at += static_cast<uint64_t>(n);
    bytes -= static_cast<uint64_t>(n);
  }
}

template <class T>
T TracezFile::number(uint64_t* at, const char* what) const {
  T value = 0;
  read(&value, sizeof(value), *at, what);
  *at += sizeof(value);
  return value;
}

void TracezFile::read_index() {
  constexpr char kWhat[] = "its index";
  if (size_ < first_warp_ + 8) fail("the file has no index", size_);
  uint64_t at = size_ - 8;
  index_at_ = number<uint64_t>(&at, kWhat);
  if (index_at_ < first_warp_ || index_at_ > size_ - 8)
    fail("its index is said to be outside of it", size_ - 8);
  std::string index(size_ - 8 - index_at_, '\0');
  read(index.data(), index.size(), index_at_, kWhat);
  size_t next = 0;
  const auto take = [&](auto* to) {
    if (sizeof(*to) > index.size() - next) fail("its index ends early", index_at_ + next);
    std::memcpy(to, index.data() + next, sizeof(*to));
    next += sizeof(*to);
  };
  // Takes a number of entries, each of which needs at least `each` bytes of the index.
  const auto count = [&](uint64_t each) {
    uint32_t n = 0;
    take(&n);
    if (n > (index.size() - next) / each)
      fail(fmt::format("its index is too short for {} entries", n), index_at_ + next);
    return n;
  };
  uint64_t last = 0;  // offset of the warp before; they ascend, so that each warp is read once
  blocks_.resize(count(44));
  for (TracezBlock& b : blocks_) {
    for (auto* position : {&b.at, &b.cluster, &b.in_cluster})
      for (uint32_t& n : *position) take(&n);
    take(&b.rank);
    b.warps.resize(count(16));
    for (TracezBlock::Warp& w : b.warps) {
      take(&w.instructions);
      uint32_t parts = 0;
      take(&parts);
      take(&w.offset);
      if (w.offset <= last)
        fail(fmt::format("a warp at byte {} comes after one at byte {}", w.offset, last),
             index_at_ + next);
      last = w.offset;
      if (parts > (index.size() - next) / 4) fail("its index ends early", index_at_ + next);
      w.parts.resize(parts);
      uint64_t sum = 0;
      for (uint32_t& n : w.parts) {
        take(&n);
        sum += n;
      }
      if (sum != w.instructions)
        fail(fmt::format("parts of a warp have {} of its {} instructions", sum, w.instructions),
             index_at_ + next);
    }
  }
  if (next != index.size()) fail("its index goes on after its end", index_at_ + next);
}

void TracezFile::begin_warp(const TracezBlock::Warp& warp, const std::string& what) {
  at_ = warp.offset;
  if (at_ < first_warp_ || at_ > index_at_) fail(what + " is said to be outside of the file", at_);
  const auto instructions = number<uint32_t>(&at_, "a warp");
  const auto parts = number<uint32_t>(&at_, "a warp");
  if (instructions != warp.instructions || parts != warp.parts.size())
    fail(fmt::format("{} has {} instructions in {} parts, and by the index {} in {}", what,
                     instructions, parts, warp.instructions, warp.parts.size()),
         warp.offset);
}

const std::string& TracezFile::next_part(const std::string& what) {
  const auto bytes = number<uint32_t>(&at_, "a warp");
  if (at_ > index_at_ || bytes > index_at_ - at_) fail(what + " goes beyond the warps", at_);
  compressed_.resize(bytes);
  read(compressed_.data(), bytes, at_, "a warp");
  const unsigned long long size = ZSTD_getFrameContentSize(compressed_.data(), bytes);
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMostPartBytes)
    fail(fmt::format("{} is no zstd frame that tells its size, of {} MiB at most", what,
                     kMostPartBytes >> 20),
         at_);
  text_.resize(size);
  const size_t result =
      ZSTD_decompress_usingDDict(zstd_->context, text_.data(), text_.size(), compressed_.data(),
                                 compressed_.size(), zstd_->dictionary);
  if (ZSTD_isError(result) != 0)
    fail(fmt::format("{} cannot be decompressed: {}", what, ZSTD_getErrorName(result)), at_);
  text_.resize(result);
  at_ += bytes;
  return text_;
}

TracezWriter::TracezWriter(const std::string& path, const std::string& header) : path_(path) {
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0)
    throw file_error(path, fmt::format("cannot write '{}': {}", path, std::strerror(errno)),
                     "check the folder");
  write(header.c_str(), header.size() + 1);
  number(uint32_t{0});  // no dictionary
  number(kPartInstructions);
}

TracezWriter::~TracezWriter() {
  if (fd_ >= 0) close(fd_);
}

void TracezWriter::write(const void* from, uint64_t bytes) {
  const auto* next = static_cast<const char*>(from);
  at_ += bytes;
  while (bytes != 0) {
    const ssize_t n = ::write(fd_, next, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw file_error(path_, fmt::format("cannot write '{}': {}", path_, std::strerror(errno)),
                       "make room");
    next += n;
    bytes -= static_cast<uint64_t>(n);
  }
}

void TracezWriter::begin_block(const TracezBlock& block) {
  blocks_.push_back(block);
  blocks_.back().warps.clear();
}

void TracezWriter::begin_warp() {
  TracezBlock::Warp& warp = blocks_.back().warps.emplace_back();
  warp.offset = at_;
  frames_.clear();
  part_.clear();
  in_part_ = 0;
}

void TracezWriter::line(const std::string& text) {
  part_ += text;
  part_ += '\n';
  if (++in_part_ == kPartInstructions || part_.size() >= kWrittenPartBytes) end_part();
}

void TracezWriter::end_part() {
  if (in_part_ == 0) return;
  std::string frame(ZSTD_compressBound(part_.size()), '\0');
  const size_t size = ZSTD_compress(frame.data(), frame.size(), part_.data(), part_.size(), 3);
  if (ZSTD_isError(size) != 0)
    throw Error(fmt::format("cannot compress '{}': {} - this is a defect of the simulator", path_,
                            ZSTD_getErrorName(size)));
  frame.resize(size);
  frames_.push_back(std::move(frame));
  TracezBlock::Warp& warp = blocks_.back().warps.back();
  warp.parts.push_back(in_part_);
  warp.instructions += in_part_;
  part_.clear();
  in_part_ = 0;
}

void TracezWriter::end_warp() {
  end_part();
  const TracezBlock::Warp& warp = blocks_.back().warps.back();
  number(warp.instructions);
  number(static_cast<uint32_t>(warp.parts.size()));
  for (const std::string& frame : frames_) {
    number(static_cast<uint32_t>(frame.size()));
    write(frame.data(), frame.size());
  }
}

void TracezWriter::finish() {
  const uint64_t index_at = at_;
  number(static_cast<uint32_t>(blocks_.size()));
  for (const TracezBlock& b : blocks_) {
    for (const auto* position : {&b.at, &b.cluster, &b.in_cluster})
      for (const uint32_t n : *position) number(n);
    number(b.rank);
    number(static_cast<uint32_t>(b.warps.size()));
    for (const TracezBlock::Warp& w : b.warps) {
      number(w.instructions);
      number(static_cast<uint32_t>(w.parts.size()));
      number(w.offset);
      for (const uint32_t n : w.parts) number(n);
    }
  }
  number(index_at);
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0)
    throw file_error(path_, fmt::format("cannot write '{}': {}", path_, std::strerror(errno)),
                     "make room");
}

}  // namespace nearwarp::sass
