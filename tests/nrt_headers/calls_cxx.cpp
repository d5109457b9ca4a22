// Compiled like a client that does not trust a C header's linkage.
extern "C" {
#include "tests/nrt_headers/calls.h"
#include "tests/nrt_headers/calls_with_commas.h"
}

void calls_of_cxx() {
  make_calls();
}

void calls_of_cxx_with_commas() {
  make_calls_with_commas();
}
