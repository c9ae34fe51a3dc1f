// Data that systems on a device share: a recording's traces and the tables of its kernels.
#include "host/timing/run/accelerator_program.h"

namespace nearwarp::sim {

using kernels::Device;
using kernels::DeviceBuffer;

template <class T>
const T* DeviceTraces::put(Device& device, const std::vector<T>& values) {
  pieces_.emplace_back(device, values.data(), values.size() * sizeof(T));
  bytes_ += pieces_.back().bytes();
  return pieces_.back().template as<const T>();
}

DeviceTraces::DeviceTraces(Device& device, const runtime::Recording& recording) {
  std::vector<sm::TraceBlock> table;
  struct Place {
    const uint64_t* words = nullptr;
    const uint32_t* offsets = nullptr;
  };
  std::vector<Place> places;  // by identity; equal chunks lie there once
  for (const runtime::LaunchRecord& launch : recording.launches) {
    for (uint32_t i = 0; i < launch.num_chunks; ++i) {
      const auto chunk = recording.traces.chunk(launch.first_chunk + i);
      const uint32_t identity = recording.traces.identity(launch.first_chunk + i);
      if (identity >= places.size()) places.resize(identity + 1);
      Place& place = places[identity];
      if (place.offsets == nullptr) {
        place.words = put(device, chunk->words);
        place.offsets = put(device, chunk->warp_offset);
      }
      for (uint32_t b = 0; b < chunk->num_blocks; ++b)
        table.push_back({place.words, place.offsets + size_t{b} * chunk->warps_per_block});
    }
  }
  table_ = DeviceBuffer(device, table.data(), table.size() * sizeof(sm::TraceBlock));
  bytes_ += table_.bytes();
}

AcceleratorProgram::AcceleratorProgram(Device& device, const ImageTables& tables) {
  const auto put = [&]<class T>(const std::vector<T>& values) -> const T* {
    pieces_.emplace_back(device, values.data(), values.size() * sizeof(T));
    return pieces_.back().template as<const T>();
  };
  view_ = tables.view();
  view_.instrs = put(tables.instrs);
  view_.blocks = put(tables.blocks);
  view_.kernels = put(tables.kernels);
  view_.launches = put(tables.launches);
  view_.waiting = put(tables.waiting);
}

std::shared_ptr<const AcceleratorProgram> DeviceImages::get(Device& device,
                                                            const ImageTables& tables) {
  std::string key;
  const auto add = [&key]<class T>(const std::vector<T>& values) {
    key += std::to_string(values.size()) + ':';
    key.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  };
  add(tables.instrs);
  add(tables.blocks);
  add(tables.kernels);
  add(tables.launches);
  add(tables.waiting);
  std::weak_ptr<const AcceleratorProgram>& kept = kept_[key];
  std::shared_ptr<const AcceleratorProgram> image = kept.lock();
  if (image == nullptr) {
    image = std::make_shared<const AcceleratorProgram>(device, tables);
    kept = image;
  }
  return image;
}

}  // namespace nearwarp::sim
