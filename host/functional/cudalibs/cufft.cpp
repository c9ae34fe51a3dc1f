// Plans of Fourier transforms and their execution.
#include "host/functional/cudalibs/cufft.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "host/functional/cudalibs/kernels/cufft_args.h"
#include "host/functional/cudalibs/own_ptx.h"

namespace nearwarp::cufft {
extern const char* const kernels_ptx;
}
const char* nearwarp::cudalibs::own_ptx() { return cufft::kernels_ptx; }

namespace nearwarp::cufft {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 33;

bool is_double(int type) { return (type & 0x40) != 0; }
bool reads_real(int type) { return type == kR2C || type == kD2Z; }
bool writes_real(int type) { return type == kC2R || type == kZ2D; }
const char* suffix(int type) { return is_double(type) ? "_f64" : "_f32"; }

/// The factors of a length, in the order of the passes.
std::vector<int64_t> factors(int64_t n) {
  std::vector<int64_t> result;
  for (const int radix : {4, 2, 3, 5})
    for (; n % radix == 0; n /= radix) result.push_back(radix);
  for (int64_t radix = 7; n > 1; radix += 2) {
    if (radix * radix > n) radix = n;  // a prime is left
    for (; n % radix == 0; n /= radix) result.push_back(radix);
  }
  return result;
}

/// The largest prime factor that has passes of its own. They take as many operations for an element
/// as it says, a convolution some 12 times the logarithm of the length (estimated).
constexpr int kMostRadix = 31;

/// The length of a convolution in place of a transform along an axis; 0: that has passes.
int64_t convolution_length(int64_t n) {
  const std::vector<int64_t> all = factors(n);
  if (all.empty() || *std::max_element(all.begin(), all.end()) <= kMostRadix) return 0;
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)));
}

std::string radix_kernel(int radix) {
  return radix <= 5 ? "cufft_radix" + std::to_string(radix) : "cufft_any_radix";
}

}  // namespace

/// Strides of three dimensions, the last one fastest. `halved`: of the last dimension there are n /
/// 2 + 1 elements. `padded`: reals in place of as many complex numbers, for transforms in place.
Plan::Side Plan::side_of(const std::vector<int64_t>& n, const Layout& layout, bool halved,
                         bool padded) {
  Side side;
  const size_t rank = n.size();
  int64_t stride = layout.stride;
  for (size_t d = rank; d-- > 0;) {
    side.stride[3 - rank + d] = stride;
    int64_t extent = n[d];
    if (d + 1 == rank && halved) extent = n[d] / 2 + 1;
    if (d + 1 == rank && padded) extent = 2 * (n[d] / 2 + 1);
    stride *= layout.embed.empty() ? extent : std::max<int64_t>(layout.embed[d], 1);
  }
  side.distance = layout.embed.empty() ? stride : layout.distance;
  return side;
}

void Plan::make(const std::vector<int64_t>& n, const Layout& in, const Layout& out, int type,
                int64_t batch) {
  require(!is_made(), kInvalidPlan);
  require(
      type == kC2C || type == kR2C || type == kC2R || type == kZ2Z || type == kD2Z || type == kZ2D,
      kInvalidType);
  require(!n.empty() && n.size() <= 3 && batch > 0, n.empty() ? kInvalidValue : kInvalidSize);
  require(in.stride > 0 && out.stride > 0);
  int64_t elements = batch;
  for (const int64_t extent : n) {
    require(extent > 0 && extent <= kMostElements / elements, kInvalidSize);
    elements *= extent;
  }
  std::fill_n(n_, 3, 1);
  std::copy(n.begin(), n.end(), n_ + 3 - n.size());
  in_ = side_of(n, in, writes_real(type), false);
  out_ = side_of(n, out, reads_real(type), false);
  // Compact reals in place have room for the complex numbers of their line.
  padded_in_ = side_of(n, in, writes_real(type), reads_real(type));
  padded_out_ = side_of(n, out, reads_real(type), writes_real(type));
  type_ = type;
  batch_ = batch;
  compact_bytes_ = static_cast<size_t>(elements) * element_bytes();
  convolution_bytes_ = 0;
  for (int axis = 0; axis < 3; ++axis)  // two copies of padded lines and of the filter
    convolution_bytes_ =
        std::max(convolution_bytes_, 2 * element_bytes() * static_cast<size_t>(lines_of(axis) + 1) *
                                         static_cast<size_t>(convolution_length(n_[axis])));
  own_ = {};
  if (!allocates) return;
  try {
    own_ = cudalibs::Memory(work_bytes());
  } catch (...) {
    batch_ = 0;  // it is not made: a smaller one may be
    throw;
  }
}

