// Entry points of cuFFT.
#include <memory>
#include <mutex>
#include <unordered_map>

#include "host/functional/cudalibs/call.h"
#include "host/functional/cudalibs/cufft.h"
#include "host/functional/cudalibs/not_supported.h"

#define NW_CUFFT extern "C" __attribute__((visibility("default"))) nearwarp::cufft::Status

namespace nearwarp::cufft {

namespace {

using Handle = int;

struct Plans {
  std::mutex mutex;
  std::unordered_map<Handle, std::unique_ptr<Plan>> all;
  Handle next = 1;
};
Plans& plans() {
  static Plans* const plans = new Plans;  // applications call until the very end
  return *plans;
}
Plan& plan(Handle handle) {
  const std::lock_guard lock(plans().mutex);
  const auto it = plans().all.find(handle);
  require(it != plans().all.end(), kInvalidPlan);
  return *it->second;
}

bool is_property(int property) {
  constexpr int kPatientJit = 1, kMostHostThreads = 2;  // cufftProperty
  return property == kPatientJit || property == kMostHostThreads;
}

/// Runs a call: f(), whose Failure is what it returns.
template <class F>
Status call(const char* name, F&& f) noexcept {
  const Status status = cudalibs::status_of<Failure, Status>(
      {kSuccess, kAllocFailed, kExecFailed, kInternalError}, f);
  if (status == kNotSupported)
    cudalibs::say_not_supported(name, "with these options", "cuFFT", "CUFFT_NOT_SUPPORTED");
  return status;
}

/// A layout that cufftPlanMany() gives; without `embed` it is compact, whatever stride it says.
template <class Int>
Layout layout(int rank, const Int* embed, Int stride, Int distance) {
  Layout result;
  if (embed == nullptr) return result;
  result.embed.assign(embed, embed + rank);
  result.stride = stride;
  result.distance = distance;
  return result;
}

template <class Int>
void make(Plan& p, int rank, const Int* n, const Int* in_embed, Int in_stride, Int in_distance,
          const Int* out_embed, Int out_stride, Int out_distance, int type, Int batch,
          size_t* work) {
  require(rank >= 1 && rank <= 3 && n != nullptr);
  // One that is missing makes the other count for nothing.
  if (in_embed == nullptr || out_embed == nullptr) in_embed = out_embed = nullptr;
  p.make(std::vector<int64_t>(n, n + rank), layout(rank, in_embed, in_stride, in_distance),
         layout(rank, out_embed, out_stride, out_distance), type, batch);
  if (work != nullptr) *work = p.work_bytes();
}
void make(Plan& p, const std::vector<int64_t>& n, int type, int batch, size_t* work) {
  p.make(n, {}, {}, type, batch);
  if (work != nullptr) *work = p.work_bytes();
}

/// The kind of transform that types of data (cudaDataType) stand for.
int type_of(int in, int out, int execution) {
  constexpr int kR32 = 0, kR64 = 1, kC32 = 4, kC64 = 5;
  require(in == kR32 || in == kC32 || in == kR64 || in == kC64, kNotSupported);  // f16, bf16
  const bool is_double = in == kR64 || in == kC64;
  const int real = is_double ? kR64 : kR32, complex = is_double ? kC64 : kC32;
  require(execution == complex || execution == real, kInvalidType);
  if (in == complex && out == complex) return is_double ? kZ2Z : kC2C;
  if (in == real && out == complex) return is_double ? kD2Z : kR2C;
  require(in == complex && out == real, kInvalidType);
  return is_double ? kZ2D : kC2R;
}

/// Estimates the work area of a plan of this kind.
template <class F>
Status estimate(const char* name, F&& make_it) {
  return call(name, [&] {
    Plan p;
    p.allocates = false;
    make_it(p);
  });
}

/// A plan of its own, for cufftPlan...(): it goes again if it cannot be made.
template <class F>
Status create(const char* name, Handle* handle, F&& make_it) {
  return call(name, [&] {
    require(handle != nullptr);
    auto made = std::make_unique<Plan>();
    make_it(*made);
    const std::lock_guard lock(plans().mutex);
    *handle = plans().next++;
    plans().all.emplace(*handle, std::move(made));
  });
}

Status execute(const char* name, Handle handle, const void* in, void* out, int type, int sign) {
  return call(name, [&] {
    Plan& p = plan(handle);
    require(p.is_made() && p.type() == type, kInvalidPlan);
    p.execute(in, out, sign);
  });
}

}  // namespace

NW_CUFFT cufftCreate(Handle* handle) {
  return create(__func__, handle, [](Plan&) {});
}
NW_CUFFT cufftDestroy(Handle handle) {
  return call(__func__, [&] {
    plan(handle);
    const std::lock_guard lock(plans().mutex);
    plans().all.erase(handle);
  });
}
NW_CUFFT cufftPlan1d(Handle* handle, int x, int type, int batch) {
  return create(__func__, handle, [&](Plan& p) { make(p, {x}, type, batch, nullptr); });
}
NW_CUFFT cufftPlan2d(Handle* handle, int x, int y, int type) {
  return create(__func__, handle, [&](Plan& p) { make(p, {x, y}, type, 1, nullptr); });
}
NW_CUFFT cufftPlan3d(Handle* handle, int x, int y, int z, int type) {
  return create(__func__, handle, [&](Plan& p) { make(p, {x, y, z}, type, 1, nullptr); });
}
NW_CUFFT cufftPlanMany(Handle* handle, int rank, int* n, int* in_embed, int in_stride,
                       int in_distance, int* out_embed, int out_stride, int out_distance, int type,
                       int batch) {
  return create(__func__, handle, [&](Plan& p) {
    make(p, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type,
         batch, nullptr);
  });
}
NW_CUFFT cufftMakePlan1d(Handle handle, int x, int type, int batch, size_t* work) {
  return call(__func__, [&] { make(plan(handle), {x}, type, batch, work); });
}
NW_CUFFT cufftMakePlan2d(Handle handle, int x, int y, int type, size_t* work) {
  return call(__func__, [&] { make(plan(handle), {x, y}, type, 1, work); });
}
NW_CUFFT cufftMakePlan3d(Handle handle, int x, int y, int z, int type, size_t* work) {
  return call(__func__, [&] { make(plan(handle), {x, y, z}, type, 1, work); });
}
NW_CUFFT cufftMakePlanMany(Handle handle, int rank, int* n, int* in_embed, int in_stride,
                           int in_distance, int* out_embed, int out_stride, int out_distance,
                           int type, int batch, size_t* work) {
  return call(__func__, [&] {
    make(plan(handle), rank, n, in_embed, in_stride, in_distance, out_embed, out_stride,
         out_distance, type, batch, work);
  });
}
NW_CUFFT cufftMakePlanMany64(Handle handle, int rank, long long* n, long long* in_embed,
                             long long in_stride, long long in_distance, long long* out_embed,
                             long long out_stride, long long out_distance, int type,
                             long long batch, size_t* work) {
  return call(__func__, [&] {
    make(plan(handle), rank, n, in_embed, in_stride, in_distance, out_embed, out_stride,
         out_distance, type, batch, work);
  });
}

// Plans by types of data, as cufftXtMakePlanMany() has them.
NW_CUFFT cufftXtMakePlanMany(Handle handle, int rank, long long* n, long long* in_embed,
                             long long in_stride, long long in_distance, int in_type,
                             long long* out_embed, long long out_stride, long long out_distance,
                             int out_type, long long batch, size_t* work, int execution_type) {
  return call(__func__, [&] {
    make(plan(handle), rank, n, in_embed, in_stride, in_distance, out_embed, out_stride,
         out_distance, type_of(in_type, out_type, execution_type), batch, work);
  });
}
NW_CUFFT cufftXtGetSizeMany(Handle, int rank, long long* n, long long* in_embed,
                            long long in_stride, long long in_distance, int in_type,
                            long long* out_embed, long long out_stride, long long out_distance,
                            int out_type, long long batch, size_t* work, int execution_type) {
  return estimate(__func__, [&](Plan& p) {
    make(p, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance,
         type_of(in_type, out_type, execution_type), batch, work);
  });
}

NW_CUFFT cufftEstimate1d(int x, int type, int batch, size_t* work) {
  return estimate(__func__, [&](Plan& p) { make(p, {x}, type, batch, work); });
}
NW_CUFFT cufftEstimate2d(int x, int y, int type, size_t* work) {
  return estimate(__func__, [&](Plan& p) { make(p, {x, y}, type, 1, work); });
}
NW_CUFFT cufftEstimate3d(int x, int y, int z, int type, size_t* work) {
  return estimate(__func__, [&](Plan& p) { make(p, {x, y, z}, type, 1, work); });
}
NW_CUFFT cufftEstimateMany(int rank, int* n, int* in_embed, int in_stride, int in_distance,
                           int* out_embed, int out_stride, int out_distance, int type, int batch,
                           size_t* work) {
  return estimate(__func__, [&](Plan& p) {
    make(p, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type,
         batch, work);
  });
}
NW_CUFFT cufftGetSize1d(Handle, int x, int type, int batch, size_t* work) {
  return cufftEstimate1d(x, type, batch, work);
}
NW_CUFFT cufftGetSize2d(Handle, int x, int y, int type, size_t* work) {
  return cufftEstimate2d(x, y, type, work);
}
NW_CUFFT cufftGetSize3d(Handle, int x, int y, int z, int type, size_t* work) {
  return cufftEstimate3d(x, y, z, type, work);
}
NW_CUFFT cufftGetSizeMany(Handle, int rank, int* n, int* in_embed, int in_stride, int in_distance,
                          int* out_embed, int out_stride, int out_distance, int type, int batch,
                          size_t* work) {
  return cufftEstimateMany(rank, n, in_embed, in_stride, in_distance, out_embed, out_stride,
                           out_distance, type, batch, work);
}
NW_CUFFT cufftGetSizeMany64(Handle, int rank, long long* n, long long* in_embed,
                            long long in_stride, long long in_distance, long long* out_embed,
                            long long out_stride, long long out_distance, int type, long long batch,
                            size_t* work) {
  return estimate(__func__, [&](Plan& p) {
    make(p, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type,
         batch, work);
  });
}
NW_CUFFT cufftGetSize(Handle handle, size_t* work) {
  return call(__func__, [&] {
    require(work != nullptr);
    *work = plan(handle).work_bytes();
  });
}
NW_CUFFT cufftSetWorkArea(Handle handle, void* work) {
  return call(__func__, [&] {
    plan(handle).allocates = false;
    plan(handle).set_work(work);
  });
}
NW_CUFFT cufftSetAutoAllocation(Handle handle, int on) {
  return call(__func__, [&] { plan(handle).allocates = on != 0; });
}
NW_CUFFT cufftSetStream(Handle handle, cudalibs::Stream stream) {
  return call(__func__, [&] { plan(handle).stream = stream; });
}
NW_CUFFT cufftGetVersion(int* version) {
  return call(__func__, [&] {
    require(version != nullptr);
    *version = 12000;
  });
}
NW_CUFFT cufftGetProperty(int which, int* value) {
  return call(__func__, [&] {  // major, minor, patch
    require(value != nullptr && which >= 0 && which <= 2);
    *value = which == 0 ? 12 : 0;
  });
}

// Properties say how kernels are chosen and compiled, of which there is one way here: kept.
NW_CUFFT cufftSetPlanPropertyInt64(Handle handle, int property, long long value) {
  return call(__func__, [&] {
    require(is_property(property));
    plan(handle).properties[property] = value;
  });
}
NW_CUFFT cufftGetPlanPropertyInt64(Handle handle, int property, long long* value) {
  return call(__func__, [&] {
    require(value != nullptr && is_property(property));
    const auto& all = plan(handle).properties;
    const auto it = all.find(property);
    *value = it == all.end() ? 0 : it->second;
  });
}
NW_CUFFT cufftResetPlanProperty(Handle handle, int property) {
  return call(__func__, [&] {
    require(is_property(property));
    plan(handle).properties.erase(property);
  });
}

NW_CUFFT cufftExecC2C(Handle handle, void* in, void* out, int direction) {
  return execute(__func__, handle, in, out, kC2C, direction);
}
NW_CUFFT cufftExecZ2Z(Handle handle, void* in, void* out, int direction) {
  return execute(__func__, handle, in, out, kZ2Z, direction);
}
NW_CUFFT cufftExecR2C(Handle handle, void* in, void* out) {
  return execute(__func__, handle, in, out, kR2C, -1);
}
NW_CUFFT cufftExecD2Z(Handle handle, void* in, void* out) {
  return execute(__func__, handle, in, out, kD2Z, -1);
}
NW_CUFFT cufftExecC2R(Handle handle, void* in, void* out) {
  return execute(__func__, handle, in, out, kC2R, 1);
}
NW_CUFFT cufftExecZ2D(Handle handle, void* in, void* out) {
  return execute(__func__, handle, in, out, kZ2D, 1);
}
/// Whatever type the plan is of.
NW_CUFFT cufftXtExec(Handle handle, void* in, void* out, int direction) {
  return call(__func__, [&] {
    Plan& p = plan(handle);
    const bool forward_only = p.type() == kR2C || p.type() == kD2Z;
    const bool back_only = p.type() == kC2R || p.type() == kZ2D;
    p.execute(in, out, forward_only ? -1 : back_only ? 1 : direction);
  });
}

}  // namespace nearwarp::cufft

/// Where entry points end that the library does not implement.
extern "C" int nw_cufft_not_supported(const char* name) {
  nearwarp::cudalibs::say_not_supported(name, "", "cuFFT", "CUFFT_NOT_SUPPORTED");
  return nearwarp::cufft::kNotSupported;
}
