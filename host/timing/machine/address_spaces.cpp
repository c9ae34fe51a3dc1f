// Gives each of several programs on one machine an address space with frames of its own.
#include "host/timing/machine/address_spaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "host/core/error.h"

namespace nearwarp::sim {

namespace {

/// Lines of physical memory for each program. They are a power of two, so that all programs are
/// spread over channels in the same way.
LineAddr share(uint32_t programs) { return kMaxMappedLines / std::bit_ceil(programs); }

}  // namespace

void add_address_spaces(const ImageTables& image, const config::MachineConfig& machine,
                        Graph& graph) {
  const uint32_t programs = image.programs;
  if (programs < 2) return;
  const uint32_t line = machine.l1.line_bytes;
  const uint64_t lines = (image.memory_bytes + line - 1) / line;
  if (lines > share(programs) / 2)
    throw Error(fmt::format(
        "a program's memory ends at {} bytes - of {} programs together each may have {}",
        lines * line, programs, uint64_t{share(programs)} / 2 * line));
  graph.address_spaces = std::max(graph.address_spaces, programs);
  graph.mapped_lines = std::max(graph.mapped_lines, lines);
}

void map_address_spaces(const ImageTables& image, System& system) {
  const uint32_t programs = image.programs;
  if (programs < 2) return;
  std::byte* base = system.arena.base();
  const Translation& t = system.page_tables.translation;
  const LineAddr lines = share(programs);
  for (uint32_t i = 0; i < programs; ++i) {
    PageTable& table = t.spaces.in(base)[i];
    system.page_tables.map_pages(base, i, 0, table.pages.count, i * lines, 0);
    table.beyond = i * lines + lines / 2;
    table.beyond_bits = lines / 2 - 1;
  }
}

}  // namespace nearwarp::sim
