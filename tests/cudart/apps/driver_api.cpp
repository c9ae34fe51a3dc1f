// A program in the driver API alone: code from PTX, contexts, memory, launches, events, errors.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/cudart/apps/driver_check.h"

const char* const kPtx = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .const .align 4 .f32 factor = 0f3F000000;
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<11>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra done;
  mul.wide.s32 %rd4, %r5, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
done:
  ret;
}
.visible .entry scale(.param .f32 x, .param .align 8 .b8 pair[16], .param .u64 to) {
  .reg .b32 %r<4>;
  .reg .f32 %f<6>;
  .reg .b64 %rd<4>;
  ld.param.f32 %f1, [x];
  ld.param.u32 %r1, [pair];
  ld.param.u64 %rd1, [pair+8];
  ld.param.u64 %rd2, [to];
  ld.const.f32 %f2, [factor];
  mul.f32 %f3, %f1, %f2;
  cvt.rn.f32.u32 %f4, %r1;
  add.f32 %f5, %f3, %f4;
  st.global.f32 [%rd2], %f5;
  st.global.u64 [%rd2+8], %rd1;
  ld.global.u32 %r2, [counter];
  add.u32 %r3, %r2, 1;
  st.global.u32 [counter], %r3;
  ret;
}
.visible .entry odd(.param .u64 to) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, 1;
  st.global.u32 [%rd1+1], %r1;
  ret;
}
.visible .entry nothing() { ret; }
)";

void vector_add(CUmodule module) {
  const int n = 1000;
  CUfunction add;
  CU(cuModuleGetFunction(&add, module, "add"));
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
  CUdeviceptr da, db, dc;
  CU(cuMemAlloc(&da, n * 4));
  CU(cuMemAlloc(&db, n * 4));
  CU(cuMemAlloc(&dc, n * 4));
  CU(cuMemcpyHtoD(da, a.data(), n * 4));
  CU(cuMemcpyHtoDAsync(db, b.data(), n * 4, nullptr));
  int count = n;
  void* args[] = {&da, &db, &dc, &count};
  CU(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, args, nullptr));
  CU(cuCtxSynchronize());
  CU(cuMemcpyDtoH(c.data(), dc, n * 4));
  for (int i = 0; i < n; ++i) CHECK(c[i] == 3.0f * i);

  CUlaunchConfig config = {};
  config.gridDimX = 8, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128, config.blockDimY = config.blockDimZ = 1;
  void* again[] = {&dc, &db, &da, &count};
  CU(cuLaunchKernelEx(&config, add, again, nullptr));
  CU(cuMemcpyDtoH(c.data(), da, n * 4));
  for (int i = 0; i < n; ++i) CHECK(c[i] == 5.0f * i);

  CUdeviceptr start;
  size_t bytes;
  CU(cuMemGetAddressRange(&start, &bytes, db + 100));
  CHECK(start == db && bytes == n * 4);
  CU(cuMemFree(da));
  CU(cuMemFree(db));
  CU(cuMemFree(dc));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(dc));
}

