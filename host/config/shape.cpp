#include "host/config/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "host/core/error.h"

namespace nearwarp::config {
namespace {

using Memory = Shape::Memory;

constexpr Shape kShapes[] = {
    // name, memory, slices, one_gpu, tiles, any_cache
    {"stacked", Memory::kStacks, true, true, false, false},
    {"discrete", Memory::kPartitions, true, true, false, true},
    {"mesh", Memory::kPartitions, true, true, true, false},
    {"stacks", Memory::kStacks, true, false, false, false},
    {"near_bank", Memory::kBanks, false, false, false, false},
};

}  // namespace

const Shape& shape_of(const MachineConfig& machine) {
  const auto* const at =
      std::find_if(std::begin(kShapes), std::end(kShapes),
                   [&](const Shape& shape) { return shape.name == machine.shape; });
  if (at == std::end(kShapes))
    throw Error(fmt::format("machine '{}': there is no shape \"{}\" - these are: {}", machine.name,
                            machine.shape, shapes_with([](const Shape&) { return true; })));
  return *at;
}

std::string shapes_with(bool (*has)(const Shape&)) {
  std::vector<std::string_view> names;
  for (const Shape& shape : kShapes)
    if (has(shape)) names.push_back(shape.name);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  return text;
}

uint32_t memory_parts(const MachineConfig& machine) {
  switch (shape_of(machine).memory) {
    case Memory::kStacks:
      return machine.stack.count;
    case Memory::kPartitions:
      return machine.partitions.count;
    case Memory::kBanks:
      break;
  }
  return machine.gpu.sms;
}

}  // namespace nearwarp::config
