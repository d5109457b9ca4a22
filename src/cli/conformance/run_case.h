// Runs one case of the ONNX backend tests the whole way that a user's model goes: compiled, stored
// as an archive, loaded on the device "cpu", run through the native API.
#pragma once

#include "cli/conformance/outcome.h"
#include "cli/conformance/test_case.h"

namespace millrace::cli {

// All data sets of the case; the error is the largest of any of them. Unsupported is what the
// compiler refuses as such (kUnsupported); all else that goes wrong, a file of the case that cannot
// be read included, is a failure with a reason. Opens the device in this process, which therefore
// must not fork afterwards.
Outcome run_case(const TestCase& test);

}  // namespace millrace::cli
