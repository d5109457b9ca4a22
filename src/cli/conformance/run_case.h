// Runs one case of the ONNX backend tests end to end, as a user's model is run: it is compiled,
// stored as an archive, loaded on the device "cpu" and run through the native API.
#pragma once

#include "cli/conformance/outcome.h"
#include "cli/conformance/test_case.h"

namespace millrace::cli {

// Runs all data sets of the case; the error of the outcome is the largest of all of them. The
// verdict is kUnsupported if the compiler returns this code. Every other failure, also a file of
// the case that cannot be read, is kFail with a reason. Opens the device in this process, so the
// process must not fork afterwards.
Outcome run_case(const TestCase& test);

}  // namespace millrace::cli
