// Work of the library before the program's main(). Not part of nw_cudart, whose other users have
// no wish for the device's addresses.
#include "host/functional/cudart/memory/address_range.h"

__attribute__((constructor)) static void begin_of_process(int, char** argv, char**) {
  nearwarp::cudart::keep_address_range_free(argv);
}