/// All arguments in one buffer, at the offsets that the kernel's parameters have.
void extra_buffer(CUmodule module) {
  CUfunction scale;
  CU(cuModuleGetFunction(&scale, module, "scale"));
  struct {
    float x = 5;
    struct {
      unsigned small = 3;
      unsigned long long large = 1ull << 40;
    } pair;
    CUdeviceptr to = 0;
  } arguments;
  size_t offset, bytes;
  CU(cuFuncGetParamInfo(scale, 1, &offset, &bytes));
  CHECK(offset == 8 && bytes == 16);
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(scale, 3, &offset, &bytes));
  CU(cuMemAlloc(&arguments.to, 16));
  size_t size = sizeof(arguments);
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  CU(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  struct {
    float x, pad;
    unsigned long long large;
  } result;
  CU(cuMemcpyDtoH(&result, arguments.to, 16));
  CHECK(result.x == 5.5f && result.large == 1ull << 40);
  size = 24;  // too short
  CU_GIVES(CUDA_ERROR_INVALID_VALUE,
           cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  void* args[] = {&arguments.x, &arguments.pair, &arguments.to};
  size = sizeof(arguments);
  CU_GIVES(CUDA_ERROR_INVALID_VALUE,
           cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, args, extra));
  CU(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));

  CUdeviceptr counter, factor;
  CU(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
  CHECK(bytes == 4);
  unsigned count = 0;
  CU(cuMemcpyDtoH(&count, counter, 4));
  CHECK(count == 9);
  CU(cuModuleGetGlobal(&factor, nullptr, module, "factor"));
  const float two = 2;
  CU(cuMemcpyHtoD(factor, &two, 4));
  CU(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));
  CU(cuMemcpyDtoH(&result, arguments.to, 16));
  CHECK(result.x == 13);
  CU_GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&factor, &bytes, module, "absent"));
  CU(cuMemFree(arguments.to));
}

/// Launches a kernel as programs from before CUDA 4.0 do.
void legacy_launch(CUmodule module) {
  CUfunction add;
  CU(cuModuleGetFunction(&add, module, "add"));
  CUdeviceptr p;
  CU(cuMemAlloc(&p, 3 * 256));
  CU(cuMemsetD32(p, 0x3f800000, 128));  // 1.0f
  const CUdeviceptr arguments[] = {p, p + 256, p + 512};
  CU(cuFuncSetBlockShape(add, 32, 1, 1));
  CU(cuFuncSetSharedSize(add, 0));
  CU(cuParamSetv(add, 0, const_cast<CUdeviceptr*>(arguments), sizeof(arguments)));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(add, 2, 1));
  CU(cuParamSeti(add, 24, 64));
  CU(cuParamSetSize(add, 28));
  CU(cuLaunchGrid(add, 2, 1));
  float host[64];
  CU(cuMemcpyDtoH(host, p + 512, sizeof(host)));
  for (float value : host) CHECK(value == 2);
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuParamSeti(add, 4096, 1));
  CU(cuMemFree(p));
}

