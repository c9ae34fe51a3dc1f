// Entry points by which streams write words and wait for words. All work is executed in the order
// of the calls, so the condition of a wait must hold already.
#include <type_traits>

#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

/// CUstreamWaitValue_flags
enum Wait : unsigned { kWaitAtLeast = 0, kWaitEqual = 1, kWaitAnd = 2, kWaitNor = 3 };
constexpr unsigned kWaitFlush = 1u << 30;  // has no effect, since there are no remote writes

void write(Stream stream, DevicePtr to, uint64_t value, size_t bytes) {
  require(to % bytes == 0);
  for (size_t at = 0; at < bytes; at += 4) {
    const MemsetParams word = {
        pointer(to + at), 4, static_cast<unsigned>(value >> (8 * at)), 4, 1, 1};
    check(nw_driver_fill(&word, stream));
  }
}

template <class T>
bool holds(T word, T value, unsigned condition) {
  switch (condition) {
    case kWaitAtLeast:  // cyclic, as the driver's documents say
      return static_cast<std::make_signed_t<T>>(word - value) >= 0;
    case kWaitEqual:
      return word == value;
    case kWaitAnd:
      return (word & value) != 0;
    case kWaitNor:
      return static_cast<T>(~(word | value)) != 0;
    default:
      throw Failure{kErrorInvalidValue};
  }
}

template <class T>
void wait(Stream stream, DevicePtr from, T value, unsigned flags) {
  int capturing = 0;
  check(cudaStreamIsCapturing(stream, &capturing));
  require(capturing == 0, kErrorStreamCaptureUnsupported);
  void* start = nullptr;
  size_t bytes = 0;
  check(nw_driver_range(pointer(from), &start, &bytes));
  require(from % sizeof(T) == 0 && from + sizeof(T) <= address(start) + bytes);
  const T word = *static_cast<const volatile T*>(pointer(from));
  if (holds(word, value, flags & ~kWaitFlush)) {
    // The writer is not known, so all later work of all streams is recorded as waiting for all
    // earlier.
    return check(cudaDeviceSynchronize());
  }
  nw_driver_say_once(
      "a stream waits for a word that is not there yet - work is done in the order of the calls, "
      "so it must be written before");
  throw Failure{kErrorNotSupported};
}

}  // namespace

NW_CU cuStreamWriteValue32_v2(Stream stream, DevicePtr to, uint32_t value, unsigned) {
  return call([&] {
    write(stream, to, value, 4);
    return kSuccess;
  });
}
NW_CU cuStreamWriteValue64_v2(Stream stream, DevicePtr to, uint64_t value, unsigned) {
  return call([&] {
    write(stream, to, value, 8);
    return kSuccess;
  });
}
NW_CU cuStreamWaitValue32_v2(Stream stream, DevicePtr from, uint32_t value, unsigned flags) {
  return call([&] {
    wait(stream, from, value, flags);
    return kSuccess;
  });
}
NW_CU cuStreamWaitValue64_v2(Stream stream, DevicePtr from, uint64_t value, unsigned flags) {
  return call([&] {
    wait(stream, from, value, flags);
    return kSuccess;
  });
}
NW_CU cuStreamBatchMemOp_v2(Stream stream, unsigned count, const MemoryOp* operations,
                            unsigned flags) {
  return call([&] {
    require(flags == 0 && (count == 0 || operations != nullptr));
    for (const MemoryOp* op = operations; op != operations + count; ++op) {
      const auto low = static_cast<uint32_t>(op->value);
      switch (op->operation) {
        case kOpWrite32:
          write(stream, op->address, low, 4);
          break;
        case kOpWrite64:
          write(stream, op->address, op->value, 8);
          break;
        case kOpWait32:
          wait(stream, op->address, low, op->flags);
          break;
        case kOpWait64:
          wait(stream, op->address, op->value, op->flags);
          break;
        default:  // barriers: work is done in order
          require(op->operation == kOpFlush || op->operation == kOpBarrier);
      }
    }
    return kSuccess;
  });
}

}  // namespace nearwarp::cudriver
