// Functions that are not inlined: recursion, mutual recursion, pointers, virtual functions.
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ __noinline__ int is_odd(int n);
__device__ __noinline__ int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
__device__ __noinline__ int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }

struct Wide {
  double a;
  int b;
  short c[3];
};

// A structure in and out, and locals that live across calls.
__device__ __noinline__ Wide fold(Wide w, int depth, int* total) {
  int local[4] = {depth, w.b, w.c[0], 7};
  if (depth > 0) {
    Wide half = w;
    half.b += local[depth & 3];
    Wide r = fold(half, depth - 1, total);
    w.a += r.a * 0.5 + local[(depth + 1) & 3];
    w.b = r.b;
    w.c[depth % 3] += static_cast<short>(r.c[0] + local[depth & 3]);
  }
  *total += w.b;
  return w;
}

__global__ void recursion(int* fib, int* parity, Wide* wide, int* totals, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  fib[i] = fibonacci(i % 11);
  parity[i] = is_even(i);
  Wide w = {i * 0.25, i, {1, 2, 3}};
  int total = 0;
  wide[i] = fold(w, i % 7, &total);
  totals[i] = total;
}

using Operation = int (*)(int, int);
__device__ int plus_function(int a, int b) { return a + b; }
__device__ int minus_function(int a, int b) { return a - b; }
__device__ int times_function(int a, int b) { return a * b; }
__device__ Operation operations[3] = {plus_function, minus_function, times_function};
__constant__ Operation constant_operations[2] = {minus_function, times_function};

extern "C" __global__ void pointers(int* out, const int* which, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Operation f = which[i] % 2 ? plus_function : times_function;
  out[i] = operations[which[i] % 3](i, 5) + 1000 * constant_operations[which[i] % 2](i, 3) +
           1000000 * f(i, 2);
}

extern "C" __global__ void bad_pointer(int* out, unsigned long long address) {
  out[0] = reinterpret_cast<Operation>(address)(1, 2);
}

struct Expression {
  __device__ virtual int evaluate(int x) const = 0;
};
struct Constant : Expression {
  int value;
  __device__ explicit Constant(int v) : value(v) {}
  __device__ int evaluate(int) const override { return value; }
};
struct Variable : Expression {
  __device__ int evaluate(int x) const override { return x; }
};
struct Sum : Expression {
  const Expression *left, *right;
  __device__ Sum(const Expression* l, const Expression* r) : left(l), right(r) {}
  __device__ int evaluate(int x) const override { return left->evaluate(x) + right->evaluate(x); }
};
struct Product : Expression {
  const Expression *left, *right;
  __device__ Product(const Expression* l, const Expression* r) : left(l), right(r) {}
  __device__ int evaluate(int x) const override { return left->evaluate(x) * right->evaluate(x); }
};

// (x + c) * x + x * (x + c), with a tree on the heap.
extern "C" __global__ void virtual_functions(int* out, int c) {
  Variable* x = new Variable;
  Expression* sum = new Sum(x, new Constant(c));
  Expression* tree = new Sum(new Product(sum, x), threadIdx.x % 2 ? static_cast<Expression*>(sum)
                                                                  : new Product(x, sum));
  out[threadIdx.x] = tree->evaluate(static_cast<int>(threadIdx.x));
}