void functions(CUmodule module) {
  CUfunction add, missing;
  CU_GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&missing, module, "absent"));
  CU(cuModuleGetFunction(&add, module, "add"));
  int value = 0;
  CU(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
  CHECK(value == 1024);
  CU(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, add));
  CHECK(value > 0);
  CU(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
  CU(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, add));
  CHECK(value == 65536);
  const char* name = nullptr;
  CU(cuFuncGetName(&name, add));
  CHECK(std::strcmp(name, "add") == 0);
  CUmodule owner;
  CU(cuFuncGetModule(&owner, add));
  CHECK(owner == module);
  unsigned count = 0;
  CU(cuModuleGetFunctionCount(&count, module));
  CHECK(count == 4);
  int blocks = 0, grid = 0, block = 0, sms = 0;
  CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0));
  CHECK(blocks > 0);
  CU(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, nullptr, 0, 0));
  CU(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  CHECK(block > 0 && grid >= sms && grid % sms == 0);
  CU_GIVES(CUDA_ERROR_INVALID_VALUE,
           cuLaunchKernel(add, 1, 1, 1, 2000, 1, 1, 0, nullptr, nullptr, nullptr));
  CU_GIVES(CUDA_ERROR_INVALID_HANDLE,
           cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

void memory() {
  CUdeviceptr p;
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&p, 0));
  CU(cuMemAlloc(&p, 64));
  CU(cuMemsetD8(p, 1, 64));
  CU(cuMemsetD16(p + 4, 0x0203, 2));
  CU(cuMemsetD32Async(p + 8, 0x04050607, 2, nullptr));
  unsigned words[16];
  CU(cuMemcpyDtoH(words, p, 64));
  CHECK(words[0] == 0x01010101 && words[1] == 0x02030203 && words[2] == 0x04050607);
  CHECK(words[3] == 0x04050607 && words[4] == 0x01010101);
  CU(cuMemsetD2D32(p, 16, 9, 2, 4));
  CU(cuMemcpyDtoH(words, p, 64));
  for (int i = 0; i < 16; ++i) CHECK((words[i] == 9) == (i % 4 < 2));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(p, 0, 65));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, words, 65));

  CUdeviceptr rows;
  size_t pitch;
  CU(cuMemAllocPitch(&rows, &pitch, 40, 4, 4));
  char host[4][50], back[4][40];
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 50; ++x) host[y][x] = static_cast<char>(10 * y + x);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = host, copy.srcPitch = 50;
  copy.srcXInBytes = 3, copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = rows, copy.dstPitch = pitch;
  copy.WidthInBytes = 40, copy.Height = 3;
  CU(cuMemcpy2D(&copy));
  CUDA_MEMCPY3D box = {};
  box.srcMemoryType = CU_MEMORYTYPE_UNIFIED, box.srcDevice = rows, box.srcPitch = pitch;
  box.srcHeight = 4;
  box.dstMemoryType = CU_MEMORYTYPE_HOST, box.dstHost = back, box.dstPitch = 40, box.dstHeight = 4;
  box.WidthInBytes = 40, box.Height = 3, box.Depth = 1;
  CU(cuMemcpy3D(&box));
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 40; ++x) CHECK(back[y][x] == static_cast<char>(10 * (y + 1) + x + 3));

  void* pinned;
  CU(cuMemHostAlloc(&pinned, 100, CU_MEMHOSTALLOC_DEVICEMAP));
  CUdeviceptr mapped, managed;
  CU(cuMemHostGetDevicePointer(&mapped, pinned, 0));
  std::strcpy(static_cast<char*>(pinned), "pinned");
  CU(cuMemcpy(p, mapped, 7));
  char text[8];
  CU(cuMemcpyDtoH(text, p, 7));
  CHECK(std::strcmp(text, "pinned") == 0);
  CU(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  CUmemorytype type;
  CU(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
  CHECK(type == CU_MEMORYTYPE_DEVICE);
  CU(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, mapped));
  CHECK(type == CU_MEMORYTYPE_HOST);
  bool is_managed = false;
  CUdeviceptr start;
  CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
  void* where[] = {&is_managed, &start};
  CU(cuPointerGetAttributes(2, what, where, managed + 5));
  CHECK(is_managed && start == managed);
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                           reinterpret_cast<CUdeviceptr>(text)));
  CU(cuMemFree(managed));
  CU(cuMemFreeHost(pinned));
  CU(cuMemFree(rows));
  CU(cuMemFree(p));

  CUmemoryPool pool;
  CU(cuDeviceGetDefaultMemPool(&pool, 0));
  CU(cuMemAllocFromPoolAsync(&p, 1000, pool, nullptr));
  unsigned long long used = 0;
  CU(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  CHECK(used >= 1000);
  CU(cuMemFreeAsync(p, nullptr));
  size_t free_bytes, total;
  CU(cuMemGetInfo(&free_bytes, &total));
  CHECK(free_bytes > 0 && free_bytes <= total);
}

