// oneDNN's static objects, which the reserve keeps from being destroyed when the process exits: a
// program may load and run models until the very end, in destructors of static objects of its own,
// and on other threads meanwhile.
#pragma once

namespace millrace::device::cpu::reserve {

// Whether they outlive everything. Not where oneDNN was initialised before this library, as in
// sanitizer builds, or where its tables cannot be written to. Thread-safe. To be called once oneDNN
// is loaded.
bool keeps_objects() noexcept;

}  // namespace millrace::device::cpu::reserve
