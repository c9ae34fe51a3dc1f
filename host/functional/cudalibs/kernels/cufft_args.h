// Parameters of cuFFT's kernels; the host fills them in (cufft.cpp).
#pragma once

namespace nearwarp::cufft {

/// Between an application's arrays and compact complex ones of `n[0]` x `n[1]` x `n[2]` elements,
/// one behind the other for each of `batch` transforms.
struct CopyArgs {
  long long n[3];       ///< of the transform, the last one fastest; 1 in front for fewer dimensions
  long long stride[3];  ///< of the application's array, in its elements
  long long distance;   ///< between its transforms
  long long batch;
  void* array;  ///< the application's
  void* compact;
};

/// One pass of a transform along an axis: `length` elements that lie `inner` apart, in `outer` x
/// `inner` lines. Of the length's factors those whose product is `done` have been dealt with.
struct PassArgs {
  const void* from;
  void* to;
  long long length, inner, outer, done;
  int radix;
  int sign;  ///< of the exponent: -1 forward
};

/// Transforms along an axis as convolutions, after Bluestein: `outer` x `inner` lines of `length`
/// elements that lie `inner` apart in `lines`, and in `padded` as many lines one behind the other,
/// of `extent` elements each.
struct ChirpArgs {
  void* lines;
  void* padded;
  void* filter;  ///< `extent` elements
  long long length, inner, outer, extent;
  int sign;  ///< of the exponent
};

}  // namespace nearwarp::cufft