void streams(CUmodule module) {
  CUfunction nothing;
  CU(cuModuleGetFunction(&nothing, module, "nothing"));
  CUstream stream;
  CUevent start, end;
  CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CU(cuEventCreate(&end, CU_EVENT_DEFAULT));
  CU(cuEventRecord(start, stream));
  CU(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
  CU(cuEventRecord(end, stream));
  CU(cuStreamWaitEvent(nullptr, end, 0));
  CU(cuEventSynchronize(end));
  CU(cuStreamQuery(stream));
  float milliseconds = 0;
  CU(cuEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds > 0);
  int calls = 0;
  CU(cuLaunchHostFunc(
      stream, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  CU(cuStreamSynchronize(stream));
  CHECK(calls == 1);
  // Stream operations on words in memory: the awaited values are already there.
  CUdeviceptr words;
  CU(cuMemAlloc(&words, 16));
  CU(cuStreamWriteValue32(stream, words, 7, CU_STREAM_WRITE_VALUE_DEFAULT));
  CU(cuStreamWaitValue32(stream, words, 6, CU_STREAM_WAIT_VALUE_GEQ));
  CU(cuStreamWriteValue64(stream, words + 8, 1ull << 40, CU_STREAM_WRITE_VALUE_DEFAULT));
  CU(cuStreamWaitValue64(stream, words + 8, 1ull << 40, CU_STREAM_WAIT_VALUE_EQ));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream, words + 16, 7, 0));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream, words + 16, 7, 0));
  CU_GIVES(CUDA_ERROR_NOT_SUPPORTED,
           cuStreamWaitValue32(stream, words, 8, CU_STREAM_WAIT_VALUE_EQ));
  CUstreamBatchMemOpParams operations[2] = {};
  operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = words, operations[0].writeValue.value = 9;
  operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[1].waitValue.address = words, operations[1].waitValue.value = 8;
  operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_AND;
  CU(cuStreamBatchMemOp(stream, 2, operations, 0));
  CU(cuMemFree(words));
  CUcontext context, current;
  CU(cuStreamGetCtx(stream, &context));
  CU(cuCtxGetCurrent(&current));
  CHECK(context == current);
  CU(cuEventDestroy(start));
  CU(cuEventDestroy(end));
  CU(cuStreamDestroy(stream));
  CU_GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
}

void contexts() {
  CUcontext first, second, current;
  CU(cuCtxGetCurrent(&first));
  CU(cuCtxCreate(&second, nullptr, CU_CTX_SCHED_YIELD, 0));
  CU(cuCtxGetCurrent(&current));
  CHECK(current == second && second != first);
  unsigned flags = 0;
  CU(cuCtxGetFlags(&flags));
  CHECK((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_YIELD);
  CU(cuCtxPopCurrent(&current));
  CHECK(current == second);
  CU(cuCtxGetCurrent(&current));
  CHECK(current == first);
  CU(cuCtxPushCurrent(second));
  CU(cuCtxDestroy(second));
  CU(cuCtxGetCurrent(&current));
  CHECK(current == first);
  CU_GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(second));
  CU_GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(second));

  CUcontext primary;
  int active = 1;
  CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK(active == 0);
  CU(cuDevicePrimaryCtxRetain(&primary, 0));
  CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK(active == 1 && primary != first);
  std::thread([&] {  // a thread has no context to begin with
    CUcontext mine;
    CUdeviceptr p;
    CU(cuCtxGetCurrent(&mine));
    CHECK(mine == nullptr);
    CU_GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
    CU(cuCtxSetCurrent(primary));
    CU(cuMemAlloc(&p, 4));
    CU(cuMemFree(p));
    CU(cuCtxSetCurrent(nullptr));
    CU_GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
  })
      .join();
  CU(cuDevicePrimaryCtxRelease(0));
  CU_GIVES(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
  size_t stack = 0;
  CU(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 32768));
  CU(cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE));
  CHECK(stack == 32768);
}

