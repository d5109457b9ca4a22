#include "tests/nrt_headers/calls.h"
#include "tests/nrt_headers/calls_with_commas.h"

void calls_of_c(void) {
  make_calls();
}

void calls_of_c_with_commas(void) {
  make_calls_with_commas();
}
