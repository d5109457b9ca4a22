#include "tests/nrt_headers/calls.h"

void calls_of_c(void) {
  make_calls();
}
