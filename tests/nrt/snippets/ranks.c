/* A program for many ranks, alone: it joins the world, meets the others, and gathers. */
#include <nrt/nrt_experimental.h>

#include "tests/nrt/snippets/snippet.h"

int main(int argc, char** argv) {
  struct program program = start(argc, argv);
  SUCCEEDS(nrt_cc_global_comm_init(0, 0, 1));
  SUCCEEDS(nrt_barrier(0, 0, 1));
  SUCCEEDS(nrt_all_gather(0, 0, 1, (uint32_t)program.x.size, program.x.data, program.y.data));
  REQUIRE(memcmp(program.y.data, program.x.data, program.x.size) == 0);
  SUCCEEDS(nrt_barrier(0, 0, 1));
  return finish(&program);
}
