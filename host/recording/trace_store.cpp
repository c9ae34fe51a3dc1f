// Trace chunks in memory and, beyond the budget, compressed in a temporary file.
#include "host/recording/trace_store.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>

#include "device/core/macros.h"
#include "host/core/error.h"
#include "host/recording/chunk_codec.h"
#include "host/recording/chunk_ids.h"
#include "host/recording/spill_file.h"

namespace nearwarp::runtime {

struct TraceStore::Impl {
  struct Entry {
    std::shared_ptr<const TraceChunk> resident;  // null if the chunk is only on disk
    std::weak_ptr<const TraceChunk> last;        // the chunk last loaded, which a reader may hold
    uint64_t bytes = 0;                          // its memory_bytes()
    uint64_t words = 0;
    uint32_t blocks = 0;
    bool on_disk = false;
    SpillFile::Extent extent;
    std::list<uint32_t>::iterator recent;  // place in `recent_` while resident
  };

  Options options;
  mutable std::mutex mutex;
  ChunkIds ids;
  std::vector<uint32_t> sequence;  // of identities: indices into `entries`
  std::vector<Entry> entries;
  std::list<uint32_t> recent;  // resident entries, least recently used first
  uint64_t resident_bytes = 0;
  uint64_t words = 0;
  std::shared_ptr<SpillFile> file;
  // A store of parts uses only these: the parts in their order, and for each the index of its first
  // chunk and the number of its first distinct chunk.
  std::vector<TraceStore> parts;
  std::vector<uint32_t> first_chunk, first_identity;

  /// The part that contains the chunk `index`, which becomes the chunk's index in that part.
  size_t part_of(uint32_t& index) const {
    const auto after = std::upper_bound(first_chunk.begin(), first_chunk.end(), index);
    const size_t part = static_cast<size_t>(after - first_chunk.begin()) - 1;
    index -= first_chunk[part];
    return part;
  }

  // Callers of the following functions hold the mutex.
  uint32_t identity(uint32_t index) const {
    if (index >= sequence.size())
      throw Error("trace chunk " + std::to_string(index) + " does not exist - there are " +
                  std::to_string(sequence.size()));
    return sequence[index];
  }

  void make_resident(uint32_t entry, std::shared_ptr<const TraceChunk> chunk) {
    Entry& e = entries[entry];
    e.resident = std::move(chunk);
    e.last = e.resident;
    e.recent = recent.insert(recent.end(), entry);
    resident_bytes += e.bytes;
  }

  /// Spills the least recently used chunks, but not entry `keep`, until the rest fits the budget.
  void shrink(uint32_t keep) {
    while (resident_bytes > options.memory_budget_bytes && recent.size() > 1) {
      const uint32_t victim = recent.front() == keep ? *std::next(recent.begin()) : recent.front();
      Entry& e = entries[victim];
      if (!e.on_disk) {
        if (!file) file = std::make_shared<SpillFile>(options.spill_directory);
        e.extent = file->append(compress_chunk(*e.resident));
        e.on_disk = true;
      }
      recent.erase(e.recent);
      e.resident.reset();
      resident_bytes -= e.bytes;
    }
  }
};

TraceStore::TraceStore() : TraceStore(Options{}) {}
TraceStore::TraceStore(Options options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
}
TraceStore::TraceStore(Options options, std::shared_ptr<SpillFile> file,
                       const std::vector<StoredChunk>& distinct, std::vector<uint32_t> sequence)
    : TraceStore(std::move(options)) {
  impl_->file = std::move(file);
  for (const StoredChunk& c : distinct) {
    Impl::Entry& e = impl_->entries.emplace_back();
    e.bytes = c.memory_bytes;
    e.words = c.words;
    e.blocks = c.blocks;
    e.on_disk = true;
    e.extent = {c.offset, c.bytes};
  }
  for (const uint32_t entry : sequence) impl_->words += impl_->entries.at(entry).words;
  impl_->sequence = std::move(sequence);
}
TraceStore::TraceStore(std::vector<TraceStore> parts) : TraceStore() {
  uint32_t chunks = 0, identities = 0;
  for (const TraceStore& part : parts) {
    impl_->first_chunk.push_back(chunks);
    impl_->first_identity.push_back(identities);
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < part.size(); ++i) distinct = std::max(distinct, part.identity(i) + 1);
    chunks += part.size();
    identities += distinct;
  }
  impl_->parts = std::move(parts);
}
TraceStore::~TraceStore() = default;
TraceStore::TraceStore(TraceStore&&) noexcept = default;
TraceStore& TraceStore::operator=(TraceStore&&) noexcept = default;

