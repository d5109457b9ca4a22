// Units may be created and closed without end: the memory and the ids of closed ones are reused.
#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(many_units) {
  for (int round = 0; round < 20; ++round) {
    std::vector<Unit> units;
    for (int i = 0; i < 50; ++i) units.push_back(make_unit({.depth = 1}));
    for (Unit& unit : units) EXPECT_STATUS(submit(unit).wait(kPatience), kOk);
  }
}

}  // namespace
}  // namespace millrace::conformance
