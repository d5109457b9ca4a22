// Compares two compilations of one model, or one with reference values in .npy files, value by
// value. Models are loaded with their inner values as further outputs, so values are compared by
// name, as far as no pass has fused them into a node. One thread.
#pragma once

#include "base/status.h"
#include "cli/commands.h"
#include "cli/compare/layer_report.h"

namespace millrace::cli {

// Runs both sides on the inputs. Requirement: check_compare() accepts the arguments.
// kInvalidArgument: nothing can be compared, or sizes differ. Other errors are those of
// open_static_model(), of the inputs and of the device.
Result<LayerReport> compare_models(const CompareArguments& arguments);

}  // namespace millrace::cli
