// Entry points of cublasLt.
#include <algorithm>

#include "host/functional/cublas/api/entry.h"
#include "host/functional/cublas/lt/bias_gradient.h"
#include "host/functional/cublas/lt/matmul.h"
#include "host/functional/cublas/status_names.h"

using namespace nearwarp::cublas;

namespace {

constexpr int kMajor = 13, kMinor = 0, kPatch = 0;

template <class T>
Status create(const char* name, T** made, const T& value) {
  return call(name, [&] {
    require(made != nullptr);
    *made = new T(value);
  });
}
/// In memory of the application's, which has at least `bytes`.
template <class T>
Status init(const char* name, T* at, size_t bytes, const T& value) {
  return call(name, [&] {
    require(at != nullptr && bytes >= sizeof(T));
    *at = value;
  });
}
template <class T>
Status destroy(const char* name, T* made) {
  return call(name, [&] {
    require(made != nullptr);
    delete made;
  });
}
template <class T>
Status get(const char* name, const T* of, int attribute, void* to, size_t bytes, size_t* written) {
  return call(name, [&] {
    require(of != nullptr);
    T copy = *of;
    access(copy, attribute, Attribute::get(to, bytes, written));
  });
}
template <class T>
Status set(const char* name, T* of, int attribute, const void* from, size_t bytes) {
  return call(name, [&] {
    require(of != nullptr);
    access(*of, attribute, Attribute::set(from, bytes));
  });
}

MatrixLayout layout_of(int type, uint64_t rows, uint64_t columns, int64_t ld) {
  MatrixLayout m;
  m.type = static_cast<uint32_t>(type);
  m.rows = rows;
  m.columns = columns;
  m.ld = ld;
  return m;
}
MatmulDesc desc_of(int compute, int scale) {
  MatmulDesc d;
  d.compute = compute;
  d.scale = scale;
  return d;
}

}  // namespace

NW_CUBLAS cublasLtCreate(Handle** handle) { return create("cublasLtCreate", handle, Handle{}); }
NW_CUBLAS cublasLtDestroy(Handle* handle) { return destroy("cublasLtDestroy", handle); }
extern "C" __attribute__((visibility("default"))) size_t cublasLtGetVersion() {
  return kMajor * 10000 + kMinor * 100 + kPatch;
}
extern "C" __attribute__((visibility("default"))) size_t cublasLtGetCudartVersion() {
  return kMajor * 1000;
}
extern "C" __attribute__((visibility("default"))) const char* cublasLtGetStatusName(Status s) {
  return status_name(s);
}
extern "C" __attribute__((visibility("default"))) const char* cublasLtGetStatusString(Status s) {
  return status_text(s);
}
/// Instructions of the CPU do not matter here. Returns the mask before.
extern "C" __attribute__((visibility("default"))) unsigned cublasLtDisableCpuInstructionsSetMask(
    unsigned) {
  return 0;
}
NW_CUBLAS cublasLtGetProperty(int property, int* value) {
  return call("cublasLtGetProperty", [&] {
    require(value != nullptr && property >= 0 && property <= 2);
    const int values[] = {kMajor, kMinor, kPatch};
    *value = values[property];
  });
}

NW_CUBLAS cublasLtMatrixLayoutCreate(MatrixLayout** made, int type, uint64_t rows, uint64_t columns,
                                     int64_t ld) {
  return create("cublasLtMatrixLayoutCreate", made, layout_of(type, rows, columns, ld));
}
NW_CUBLAS cublasLtMatrixLayoutInit_internal(MatrixLayout* at, size_t bytes, int type, uint64_t rows,
                                            uint64_t columns, int64_t ld) {
  return init("cublasLtMatrixLayoutInit", at, bytes, layout_of(type, rows, columns, ld));
}
NW_CUBLAS cublasLtMatrixLayoutDestroy(MatrixLayout* made) {
  return destroy("cublasLtMatrixLayoutDestroy", made);
}
NW_CUBLAS cublasLtMatrixLayoutSetAttribute(MatrixLayout* of, int attribute, const void* from,
                                           size_t bytes) {
  return set("cublasLtMatrixLayoutSetAttribute", of, attribute, from, bytes);
}
NW_CUBLAS cublasLtMatrixLayoutGetAttribute(const MatrixLayout* of, int attribute, void* to,
                                           size_t bytes, size_t* written) {
  return get("cublasLtMatrixLayoutGetAttribute", of, attribute, to, bytes, written);
}

