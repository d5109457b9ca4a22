#include "base/process/process_exit.h"

#include <unwind.h>

#include <cstdlib>

namespace millrace {
namespace {

// Visits a frame of the stack and looks for exit(). An atexit handler that sets a flag would not
// work, since handlers that were registered later run before it.
_Unwind_Reason_Code look_for_exit(_Unwind_Context* frame, void* found) {
  // The return address may belong to the next function, if the call is the last instruction.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the unwinder has addresses as integers.
  auto* const address = reinterpret_cast<void*>(_Unwind_GetIP(frame) - 1);
  if (_Unwind_FindEnclosingFunction(address) != reinterpret_cast<void*>(&std::exit))
    return _URC_NO_REASON;
  *static_cast<bool*>(found) = true;
  return _URC_END_OF_STACK;
}

}  // namespace

bool is_inside_exit() noexcept {
  bool found = false;
  _Unwind_Backtrace(look_for_exit, &found);
  return found;
}

}  // namespace millrace
