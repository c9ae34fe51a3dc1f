// Plain files, and decompression of xz and zstd.
#include "host/recording/accel_sim/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "host/core/error_parts.h"

namespace nearwarp::sass {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;
constexpr uint64_t kXzMemoryBytes = uint64_t{1} << 31;  // xz -9 needs 65 MiB
constexpr int kZstdWindowLog = 31;                      // the largest that zstd makes

class PlainFile final : public ByteSource {
 public:
  explicit PlainFile(const std::string& path) : path_(path) {
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (fd_ >= 0 && fstat(fd_, &status) == 0 && S_ISDIR(status.st_mode)) {
      close(fd_);
      throw Error(fmt::format("'{}' is a folder - name a file in it", path));
    }
    if (fd_ < 0)
      throw file_error(path, fmt::format("cannot open '{}': {}", path, std::strerror(errno)),
                       "check the path");
  }
  ~PlainFile() override { close(fd_); }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  size_t read(char* to, size_t bytes) override {
    for (;;) {
      const ssize_t n = ::read(fd_, to, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0)
        throw file_error(path_, fmt::format("cannot read '{}': {}", path_, std::strerror(errno)),
                         "check the disk");
      position_ += static_cast<uint64_t>(n);
      return static_cast<size_t>(n);
    }
  }
  uint64_t position() const override { return position_; }
  const std::string& path() const { return path_; }
  /// The file's first bytes; the position of reading stays.
  std::string magic() {
    char first[8];
    const ssize_t n = pread(fd_, first, sizeof(first), 0);
    return n > 0 ? std::string(first, static_cast<size_t>(n)) : std::string();
  }

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t position_ = 0;
};

/// A compressed file and a buffer of its bytes.
class Compressed : public ByteSource {
 public:
  explicit Compressed(std::unique_ptr<PlainFile> file) : file_(std::move(file)) {
    buffer_.resize(kBufferBytes);
  }
  uint64_t position() const override { return file_->position(); }

 protected:
  size_t fill() { return file_->read(buffer_.data(), buffer_.size()); }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("cannot decompress '{}': {} - copy or make the file again",
                            file_->path(), what));
  }
  std::vector<char> buffer_;

 private:
  std::unique_ptr<PlainFile> file_;
};

class XzFile final : public Compressed {
 public:
  explicit XzFile(std::unique_ptr<PlainFile> file) : Compressed(std::move(file)) {
    if (lzma_stream_decoder(&stream_, kXzMemoryBytes, LZMA_CONCATENATED) != LZMA_OK)
      fail("there is no memory for it");
  }
  ~XzFile() override { lzma_end(&stream_); }
  XzFile(const XzFile&) = delete;
  XzFile& operator=(const XzFile&) = delete;

  size_t read(char* to, size_t bytes) override {
    stream_.next_out = reinterpret_cast<uint8_t*>(to);
    stream_.avail_out = bytes;
    while (stream_.avail_out == bytes && !ended_) {
      if (stream_.avail_in == 0 && !last_) {
        stream_.avail_in = fill();
        stream_.next_in = reinterpret_cast<const uint8_t*>(buffer_.data());
        last_ = stream_.avail_in == 0;
      }
      const lzma_ret result = lzma_code(&stream_, last_ ? LZMA_FINISH : LZMA_RUN);
      if (result == LZMA_STREAM_END)
        ended_ = true;
      else if (result == LZMA_BUF_ERROR)
        fail("it ends early");
      else if (result == LZMA_MEMLIMIT_ERROR)
        fail("it needs more than 2 GiB of memory");
      else if (result != LZMA_OK)
        fail("it is damaged");
    }
    return bytes - stream_.avail_out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool last_ = false, ended_ = false;
};

class ZstdFile final : public Compressed {
 public:
  explicit ZstdFile(std::unique_ptr<PlainFile> file)
      : Compressed(std::move(file)), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) fail("there is no memory for it");
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kZstdWindowLog);
  }
  ~ZstdFile() override { ZSTD_freeDStream(stream_); }
  ZstdFile(const ZstdFile&) = delete;
  ZstdFile& operator=(const ZstdFile&) = delete;

  size_t read(char* to, size_t bytes) override {
    ZSTD_outBuffer out = {to, bytes, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        in_ = {buffer_.data(), fill(), 0};
        if (in_.size == 0) {
          if (inside_frame_) fail("it ends early");
          break;
        }
      }
      const size_t result = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_isError(result) != 0) fail(ZSTD_getErrorName(result));
      inside_frame_ = result != 0;
    }
    return out.pos;
  }

 private:
  ZSTD_DStream* stream_;
  ZSTD_inBuffer in_ = {nullptr, 0, 0};
  bool inside_frame_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  auto file = std::make_unique<PlainFile>(path);
  const std::string magic = file->magic();
  if (magic.starts_with("\xfd"
                        "7zXZ"))
    return std::make_unique<XzFile>(std::move(file));
  if (magic.starts_with("\x28\xb5\x2f\xfd")) return std::make_unique<ZstdFile>(std::move(file));
  if (magic.starts_with("\x1f\x8b"))
    throw Error(
        fmt::format("'{}' is compressed with gzip, which is not read - decompress it, or "
                    "compress it with xz or zstd",
                    path));
  return file;
}

}  // namespace nearwarp::sass
