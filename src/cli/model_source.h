// The source of a command's model: an archive in either form, or an ONNX file that is compiled in
// memory on the way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "device/device.h"
#include "lowering/options.h"

namespace millrace::cli {

// The precisions that take calibration (quantise/compile_calibrated.h); only `millrace compile`
// does that. Auto is BF16, and FP32 where BF16 would lose too much.
inline constexpr const char* kInt8 = "int8";
inline constexpr const char* kAuto = "auto";
bool needs_calibration(const std::string& precision);

// The compiler's options as they stand on the command line.
struct CompileFlags {
  std::vector<std::string> given;  // names of the options that the command line has
  uint32_t batch = 1;
  std::string precision = "fp32";
  std::vector<std::string> hw_layouts;  // NAME=LAYOUT, or NAME=GENERIC:0,2,3,1
  std::string hw_quantisation = "vendor";
  std::vector<std::string> input_shapes;  // NAME=1,3,224,224
  std::vector<std::string> cpu_operators;
  std::vector<std::string> full_precision;
  bool reference = false;
  bool attention_in_parts = false;  // no option: for --precision int8 and auto, and shard
};

// Callbacks by which a command follows the compiler; each may be empty.
struct CompileObserver {
  decltype(compiler::CompileOptions::on_stage) on_stage;
  decltype(compiler::CompileOptions::on_assumed_frames) on_assumed_frames;
};

// Returns the lowering options that the flags select. Operators that are not quantised compute in
// FP32 for `--precision int8`; `--precision auto` is BF16.
Result<lowering::LoweringOptions> lowering_options(const CompileFlags& flags);

// Compiles an ONNX file, with progress on a terminal.
Result<graph::CompiledModel> compile_onnx(const std::string& path, const CompileFlags& flags,
                                          const CompileObserver& observer = {});

// Decodes an archive, or compiles a file whose name ends in .onnx.
Result<std::shared_ptr<const graph::CompiledModel>> open_model(const std::string& path,
                                                               const CompileFlags& flags);

// The same, as a static model: `shapes` are --shape arguments, with which a model with open shapes
// is lowered. kInvalidArgument as parse_shapes() (open_tensors.h), and for an open input without a
// shape; kUnsupported where shapes inside the model still follow from elements.
Result<std::shared_ptr<const graph::CompiledModel>> open_static_model(
    const std::string& path, const CompileFlags& flags, const std::vector<std::string>& shapes);
// The size of all constants, in bytes.
uint64_t weight_bytes(const graph::CompiledModel& model);

struct LoadedModel {
  std::shared_ptr<device::Device> device;
  std::shared_ptr<const device::Program> program;
};

// Loads the model on a device. `memory_limit` is the most bytes it may use there; 0 means no limit.
Result<LoadedModel> load_on(const std::string& device_name,
                            std::shared_ptr<const graph::CompiledModel> model,
                            uint64_t memory_limit = 0, device::DeviceOptions options = {});

// open_model() and load_on().
Result<LoadedModel> load_model(const std::string& path, const CompileFlags& flags,
                               const std::string& device_name, uint64_t memory_limit = 0,
                               device::DeviceOptions options = {});

}  // namespace millrace::cli
