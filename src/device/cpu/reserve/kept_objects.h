// Keeps oneDNN's static objects from being destroyed when the process exits: a program may load and
// run models until the very end, in destructors of its own static objects, and on other threads
// at that time.
#pragma once

namespace millrace::device::cpu::reserve {

// Returns whether they outlive everything. They do not if oneDNN was initialised before this
// library, as in sanitizer builds, or where its tables cannot be written to. Thread-safe. To be
// called once oneDNN is loaded.
bool keeps_objects() noexcept;

}  // namespace millrace::device::cpu::reserve