NW_CUBLAS cublasLtMatmulDescCreate(MatmulDesc** made, int compute, int scale) {
  return create("cublasLtMatmulDescCreate", made, desc_of(compute, scale));
}
NW_CUBLAS cublasLtMatmulDescInit_internal(MatmulDesc* at, size_t bytes, int compute, int scale) {
  return init("cublasLtMatmulDescInit", at, bytes, desc_of(compute, scale));
}
NW_CUBLAS cublasLtMatmulDescDestroy(MatmulDesc* made) {
  return destroy("cublasLtMatmulDescDestroy", made);
}
NW_CUBLAS cublasLtMatmulDescSetAttribute(MatmulDesc* of, int attribute, const void* from,
                                         size_t bytes) {
  return set("cublasLtMatmulDescSetAttribute", of, attribute, from, bytes);
}
NW_CUBLAS cublasLtMatmulDescGetAttribute(const MatmulDesc* of, int attribute, void* to,
                                         size_t bytes, size_t* written) {
  return get("cublasLtMatmulDescGetAttribute", of, attribute, to, bytes, written);
}

NW_CUBLAS cublasLtMatmulPreferenceCreate(MatmulPreference** made) {
  return create("cublasLtMatmulPreferenceCreate", made, MatmulPreference{});
}
NW_CUBLAS cublasLtMatmulPreferenceInit_internal(MatmulPreference* at, size_t bytes) {
  return init("cublasLtMatmulPreferenceInit", at, bytes, MatmulPreference{});
}
NW_CUBLAS cublasLtMatmulPreferenceDestroy(MatmulPreference* made) {
  return destroy("cublasLtMatmulPreferenceDestroy", made);
}
NW_CUBLAS cublasLtMatmulPreferenceSetAttribute(MatmulPreference* of, int attribute,
                                               const void* from, size_t bytes) {
  return set("cublasLtMatmulPreferenceSetAttribute", of, attribute, from, bytes);
}
NW_CUBLAS cublasLtMatmulPreferenceGetAttribute(const MatmulPreference* of, int attribute, void* to,
                                               size_t bytes, size_t* written) {
  return get("cublasLtMatmulPreferenceGetAttribute", of, attribute, to, bytes, written);
}

NW_CUBLAS cublasLtMatmulAlgoGetHeuristic(Handle* handle, const MatmulDesc* desc,
                                         const MatrixLayout* a, const MatrixLayout* b,
                                         const MatrixLayout* c, const MatrixLayout* d,
                                         const MatmulPreference*, int wanted,
                                         MatmulHeuristic* results, int* found) {
  return call("cublasLtMatmulAlgoGetHeuristic", handle, [&] {
    require(desc != nullptr && a != nullptr && b != nullptr && c != nullptr && d != nullptr);
    require(wanted > 0 && results != nullptr && found != nullptr);
    *found = 0;
    MatmulDesc without_data = *desc;  // pointers may be set later
    static const char kAnything = 0;
    without_data.bias = without_data.aux = const_cast<char*>(&kAnything);
    check(product_of(without_data, {a, b, c, d}));
    results[0] = MatmulHeuristic{};
    *found = 1;
  });
}
NW_CUBLAS cublasLtMatmul(Handle* handle, const MatmulDesc* desc, const void* alpha, const void* a,
                         const MatrixLayout* a_layout, const void* b, const MatrixLayout* b_layout,
                         const void* beta, const void* c, const MatrixLayout* c_layout, void* d,
                         const MatrixLayout* d_layout, const MatmulAlgo*, void*, size_t,
                         Stream stream) {
  return call("cublasLtMatmul", handle, [&] {
    require(desc != nullptr && a_layout != nullptr && b_layout != nullptr);
    require(d != nullptr && d_layout != nullptr);
    if (c_layout == nullptr) c_layout = d_layout;
    const MatmulMatrices matrices{a_layout, b_layout, c_layout, d_layout};
    Product p = product_of(*desc, matrices);
    const bool rows = is_row_major(matrices);
    p.args.a.data = rows ? b : a;
    p.args.b.data = rows ? a : b;
    p.args.c.data = c;
    p.args.d.data = d;
    const auto scale = static_cast<DataType>(desc->scale);
    p.args.alpha = scalar_at(alpha, scale, desc->pointer_mode);
    p.args.beta = scalar_at(beta, scale, desc->pointer_mode);
    require(c != nullptr || (p.args.beta.at == nullptr && p.args.beta.value == 0));
    multiply(p, stream);
    sum_for_bias(p, *desc, stream);
  });
}
