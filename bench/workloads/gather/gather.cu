// out[i] = table[index[i]] with random indices: nearly every lane touches a line of its own.
extern "C" __global__ void gather(const int* table, const int* index, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]];
}
