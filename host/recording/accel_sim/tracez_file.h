// Traces of one kernel launch with an index, of which warps can be read one by one (".tracez").
//
// The file is the header's text and a zero; the bytes of a dictionary and the most instructions of
// a part; the dictionary; of each warp its instructions, parts, and for each part the compressed
// bytes and a zstd frame of text, an instruction a line; then the index, and in the last 8 bytes
// where the index begins. Numbers are little endian.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nearwarp::sass {

/// A thread block in the index.
struct TracezBlock {
  uint32_t at[3] = {}, cluster[3] = {}, in_cluster[3] = {};
  uint32_t rank = 0;
  struct Warp {
    uint32_t instructions = 0;
    uint64_t offset = 0;
    std::vector<uint32_t> parts;  ///< instructions of each
  };
  std::vector<Warp> warps;
};

class TracezFile {
 public:
  /// Reads header, dictionary and index. Throws nearwarp::Error if the file cannot be read or is
  /// damaged there.
  explicit TracezFile(const std::string& path);
  ~TracezFile();
  TracezFile(const TracezFile&) = delete;
  TracezFile& operator=(const TracezFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& header() const { return header_; }
  const std::vector<TracezBlock>& blocks() const { return blocks_; }

  /// Begin the parts of a warp; throws nearwarp::Error if what is there is not what the index says.
  void begin_warp(const TracezBlock::Warp& warp, const std::string& what);
  /// The text of the next part, valid until the next call. `what` it is of, for errors.
  const std::string& next_part(const std::string& what);

 private:
  struct Zstd;
  [[noreturn]] void fail(const std::string& what, uint64_t at) const;
  void read(void* to, uint64_t bytes, uint64_t at, const char* what) const;
  template <class T>
  T number(uint64_t* at, const char* what) const;
  void read_index();

  std::string path_, header_, compressed_, text_;
  int fd_ = -1;
  uint64_t size_ = 0, index_at_ = 0, first_warp_ = 0, at_ = 0;
  std::vector<TracezBlock> blocks_;
  std::unique_ptr<Zstd> zstd_;
};

/// Writes such a file: thread blocks one after the other, of each its warps.
class TracezWriter {
 public:
  /// Throws nearwarp::Error if the file cannot be made.
  TracezWriter(const std::string& path, const std::string& header);
  ~TracezWriter();
  TracezWriter(const TracezWriter&) = delete;
  TracezWriter& operator=(const TracezWriter&) = delete;

  /// Places and rank; its warps follow.
  void begin_block(const TracezBlock& block);
  void begin_warp();
  /// An instruction, without the end of its line.
  void line(const std::string& text);
  void end_warp();
  /// The file is complete.
  void finish();

 private:
  void end_part();
  void write(const void* from, uint64_t bytes);
  template <class T>
  void number(T value) {
    write(&value, sizeof(value));
  }

  std::string path_, part_;
  int fd_ = -1;
  uint64_t at_ = 0;
  uint32_t in_part_ = 0;
  std::vector<std::string> frames_;  ///< of the warp
  std::vector<TracezBlock> blocks_;
};

}  // namespace nearwarp::sass
