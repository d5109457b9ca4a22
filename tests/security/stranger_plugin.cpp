// Code that an attacker would like a program to load: it leaves a mark where it was loaded.
#include <cstdlib>
#include <fstream>

namespace {

[[gnu::constructor]] void leave_mark() {
  if (const char* const mark = std::getenv("STRANGER_MARK")) std::ofstream(mark) << "loaded\n";
}

}  // namespace
