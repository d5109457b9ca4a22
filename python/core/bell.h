// The bell: an event fd of the process to which every unit with watched jobs adds 1 at each of its
// completions. Its readers are the event loops and the thread for callbacks.
//
// Nobody reads the counter, which could not be divided among several readers. Each reader watches
// the bell through an epoll of its own, edge-triggered, and so learns of every addition.
//
// All functions require the GIL.
#pragma once

namespace millrace::python {

// Returns the descriptor, which is open as long as the process. Raises OSError if there can be
// none.
int bell();

// Wakes all readers.
void ring_bell();

}  // namespace millrace::python