void modules() {
  CUmodule module;
  size_t before, after, total;
  CU(cuMemGetInfo(&before, &total));
  char log[200] = "untouched";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  CU_GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, "no PTX", 2, options, values));
  CHECK(std::strlen(log) > 10 && reinterpret_cast<size_t>(values[1]) == std::strlen(log));
  values[1] = reinterpret_cast<void*>(sizeof(log));
  CU(cuModuleLoadDataEx(&module, kPtx, 2, options, values));
  CHECK(log[0] == '\0');
  CUfunction nothing;
  CU(cuModuleGetFunction(&nothing, module, "nothing"));
  CU(cuModuleUnload(module));
  CU_GIVES(CUDA_ERROR_INVALID_HANDLE,
           cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  CU_GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&nothing, module, "nothing"));
  CU(cuMemGetInfo(&after, &total));
  CHECK(after == before);  // its variables are freed
  CU_GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nowhere/kernels.ptx"));

  CUlibrary library;
  CU(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel;
  CU(cuLibraryGetKernel(&kernel, library, "nothing"));
  CU(cuKernelGetFunction(&nothing, kernel));
  CU(cuLaunchKernel(nothing, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  CU(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr,
                    nullptr));
  CU(cuLibraryUnload(library));
}

void entry_points() {
  void* function = nullptr;
  CUdriverProcAddressQueryResult found;
  CU(cuGetProcAddress("cuMemAlloc", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  CHECK(found == CU_GET_PROC_ADDRESS_SUCCESS);
  CHECK(function == reinterpret_cast<void*>(&cuMemAlloc));
  CU(cuGetProcAddress("cuMemAlloc", &function, 2000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  CHECK(found == CU_GET_PROC_ADDRESS_SUCCESS && function != reinterpret_cast<void*>(&cuMemAlloc));
  CU(cuGetProcAddress("cuGraphInstantiate", &function, 12000, 0, &found));
  CHECK(function == reinterpret_cast<void*>(&cuGraphInstantiate));
  CU(cuGetProcAddress("cuLaunchKernelEx", &function, 11000, 0, &found));
  CHECK(function == nullptr && found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  CU(cuGetProcAddress("cuNoSuchThing", &function, 13000, 0, &found));
  CHECK(function == nullptr && found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuMemAlloc", &function, 99000, 0, &found));
}

void errors() {
  const char* text = nullptr;
  CU(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &text));
  CHECK(std::strcmp(text, "CUDA_ERROR_INVALID_CONTEXT") == 0);
  CU(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  CHECK(std::strcmp(text, "out of memory") == 0);
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(12345), &text));
  CHECK(text == nullptr);
}

int main() {
  int count = 0, version = 0;
  CU_GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  CU(cuInit(0));
  CU(cuDriverGetVersion(&version));
  CHECK(version == 13000);
  CU(cuDeviceGetCount(&count));
  CHECK(count == 1);
  CUdevice device;
  CU(cuDeviceGet(&device, 0));
  CU_GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
  char name[100];
  CU(cuDeviceGetName(name, sizeof(name), device));
  CHECK(std::strstr(name, "nearwarp") != nullptr);
  size_t bytes = 0;
  CU(cuDeviceTotalMem(&bytes, device));
  CHECK(bytes > 0);
  CUdeviceptr none;
  CU_GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&none, 4));
  CUcontext context;
  CU(cuCtxCreate(&context, nullptr, 0, device));
  CUmodule module;
  CU(cuModuleLoadData(&module, kPtx));
  vector_add(module);
  extra_buffer(module);
  legacy_launch(module);
  functions(module);
  memory();
  streams(module);
  contexts();
  modules();
  entry_points();
  errors();

  // A kernel's fault stays with the context.
  CUfunction odd;
  CUdeviceptr p;
  CU(cuModuleGetFunction(&odd, module, "odd"));
  CU(cuMemAlloc(&p, 16));
  void* args[] = {&p};
  CU(cuLaunchKernel(odd, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));
  CU_GIVES(CUDA_ERROR_MISALIGNED_ADDRESS, cuCtxSynchronize());
  CU_GIVES(CUDA_ERROR_MISALIGNED_ADDRESS, cuMemAlloc(&p, 16));
  CU(cuCtxDestroy(context));
  CU(cuCtxCreate(&context, nullptr, 0, device));
  CU(cuMemAlloc(&p, 16));
  CU(cuModuleLoadData(&module, kPtx));
  vector_add(module);
  CU(cuCtxDestroy(context));
  std::puts("passed");
  return 0;
}
