// These functions wait for other processes, for the NRT samples. A signal that the program handles,
// or that stops and continues it, interrupts none of them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Reads `size` bytes from the descriptor; false when it ends before that, or cannot be read.
bool read_whole(int descriptor, void* bytes, size_t size);
bool write_whole(int descriptor, const void* bytes, size_t size);
// Waits until the process, -1 for any child, has ended. `status` is set as by waitpid().
bool await_process(pid_t process, int* status);
