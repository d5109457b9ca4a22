// All environment variables that the vendor has published for the runtime, and what each means
// here. docs/nrt.md has the same lists. Thread-safe as long as no thread changes the environment.
#pragma once

#include <string>
#include <vector>

namespace millrace::nrt {

// Returns the variables that are set and mean nothing here, such as those of the vendor's hardware.
std::vector<std::string> meaningless_variables();
// Returns the variables NEURON_RT_... that are set and that the vendor has not published, mostly
// misspelt ones.
std::vector<std::string> unpublished_variables();

// Logs a warning about each variable that asks for something which is refused here, and one about
// unpublished variables. Each is logged once per process.
void warn_of_vendor_variables();

}  // namespace millrace::nrt