uint64_t TraceStore::memory_bytes(const TraceChunk& c) {
  return c.words.size() * sizeof(uint64_t) + c.warp_offset.size() * sizeof(uint32_t) + sizeof(c);
}

uint32_t TraceStore::append(TraceChunk chunk) {
  NW_ASSERT(impl_->parts.empty());
  const std::lock_guard lock(impl_->mutex);
  const auto index = static_cast<uint32_t>(impl_->sequence.size());
  impl_->words += chunk.words.size();
  const ChunkIds::Id id = impl_->ids.of(chunk);
  impl_->sequence.push_back(id.number);
  if (!id.is_new) return index;
  Impl::Entry& e = impl_->entries.emplace_back();
  e.bytes = memory_bytes(chunk);
  e.words = chunk.words.size();
  e.blocks = chunk.num_blocks;
  impl_->make_resident(id.number, std::make_shared<const TraceChunk>(std::move(chunk)));
  impl_->shrink(id.number);
  return index;
}

uint32_t TraceStore::size() const {
  if (!impl_->parts.empty()) return impl_->first_chunk.back() + impl_->parts.back().size();
  const std::lock_guard lock(impl_->mutex);
  return static_cast<uint32_t>(impl_->sequence.size());
}

uint32_t TraceStore::identity(uint32_t index) const {
  if (!impl_->parts.empty()) {
    const size_t part = impl_->part_of(index);
    return impl_->first_identity[part] + impl_->parts[part].identity(index);
  }
  const std::lock_guard lock(impl_->mutex);
  return impl_->identity(index);
}

uint32_t TraceStore::blocks(uint32_t index) const {
  if (!impl_->parts.empty()) {
    const size_t part = impl_->part_of(index);
    return impl_->parts[part].blocks(index);
  }
  const std::lock_guard lock(impl_->mutex);
  return impl_->entries[impl_->identity(index)].blocks;
}

uint64_t TraceStore::total_words() const {
  uint64_t sum = 0;
  for (const TraceStore& part : impl_->parts) sum += part.total_words();
  const std::lock_guard lock(impl_->mutex);
  return sum + impl_->words;
}

std::shared_ptr<const TraceChunk> TraceStore::chunk(uint32_t index) const {
  if (!impl_->parts.empty()) {
    const size_t part = impl_->part_of(index);
    return impl_->parts[part].chunk(index);
  }
  SpillFile::Extent extent;
  uint32_t entry = 0;
  {
    const std::lock_guard lock(impl_->mutex);
    entry = impl_->identity(index);
    Impl::Entry& e = impl_->entries[entry];
    if (e.resident) {
      impl_->recent.splice(impl_->recent.end(), impl_->recent, e.recent);
      return e.resident;
    }
    if (auto held = e.last.lock()) return held;
    extent = e.extent;
  }
  // Reading and decompression need no lock; two threads may load the same chunk.
  auto loaded = std::make_shared<const TraceChunk>(decompress_chunk(impl_->file->read(extent)));
  const std::lock_guard lock(impl_->mutex);
  Impl::Entry& e = impl_->entries[entry];
  if (e.resident) return e.resident;
  impl_->make_resident(entry, loaded);
  impl_->shrink(entry);
  return loaded;
}

}  // namespace nearwarp::runtime
