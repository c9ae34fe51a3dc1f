// The virtual CUDA device: its memory, and what it has recorded.
#include "host/functional/device/virtual_device.h"

#include <cstring>
#include <utility>

#include "host/functional/device/virtual_device_state.h"

namespace nearwarp::runtime {

VirtualDevice::VirtualDevice() : VirtualDevice(Options{}) {}
VirtualDevice::VirtualDevice(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
VirtualDevice::~VirtualDevice() = default;

DevicePtr VirtualDevice::Impl::allocate(uint64_t bytes, std::string label) {
  const DevicePtr address = memory.allocate(bytes, std::move(label));
  if (options.sink != nullptr) options.sink->allocation(memory.table().back());
  return address;
}

DevicePtr VirtualDevice::allocate(uint64_t bytes, std::string label) {
  return impl_->allocate(bytes, std::move(label));
}
void VirtualDevice::free(DevicePtr address) { impl_->memory.free(address); }

exec::Range VirtualDevice::mapped_addresses() const { return impl_->memory.mapped_addresses(); }
void VirtualDevice::map_file(DevicePtr address, uint64_t bytes, int file, uint64_t offset) {
  impl_->memory.map_file(address, bytes, file, offset);
}
void VirtualDevice::unmap_file(DevicePtr address, uint64_t bytes) {
  impl_->memory.unmap_file(address, bytes);
}
void VirtualDevice::add_mapped(DevicePtr address, uint64_t bytes, std::string label) {
  impl_->memory.add_mapped(address, bytes, std::move(label));
  if (impl_->options.sink != nullptr) impl_->options.sink->allocation(impl_->memory.table().back());
}
void VirtualDevice::remove_mapped(DevicePtr address) { impl_->memory.remove_mapped(address); }
int VirtualDevice::share_memory() { return impl_->memory.share(); }

void VirtualDevice::copy_to_device(DevicePtr dst, const void* src, uint64_t bytes) {
  if (bytes == 0) return;
  std::memcpy(impl_->memory.host(dst, bytes, "copy to device"), src, bytes);
  impl_->memory.note_written(dst, bytes);
}
void VirtualDevice::copy_to_host(void* dst, DevicePtr src, uint64_t bytes) const {
  if (bytes != 0) std::memcpy(dst, impl_->memory.host(src, bytes, "copy to host"), bytes);
}
void VirtualDevice::copy_on_device(DevicePtr dst, DevicePtr src, uint64_t bytes) {
  if (bytes == 0) return;
  std::memmove(impl_->memory.host(dst, bytes, "copy on device"),
               impl_->memory.host(src, bytes, "copy on device"), bytes);
  impl_->memory.note_copied(dst, src, bytes);
}
void VirtualDevice::fill(DevicePtr dst, uint8_t value, uint64_t bytes) {
  if (bytes == 0) return;
  std::memset(impl_->memory.host(dst, bytes, "fill"), value, bytes);
  impl_->memory.note_written(dst, bytes);
}
void VirtualDevice::note_written(DevicePtr address, uint64_t bytes) {
  impl_->memory.note_written(address, bytes);
}
void VirtualDevice::note_copied(DevicePtr dst, DevicePtr src, uint64_t bytes) {
  impl_->memory.note_copied(dst, src, bytes);
}
void VirtualDevice::note_unwritten(DevicePtr address, uint64_t bytes) {
  impl_->memory.note_unwritten(address, bytes);
}

uint64_t VirtualDevice::warp_instructions() const { return impl_->warp_instructions; }
uint64_t VirtualDevice::thread_instructions() const { return impl_->thread_instructions; }
const Allocation* VirtualDevice::find_allocation(DevicePtr address) const {
  return impl_->memory.find(address);
}
uint64_t VirtualDevice::memory_bytes() const { return impl_->memory.memory_bytes(); }
uint64_t VirtualDevice::used_memory_bytes() const { return impl_->memory.used_bytes(); }
bool VirtualDevice::limit_reached() const { return impl_->limit_reached; }
bool VirtualDevice::has_launches() const { return !impl_->recording.launches.empty(); }
const std::vector<Allocation>& VirtualDevice::allocation_table() const {
  return impl_->memory.table();
}

Recording VirtualDevice::take_recording(std::string name) {
  Impl& d = *impl_;
  if (d.taken) throw Error("the device's recording has been taken already");
  d.taken = true;
  d.recording.name = std::move(name);
  d.recording.allocations = d.memory.table();
  d.recording.warp_instructions = d.recorded.warp_instructions;
  d.recording.thread_instructions = d.recorded.thread_instructions;
  return std::move(d.recording);
}

}  // namespace nearwarp::runtime
