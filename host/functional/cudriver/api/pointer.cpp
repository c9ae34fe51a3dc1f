// Entry points that query attributes of pointers.
#include <cstring>

#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

/// Stores the value of an attribute, in the attribute's type.
template <class T>
void give(void* data, T value) {
  std::memcpy(data, &value, sizeof(value));
}

/// Stores the value of an attribute; false if a pointer of this kind does not have it.
bool give_attribute(void* data, int attribute, DevicePtr p) {
  PointerAttributes a;
  check(cudaPointerGetAttributes(&a, pointer(p)));
  if (a.type == kMemoryUnregistered) return false;
  void* start = nullptr;
  size_t bytes = 0;
  check(nw_driver_range(pointer(p), &start, &bytes));
  switch (attribute) {
    case kPointerContext:
      give(data,
           current_context() != nullptr ? current_context() : nw_driver_primary_context(a.device));
      return true;
    case kPointerMemoryType:
      give(data, a.type == cudart::kMemoryHost ? kMemoryHost : kMemoryDevice);
      return true;
    case kPointerDevice:
      give(data, a.device_pointer);
      return a.device_pointer != nullptr;
    case kPointerHost:
      give(data, a.host_pointer);
      return a.host_pointer != nullptr;
    case kPointerSyncMemops:
      give(data, 1);
      return true;
    case kPointerBufferId:  // live allocations begin at different addresses
      give(data, start);
      return true;
    case kPointerIsManaged:
      give(data, static_cast<char>(a.type == kMemoryManaged));
      return true;
    case kPointerOrdinal:
      give(data, a.device);
      return true;
    case kPointerRangeStart:
      give(data, start);
      return true;
    case kPointerRangeSize:
      give(data, bytes);
      return true;
    case kPointerMapped:
      give(data, static_cast<char>(1));
      return true;
    case kPointerIsIpcCapable:
    case kPointerIsRdmaCapable:
      give(data, static_cast<char>(0));
      return true;
    case kPointerHandleTypes:
      give(data, uint64_t{0});
      return true;
    case kPointerAccess:
      give(data, 3);  // read and write
      return true;
    default:
      return false;
  }
}

/// Stores the default value of an attribute that the pointer does not have.
void give_nothing(void* data, int attribute) {
  switch (attribute) {
    case kPointerOrdinal:
      return give(data, -2);  // an invalid device
    case kPointerMemoryType:
      return give(data, 0u);
    case kPointerIsManaged:
    case kPointerMapped:
      return give(data, static_cast<char>(0));
    case kPointerContext:
    case kPointerDevice:
    case kPointerHost:
    case kPointerRangeStart:
    case kPointerRangeSize:
      return give(data, uint64_t{0});
    default:
      return;
  }
}

}  // namespace

NW_CU cuPointerGetAttribute(void* data, int attribute, DevicePtr p) {
  return call([&] {
    require(data != nullptr && give_attribute(data, attribute, p));
    return kSuccess;
  });
}
NW_CU cuPointerGetAttributes(unsigned count, int* attributes, void** data, DevicePtr p) {
  return call([&] {
    require(attributes != nullptr && data != nullptr);
    for (unsigned i = 0; i < count; ++i) {
      require(data[i] != nullptr);
      if (give_attribute(data[i], attributes[i], p)) continue;
      give_nothing(data[i], attributes[i]);
    }
    return kSuccess;
  });
}
NW_CU cuPointerSetAttribute(const void* value, int attribute, DevicePtr p) {
  return call([&] {
    require(value != nullptr && attribute == kPointerSyncMemops);  // copies are synchronous
    return nw_driver_range(pointer(p), nullptr, nullptr);
  });
}

}  // namespace nearwarp::cudriver
