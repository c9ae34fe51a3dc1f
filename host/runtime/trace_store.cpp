// Trace chunks in memory and, beyond the budget, compressed in a temporary file.
#include "host/runtime/trace_store.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>

#include "host/core/error.h"
#include "host/runtime/chunk_codec.h"
#include "host/runtime/spill_file.h"

namespace nearwarp::runtime {

struct TraceStore::Impl {
  struct Entry {
    std::shared_ptr<const TraceChunk> resident;  // null if only on disk
    std::weak_ptr<const TraceChunk> last;        // what a reader may still hold
    uint64_t bytes = 0;                          // in memory
    bool on_disk = false;
    SpillFile::Extent extent;
    std::list<uint32_t>::iterator recent;  // place in `recent_` while resident
  };

  Options options;
  mutable std::mutex mutex;
  std::vector<Entry> entries;
  std::list<uint32_t> recent;  // resident chunks, least recently used first
  uint64_t resident_bytes = 0;
  uint64_t words = 0;
  std::shared_ptr<SpillFile> file;

  // Callers hold the mutex.
  void make_resident(uint32_t index, std::shared_ptr<const TraceChunk> chunk) {
    Entry& e = entries[index];
    e.resident = std::move(chunk);
    e.last = e.resident;
    e.recent = recent.insert(recent.end(), index);
    resident_bytes += e.bytes;
  }

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
                       const std::vector<StoredChunk>& chunks)
    : TraceStore(std::move(options)) {
  impl_->file = std::move(file);
  for (const StoredChunk& c : chunks) {
    Impl::Entry& e = impl_->entries.emplace_back();
    e.bytes = c.memory_bytes;
    e.on_disk = true;
    e.extent = {c.offset, c.bytes};
    impl_->words += c.words;
  }
}
TraceStore::~TraceStore() = default;
TraceStore::TraceStore(TraceStore&&) noexcept = default;
TraceStore& TraceStore::operator=(TraceStore&&) noexcept = default;

uint64_t TraceStore::memory_bytes(const TraceChunk& c) {
  return c.words.size() * sizeof(uint64_t) + c.warp_offset.size() * sizeof(uint32_t) + sizeof(c);
}

uint32_t TraceStore::append(TraceChunk chunk) {
  const std::lock_guard lock(impl_->mutex);
  const auto index = static_cast<uint32_t>(impl_->entries.size());
  Impl::Entry& e = impl_->entries.emplace_back();
  e.bytes = memory_bytes(chunk);
  impl_->words += chunk.words.size();
  impl_->make_resident(index, std::make_shared<const TraceChunk>(std::move(chunk)));
  impl_->shrink(index);
  return index;
}

uint32_t TraceStore::size() const {
  const std::lock_guard lock(impl_->mutex);
  return static_cast<uint32_t>(impl_->entries.size());
}

uint64_t TraceStore::total_words() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->words;
}

std::shared_ptr<const TraceChunk> TraceStore::chunk(uint32_t index) const {
  SpillFile::Extent extent;
  {
    const std::lock_guard lock(impl_->mutex);
    if (index >= impl_->entries.size())
      throw Error("trace chunk " + std::to_string(index) + " does not exist - there are " +
                  std::to_string(impl_->entries.size()));
    Impl::Entry& e = impl_->entries[index];
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
  Impl::Entry& e = impl_->entries[index];
  if (e.resident) return e.resident;
  impl_->make_resident(index, loaded);
  impl_->shrink(index);
  return loaded;
}

}  // namespace nearwarp::runtime
