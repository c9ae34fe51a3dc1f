// Stands for a CUDA library that brings machine code alone, in a test.
extern "C" int nw_test_library() { return 0; }
