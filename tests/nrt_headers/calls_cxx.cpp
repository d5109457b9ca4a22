// As a client that does not trust a C header's linkage.
extern "C" {
#include "tests/nrt_headers/calls.h"
}

void calls_of_cxx() {
  make_calls();
}
