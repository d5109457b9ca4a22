/* Loads and runs a model, with calls that block. */
#include "tests/nrt/snippets/snippet.h"

int main(int argc, char** argv) {
  struct program program = start(argc, argv);
  SUCCEEDS(nrt_tensor_write(program.input, program.x.data, 0, program.x.size));
  SUCCEEDS(nrt_execute(program.model, program.inputs, program.outputs));
  SUCCEEDS(nrt_tensor_read(program.output, program.y.data, 0, program.y.size));
  require_expected(&program);
  return finish(&program);
}
