// Files with the traces of one kernel launch and an index, by which the traces of each warp can be
// read alone (".tracez").
//
// Layout, with little-endian numbers: the header's text and a zero; the size of the dictionary in
// bytes and the most instructions of a part (4 bytes each); the dictionary; for each warp its
// numbers of instructions and of parts, and for each part its compressed size and a zstd frame of
// text with one instruction per line; the index; and in the last 8 bytes the offset of the index.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nearwarp::sass {

/// A thread block in the index.
struct TracezBlock {
  uint32_t at[3] = {};          ///< position in the grid
  uint32_t cluster[3] = {};     ///< position of its cluster
  uint32_t in_cluster[3] = {};  ///< position in its cluster
  uint32_t rank = 0;            ///< number in its cluster
  struct Warp {
    uint32_t instructions = 0;
    uint64_t offset = 0;          ///< in the file, bytes
    std::vector<uint32_t> parts;  ///< number of instructions in each part
  };
  std::vector<Warp> warps;
};

class TracezFile {
 public:
  /// Reads header, dictionary and index. Throws nearwarp::Error if the file cannot be read or one
  /// of these is damaged.
  explicit TracezFile(const std::string& path);
  ~TracezFile();
  TracezFile(const TracezFile&) = delete;
  TracezFile& operator=(const TracezFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& header() const { return header_; }
  const std::vector<TracezBlock>& blocks() const { return blocks_; }

  /// Go to the first part of a warp, which `what` names in errors. Throws nearwarp::Error if the
  /// file and its index differ.
  void begin_warp(const TracezBlock::Warp& warp, const std::string& what);
  /// The text of the warp's next part, valid until the next call.
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

/// Writes a file of this form: thread blocks one after the other, each followed by its warps.
class TracezWriter {
 public:
  /// Creates the file and writes its header. Throws nearwarp::Error if that fails.
  TracezWriter(const std::string& path, const std::string& header);
  ~TracezWriter();
  TracezWriter(const TracezWriter&) = delete;
  TracezWriter& operator=(const TracezWriter&) = delete;

  /// Begins a thread block with the positions and the rank of `block`; its warps follow.
  void begin_block(const TracezBlock& block);
  void begin_warp();
  /// Writes an instruction; `text` is its line without the end of the line.
  void line(const std::string& text);
  void end_warp();
  /// Writes the index and closes the file.
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
  std::vector<std::string> frames_;  ///< compressed parts of the current warp
  std::vector<TracezBlock> blocks_;
};

}  // namespace nearwarp::sass
