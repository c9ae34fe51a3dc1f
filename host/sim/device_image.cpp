// What systems on a device share: a recording's traces and the tables of its kernels.
#include "host/sim/device_image.h"

namespace nearwarp::sim {

using kernels::Device;
using kernels::DeviceBuffer;

DeviceTraces::DeviceTraces(Device& device, const runtime::Recording& recording) {
  std::vector<sm::TraceBlock> table;
  for (const runtime::LaunchRecord& launch : recording.launches) {
    for (uint32_t i = 0; i < launch.num_chunks; ++i) {
      const auto chunk = recording.traces.chunk(launch.first_chunk + i);
      const uint64_t word_bytes = chunk->words.size() * sizeof(uint64_t);
      const uint64_t offset_bytes = chunk->warp_offset.size() * sizeof(uint32_t);
      DeviceBuffer words(device, chunk->words.data(), word_bytes);
      DeviceBuffer offsets(device, chunk->warp_offset.data(), offset_bytes);
      bytes_ += word_bytes + offset_bytes;
      for (uint32_t b = 0; b < chunk->num_blocks; ++b)
        table.push_back({words.as<const uint64_t>(),
                         offsets.as<const uint32_t>() + size_t{b} * chunk->warps_per_block});
      pieces_.push_back(std::move(words));
      pieces_.push_back(std::move(offsets));
    }
  }
  table_ = DeviceBuffer(device, table.data(), table.size() * sizeof(sm::TraceBlock));
  bytes_ += table_.bytes();
}

DeviceImage::DeviceImage(Device& device, const ImageTables& tables) {
  const auto put = [&]<class T>(const std::vector<T>& values) -> const T* {
    pieces_.emplace_back(device, values.data(), values.size() * sizeof(T));
    return pieces_.back().template as<const T>();
  };
  view_ = tables.view();
  view_.instrs = put(tables.instrs);
  view_.blocks = put(tables.blocks);
  view_.kernels = put(tables.kernels);
  view_.launches = put(tables.launches);
  view_.candidates = put(tables.candidates);
}

std::shared_ptr<const DeviceImage> DeviceImages::get(Device& device, const ImageTables& tables) {
  std::string key;
  const auto add = [&key]<class T>(const std::vector<T>& values) {
    key += std::to_string(values.size()) + ':';
    key.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  };
  add(tables.instrs);
  add(tables.blocks);
  add(tables.kernels);
  add(tables.launches);
  add(tables.candidates);
  std::weak_ptr<const DeviceImage>& kept = kept_[key];
  std::shared_ptr<const DeviceImage> image = kept.lock();
  if (image == nullptr) {
    image = std::make_shared<const DeviceImage>(device, tables);
    kept = image;
  }
  return image;
}

}  // namespace nearwarp::sim
