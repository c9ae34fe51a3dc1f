// Entry points that copy.
#include "host/functional/cudriver/copies.h"

namespace nearwarp::cudriver {

namespace {

Status copy(void* dst, const void* src, size_t bytes, CopyKind kind) {
  return forward(cudaMemcpy, dst, src, bytes, int{kind});
}
Status copy(void* dst, const void* src, size_t bytes, CopyKind kind, Stream stream) {
  return forward(cudaMemcpyAsync, dst, src, bytes, int{kind}, stream);
}

cudart::Copy3D of_runtime(const Copy3D* box) {
  require(box != nullptr);
  return runtime_copy(*box);
}
cudart::Copy3D of_runtime(const Copy2D* box) {
  require(box != nullptr);
  return runtime_copy(in_three_dimensions(*box));
}
template <class Box>
Status copy(const Box* box) {
  return call([&] {
    const auto c = of_runtime(box);
    return cudaMemcpy3D(&c);
  });
}
template <class Box>
Status copy(const Box* box, Stream stream) {
  return call([&] {
    const auto c = of_runtime(box);
    return cudaMemcpy3DAsync(&c, stream);
  });
}

}  // namespace

NW_CU cuMemcpy(DevicePtr dst, DevicePtr src, size_t bytes) {
  return copy(pointer(dst), pointer(src), bytes, kDefault);
}
NW_CU cuMemcpyAsync(DevicePtr dst, DevicePtr src, size_t bytes, Stream stream) {
  return copy(pointer(dst), pointer(src), bytes, kDefault, stream);
}
NW_CU cuMemcpyPeer(DevicePtr dst, void*, DevicePtr src, void*, size_t bytes) {
  return copy(pointer(dst), pointer(src), bytes, kDefault);
}
NW_CU cuMemcpyPeerAsync(DevicePtr dst, void*, DevicePtr src, void*, size_t bytes, Stream stream) {
  return copy(pointer(dst), pointer(src), bytes, kDefault, stream);
}
NW_CU cuMemcpyHtoD_v2(DevicePtr dst, const void* src, size_t bytes) {
  return copy(pointer(dst), src, bytes, kHostToDevice);
}
NW_CU cuMemcpyHtoDAsync_v2(DevicePtr dst, const void* src, size_t bytes, Stream stream) {
  return copy(pointer(dst), src, bytes, kHostToDevice, stream);
}
NW_CU cuMemcpyDtoH_v2(void* dst, DevicePtr src, size_t bytes) {
  return copy(dst, pointer(src), bytes, kDeviceToHost);
}
NW_CU cuMemcpyDtoHAsync_v2(void* dst, DevicePtr src, size_t bytes, Stream stream) {
  return copy(dst, pointer(src), bytes, kDeviceToHost, stream);
}
NW_CU cuMemcpyDtoD_v2(DevicePtr dst, DevicePtr src, size_t bytes) {
  return copy(pointer(dst), pointer(src), bytes, kDeviceToDevice);
}
NW_CU cuMemcpyDtoDAsync_v2(DevicePtr dst, DevicePtr src, size_t bytes, Stream stream) {
  return copy(pointer(dst), pointer(src), bytes, kDeviceToDevice, stream);
}

NW_CU cuMemcpyBatchAsync_v2(void** dsts, void** srcs, size_t* sizes, size_t count, void* attributes,
                            size_t* indices, size_t num_attributes, Stream stream) {
  return forward(cudaMemcpyBatchAsync, dsts, srcs, sizes, count, attributes, indices,
                 num_attributes, stream);
}

NW_CU cuMemcpy2D_v2(const Copy2D* box) { return copy(box); }
NW_CU cuMemcpy2DUnaligned_v2(const Copy2D* box) { return copy(box); }
NW_CU cuMemcpy2DAsync_v2(const Copy2D* box, Stream stream) { return copy(box, stream); }
NW_CU cuMemcpy3D_v2(const Copy3D* box) { return copy(box); }
NW_CU cuMemcpy3DAsync_v2(const Copy3D* box, Stream stream) { return copy(box, stream); }
NW_CU cuMemcpy3DPeer(const Copy3D* box) { return copy(box); }
NW_CU cuMemcpy3DPeerAsync(const Copy3D* box, Stream stream) { return copy(box, stream); }

// --- One-dimensional arrays ----------------------------------------------------------------------

NW_CU cuMemcpyHtoAAsync_v2(Array* dst, size_t offset, const void* src, size_t bytes,
                           Stream stream) {
  return forward(cudaMemcpyToArrayAsync, dst, offset, size_t{0}, src, bytes, int{kHostToDevice},
                 stream);
}
NW_CU cuMemcpyHtoA_v2(Array* dst, size_t offset, const void* src, size_t bytes) {
  return forward(cudaMemcpyToArray, dst, offset, size_t{0}, src, bytes, int{kHostToDevice});
}
NW_CU cuMemcpyAtoHAsync_v2(void* dst, Array* src, size_t offset, size_t bytes, Stream stream) {
  return forward(cudaMemcpyFromArrayAsync, dst, src, offset, size_t{0}, bytes, int{kDeviceToHost},
                 stream);
}
NW_CU cuMemcpyAtoH_v2(void* dst, Array* src, size_t offset, size_t bytes) {
  return forward(cudaMemcpyFromArray, dst, src, offset, size_t{0}, bytes, int{kDeviceToHost});
}
NW_CU cuMemcpyDtoA_v2(Array* dst, size_t offset, DevicePtr src, size_t bytes) {
  return forward(cudaMemcpyToArray, dst, offset, size_t{0}, pointer(src), bytes,
                 int{kDeviceToDevice});
}
NW_CU cuMemcpyAtoD_v2(DevicePtr dst, Array* src, size_t offset, size_t bytes) {
  return forward(cudaMemcpyFromArray, pointer(dst), src, offset, size_t{0}, bytes,
                 int{kDeviceToDevice});
}
NW_CU cuMemcpyAtoA_v2(Array* dst, size_t dst_offset, Array* src, size_t src_offset, size_t bytes) {
  return forward(cudaMemcpyArrayToArray, dst, dst_offset, size_t{0}, src, src_offset, size_t{0},
                 bytes, int{kDeviceToDevice});
}

}  // namespace nearwarp::cudriver
