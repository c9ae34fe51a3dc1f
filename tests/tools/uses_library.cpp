// An application whose CUDA library cannot be initialised: it fails, as those of users do.
extern "C" int nw_test_library();

int main() { return 1 + nw_test_library(); }
