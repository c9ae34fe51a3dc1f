// Entry points by which processes share memory and events.
#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

NW_CU cuIpcGetMemHandle(IpcHandle* handle, DevicePtr start) {
  return forward(cudaIpcGetMemHandle, handle, pointer(start));
}
NW_CU cuIpcOpenMemHandle_v2(DevicePtr* start, IpcHandle handle, unsigned flags) {
  return call([&] {
    void* p = nullptr;
    require(start != nullptr);
    check(cudaIpcOpenMemHandle(&p, handle, flags));
    *start = address(p);
    return kSuccess;
  });
}
NW_CU cuIpcOpenMemHandle(DevicePtr* start, IpcHandle handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(start, handle, flags);
}
NW_CU cuIpcCloseMemHandle(DevicePtr start) {
  return forward(cudaIpcCloseMemHandle, pointer(start));
}
NW_CU cuIpcGetEventHandle(IpcHandle* handle, void* event) {
  return forward(cudaIpcGetEventHandle, handle, event);
}
NW_CU cuIpcOpenEventHandle(void** event, IpcHandle handle) {
  return forward(cudaIpcOpenEventHandle, event, handle);
}

}  // namespace nearwarp::cudriver