size_t Plan::element_bytes() const { return is_double(type_) ? 16 : 8; }

void Plan::passes(void** from, void** to, int64_t length, int64_t inner, int64_t outer,
                  int sign) const {
  int64_t done = 1;
  for (const int64_t factor : factors(length)) {
    const int radix = static_cast<int>(factor);  // no more than kMostRadix
    const PassArgs args = {*from, *to, length, inner, outer, done, radix, sign};
    const int64_t threads = outer * inner * (radix <= 5 ? length / radix : length);
    cudalibs::launch((radix_kernel(radix) + suffix(type_)).c_str(), threads, &args, stream);
    done *= radix;
    std::swap(*from, *to);
  }
}

/// A transform along an axis in place, as a convolution with a chirp, which is a product of
/// transforms of a length that is a power of two (Bluestein 1970).
void Plan::convolve(void* lines, int axis, int64_t inner, int sign) const {
  const int64_t extent = convolution_length(n_[axis]), count = lines_of(axis);
  char* const work = static_cast<char*>(convolution_);
  const auto part = [&](int64_t elements) {
    return work + static_cast<size_t>(elements * extent) * element_bytes();
  };
  void *padded = part(0), *other = part(count), *filter = part(2 * count),
       *other_filter = part(2 * count + 1);
  ChirpArgs args = {lines, padded, filter, n_[axis], inner, count / inner, extent, sign};
  const auto run = [&](const char* name, int64_t threads) {
    args.padded = padded;
    args.filter = filter;
    cudalibs::launch((std::string("cufft_chirp_") + name + suffix(type_)).c_str(), threads, &args,
                     stream);
  };
  run("filter", extent);
  passes(&filter, &other_filter, extent, 1, 1, -1);
  run("in", count * extent);
  passes(&padded, &other, extent, 1, count, -1);
  run("multiply", count * extent);
  passes(&padded, &other, extent, 1, count, 1);
  run("out", count * n_[axis]);
}

/// All axes; `from` has the result in the end.
void Plan::transform(void** from, void** to, int sign) const {
  int64_t inner = 1;
  for (int axis = 2; axis >= 0; --axis) {
    if (convolution_length(n_[axis]) != 0)
      convolve(*from, axis, inner, sign);
    else
      passes(from, to, n_[axis], inner, lines_of(axis) / inner, sign);
    inner *= n_[axis];
  }
}

void Plan::execute(const void* in, void* out, int sign) {
  require(is_made(), kInvalidPlan);
  require(in != nullptr && out != nullptr && (sign == 1 || sign == -1));
  char* const work = static_cast<char*>(allocates ? own_.get() : given_);
  require(work != nullptr, kInvalidPlan);
  void *from = work, *to = work + compact_bytes_;
  convolution_ = work + 2 * compact_bytes_;
  const bool in_place = in == out;
  const Side& read = in_place ? padded_in_ : in_;
  const Side& written = in_place ? padded_out_ : out_;
  const int64_t elements = batch_ * n_[0] * n_[1] * n_[2];
  CopyArgs args{};
  const auto copy = [&](const char* name, const Side& side, void* array, void* compact) {
    std::copy_n(n_, 3, args.n);
    std::copy_n(side.stride, 3, args.stride);
    args.distance = side.distance;
    args.batch = batch_;
    args.array = array;
    args.compact = compact;
    cudalibs::launch((std::string(name) + suffix(type_)).c_str(), elements, &args, stream);
  };
  copy(reads_real(type_)    ? "cufft_gather_real"
       : writes_real(type_) ? "cufft_gather_half"
                            : "cufft_gather_complex",
       read, const_cast<void*>(in), from);
  transform(&from, &to, sign);
  copy(writes_real(type_)  ? "cufft_scatter_real"
       : reads_real(type_) ? "cufft_scatter_half"
                           : "cufft_scatter_complex",
       written, out, from);
}

}  // namespace nearwarp::cufft
