// Textures and surfaces by handle.
extern "C" __global__ void fetch_1d(cudaTextureObject_t t, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(t, i - 2);
}
extern "C" __global__ void sample_2d(cudaTextureObject_t t, const float2* at, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float4>(t, at[i].x, at[i].y);
}
extern "C" __global__ void sample_integers(cudaTextureObject_t t, int4* out, int width) {
  out[threadIdx.x] = tex2D<int4>(t, threadIdx.x % width + 0.5f, threadIdx.x / width + 0.5f);
}
extern "C" __global__ void sample_others(cudaTextureObject_t volume, cudaTextureObject_t layers,
                                         cudaTextureObject_t cube, cudaTextureObject_t mipmap,
                                         float* out) {
  const float x = threadIdx.x * 0.37f;
  out[6 * threadIdx.x] = tex3D<float>(volume, x, 1.5f, threadIdx.x % 3 + 0.5f);
  out[6 * threadIdx.x + 1] = tex2DLayered<float>(layers, x, 0.5f, threadIdx.x % 3);
  out[6 * threadIdx.x + 2] = texCubemap<float>(cube, threadIdx.x % 3 == 0 ? 1.f : .1f,
                                               threadIdx.x % 3 == 1 ? -1.f : .2f,
                                               threadIdx.x % 3 == 2 ? 1.f : -.3f);
  out[6 * threadIdx.x + 3] = tex2DLod<float>(mipmap, 0.4f, 0.6f, threadIdx.x % 2);
  out[6 * threadIdx.x + 4] = tex2Dgather<float4>(layers, 2.0f, 2.0f, 0).y;
  out[6 * threadIdx.x + 5] = tex1DLayered<float>(layers, 1.5f, 2);
}
extern "C" __global__ void invert(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width,
                                  int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  uchar4 v = surf2Dread<uchar4>(from, x * 4, y);
  v.x = 255 - v.x;
  v.w = static_cast<unsigned char>(x);
  surf2Dwrite(v, to, x * 4, height - 1 - y);
}
extern "C" __global__ void outside(cudaSurfaceObject_t s, int* out) {
  out[0] = surf1Dread<int>(s, -4, cudaBoundaryModeZero);
  out[1] = surf1Dread<int>(s, 4000, cudaBoundaryModeClamp);
  surf1Dwrite(9, s, 4000, cudaBoundaryModeZero);
  if (out[2]) out[3] = surf1Dread<int>(s, 4000);
}
