// Reads and writes checkpoints.
//
// A file has a header (magic, format, fingerprint of the run, sizes, hash of the compressed state)
// and the compressed state.
#include "host/timing/run/checkpoint.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "host/config/config.h"
#include "host/core/error_parts.h"
#include "host/core/hash.h"
#include "host/timing/report/file.h"
#include "host/timing/run/models_hash.h"

namespace nearwarp::sim {

namespace {

constexpr char kMagic[8] = {'N', 'W', 'S', 'T', 'A', 'T', 'E', '1'};
constexpr uint32_t kFormat = 2;
constexpr int kLevel = 1;  // of compression; states are mostly zeros, so more effort gains little

struct Header {
  char magic[8] = {};
  uint32_t format = kFormat;
  uint32_t reserved = 0;
  char fingerprint[32] = {};
  uint64_t state_bytes = 0, stored_bytes = 0, stored_hash = 0;
};

/// A name as a part of a file's name: its folders are not folders of the file, and a long one is
/// cut.
std::string in_file_name(std::string name) {
  constexpr size_t kMost = 80;
  std::ranges::replace(name, '/', '_');
  return name.substr(0, kMost);
}

[[noreturn]] void refuse(const ReplayJob& what, const std::string& why) {
  throw ErrorWithParts<>({.what = fmt::format("cannot go on from '{}': {}", what.checkpoint, why),
                          .right = "delete it to begin anew",
                          .file = what.checkpoint});
}

}  // namespace

std::string run_fingerprint(const ReplayJob& what) {
  const runtime::Recording& r = *what.recording;
  std::string text = fmt::format("{}|{}|{}|{}|{}|{}|{}", models_hash, r.name, r.launches.size(),
                                 r.warp_instructions, r.thread_instructions, r.traces.total_words(),
                                 r.measured_warp_instructions);
  for (const runtime::LaunchRecord& l : r.launches) {
    text += fmt::format("|{},{},{},{},{}", r.kernels[l.kernel]->name, l.blocks_recorded,
                        l.warp_instructions, l.application, l.after_all);
    for (const uint32_t before : l.after) text += fmt::format(",{}", before);
  }
  for (const uint32_t stacks : r.bound_stacks) text += fmt::format("|stacks {}", stacks);
  if (r.traces.size() != 0) {
    const auto last = r.traces.chunk(r.traces.size() - 1);
    text += '|' + content_hash({reinterpret_cast<const char*>(last->words.data()),
                                last->words.size() * sizeof(uint64_t)})
                      .hex();
  }
  for (const auto& key : config::describe(*what.machine))
    text += fmt::format("|{}={}", key.key, key.value);
  for (const auto& key : config::describe(*what.policy))
    text += fmt::format("|{}={}", key.key, key.value);
  return content_hash(text).hex();
}

std::string checkpoint_path(const std::string& folder, const ReplayJob& what) {
  return std::filesystem::path(folder) /
         fmt::format("{}-{}-{}.nwstate", in_file_name(what.recording->name),
                     in_file_name(what.policy->name), run_fingerprint(what));
}

void write_checkpoint(const ReplayJob& what, std::string_view state) {
  std::string stored(ZSTD_compressBound(state.size()), '\0');
  const size_t n = ZSTD_compress(stored.data(), stored.size(), state.data(), state.size(), kLevel);
  if (ZSTD_isError(n) != 0)
    throw Error(fmt::format("cannot compress a checkpoint: {}", ZSTD_getErrorName(n)));
  stored.resize(n);
  Header header;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  std::memcpy(header.fingerprint, run_fingerprint(what).data(), sizeof(header.fingerprint));
  header.state_bytes = state.size();
  header.stored_bytes = stored.size();
  header.stored_hash = checksum(stored);
  report::FileWriter file(what.checkpoint);
  file.write({reinterpret_cast<const char*>(&header), sizeof(header)});
  file.write(stored);
  file.commit();
}

std::optional<std::string> read_checkpoint(const ReplayJob& what) {
  if (what.checkpoint.empty() || !std::filesystem::exists(what.checkpoint)) return std::nullopt;
  std::ifstream file(what.checkpoint, std::ios::binary);
  Header header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header)) ||
      std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    refuse(what, "it is not a checkpoint");
  if (header.format != kFormat) refuse(what, "another version of nearwarp wrote it");
  if (run_fingerprint(what) != std::string_view(header.fingerprint, sizeof(header.fingerprint)))
    refuse(what, "it belongs to another run");
  const auto bytes = std::filesystem::file_size(what.checkpoint) - sizeof(header);
  if (bytes != header.stored_bytes) refuse(what, "it is cut off");
  std::string stored(bytes, '\0');
  if (!file.read(stored.data(), static_cast<std::streamsize>(bytes)) ||
      checksum(stored) != header.stored_hash ||
      ZSTD_getFrameContentSize(stored.data(), stored.size()) != header.state_bytes)
    refuse(what, "it is damaged");
  std::string state(header.state_bytes, '\0');
  const size_t n = ZSTD_decompress(state.data(), state.size(), stored.data(), stored.size());
  if (ZSTD_isError(n) != 0 || n != state.size()) refuse(what, "it is damaged");
  return state;
}

std::vector<uint32_t> thread_blocks_on(Replay& run) {
  System& system = run.system();
  std::vector<uint32_t> blocks;
  std::byte* base = system.arena.base();
  const auto on_the_way = [&](Ref<Channel> ref, PacketKind kind, auto add) {
    const Channel& c = *ref.in(base);
    for (uint32_t i = 0; i < c.slots.count; ++i) {
      const Slot& slot = c.slots.in(base)[i];
      if (slot.arrive < kNever && slot.packet.kind == kind) add(slot.packet);
    }
  };
  for (uint32_t i = 0; i < system.num_sms(); ++i) {
    const sm::SmState& s = system.sm(i);
    for (uint32_t k = 0; k < s.blocks.count; ++k) {
      const sm::BlockSlot& b = s.blocks.in(base)[k];
      if (b.used) blocks.push_back(b.thread_block);
    }
    on_the_way(s.to_front_end, PacketKind::kBlockDone,
               [&](const Packet& p) { blocks.push_back(p.line); });
    on_the_way(s.from_front_end, PacketKind::kLaunchBlock, [&](const Packet& p) {
      blocks.push_back(run.image().launches[p.tag].first_block + p.line);
    });
  }
  return blocks;
}

}  // namespace nearwarp::sim
