// Device functions that stay calls: structures by value, small types, local memory, a constant
// table and variables with addresses. Regenerate: see README.md.
struct Item {
  double weight;
  int count;
  char tag[4];
};
__constant__ float scale[4] = {1.0f, 0.5f, 0.25f, 0.125f};
__device__ int table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
__device__ int* cursor = &table[1][1];

__device__ __noinline__ Item grow(Item item, int by) {
  item.weight += by;
  item.count *= 2;
  item.tag[by & 3] = 'x';
  return item;
}
__device__ __noinline__ short clip(char a, short b) { return b > a ? b : a; }
__device__ __noinline__ float pick(const float* values, int i) { return i > 2 ? values[i] : 1.0f; }

extern "C" __global__ void items(Item* list, float* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  Item item = grow(list[i], n);
  item.count += clip(item.tag[1], static_cast<short>(n)) + *cursor + table[n % 3][0];
  list[i] = grow(item, i);
  out[i] = pick(out, i) * scale[i & 3];
}
extern "C" __global__ void scatter(int* out, const int* in, int n) {
  int bins[16];
  for (int i = 0; i < 16; ++i) bins[i] = 0;
  for (int i = 0; i < n; ++i) bins[in[i] & 15] += i;
  for (int i = 0; i < 16; ++i) atomicAdd(out + i, bins[i]);
}
