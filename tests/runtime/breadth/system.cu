// printf, assert, malloc and free in device code.
#include <cassert>
#include <cstdio>

extern "C" __global__ void print(int n, float f, const char* text) {
  if (threadIdx.x % 2 == 0) {
    printf("%d: block %u n=%+5d f=%.3f %s %lld %c %5.2e %% %x %lu\n", threadIdx.x, blockIdx.x, n, f,
           "abc", static_cast<long long>(n) * 10000000000LL, 'x', static_cast<double>(f), n,
           sizeof(double));
  }
  if (threadIdx.x == 3) printf("[%s]%*d|%-4d|\n", text, 6, n, n);
  if (threadIdx.x == 5) printf("plain\n");
}

extern "C" __global__ void check(const int* values) {
  if (threadIdx.x == 0) printf("before\n");
  assert(values[threadIdx.x] < 100);
}

struct Node {
  Node* next;
  int value;
};

// A list per thread, summed and freed.
extern "C" __global__ void lists(int* out, int n) {
  Node* head = nullptr;
  for (int i = 0; i < n; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->next = head;
    node->value = i * (threadIdx.x + 1);
    head = node;
  }
  int sum = 0;
  while (head != nullptr) {
    Node* next = head->next;
    sum += head->value;
    free(head);
    head = next;
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void too_much(int* out) {
  out[0] = malloc(size_t{1} << 40) == nullptr;
  out[1] = malloc(100) != nullptr;
}

extern "C" __global__ void double_free() {
  void* p = malloc(8);
  free(p);
  free(p);
}
