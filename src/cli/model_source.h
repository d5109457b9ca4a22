// Opens the model of a command: an archive in either form, or an ONNX file, which is compiled in
// memory. One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "device/device.h"
#include "lowering/options.h"

namespace millrace::cli {

// The precisions that need calibration (quantise/compile_calibrated.h), which only `millrace
// compile` does. "auto" is BF16, with FP32 for layers that would lose too much accuracy.
inline constexpr const char* kInt8 = "int8";
inline constexpr const char* kAuto = "auto";
bool needs_calibration(const std::string& precision);

// The compiler's options as texts of the command line.
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
  bool attention_in_parts = false;  // set by --precision int8 and auto, and by shard
};

// An ONNX model: the path of a file or, if `content` has a value, the content of one in memory,
// which is borrowed; `path` is then its name, as compiler::compile_content() takes it.
struct OnnxSource {
  std::string path;
  std::optional<std::string_view> content = {};
};

// Callbacks by which a command observes the compiler; each may be empty.
struct CompileObserver {
  decltype(compiler::CompileOptions::on_stage) on_stage;
  decltype(compiler::CompileOptions::on_assumed_frames) on_assumed_frames;
  decltype(compiler::CompileOptions::on_later_opset) on_later_opset = {};
};

// Says what is wrong with the compiler's options for a model, without opening it: a text that is
// not what an option takes, options for an archive, which is compiled already, or a precision that
// needs calibration.
Status check_flags(const std::string& model, const CompileFlags& flags);
// Checks only that the texts are what the options take: `millrace compile` calibrates.
Status check_compile_flags(const CompileFlags& flags);

// Returns the lowering options that the flags select. Operators that are not quantised compute in
// FP32 for `--precision int8`; `--precision auto` is BF16.
Result<lowering::LoweringOptions> lowering_options(const CompileFlags& flags);

// Compiles an ONNX model, with progress on a terminal.
Result<graph::CompiledModel> compile_onnx(const OnnxSource& source, const CompileFlags& flags,
                                          const CompileObserver& observer = {});

// Decodes an archive, or compiles a file whose name ends in .onnx.
Result<std::shared_ptr<const graph::CompiledModel>> open_model(const std::string& path,
                                                               const CompileFlags& flags);

// Opens a model like open_model(), as a static model: if it has open shapes, it is lowered with
// `shapes`, which are --shape arguments. kInvalidArgument like parse_shapes() (open_tensors.h), or
// if an open input has no shape; kUnsupported if shapes inside the model still depend on elements.
Result<std::shared_ptr<const graph::CompiledModel>> open_static_model(
    const std::string& path, const CompileFlags& flags, const std::vector<std::string>& shapes);

// Returns the size of all constants in bytes.
uint64_t weight_bytes(const graph::CompiledModel& model);

struct LoadedModel {
  std::shared_ptr<device::Device> device;
  std::shared_ptr<const device::Program> program;
};

// Loads the model on a device. `memory_limit` is the greatest number of bytes that it may use
// there; 0 means no limit.
Result<LoadedModel> load_on(const std::string& device_name,
                            std::shared_ptr<const graph::CompiledModel> model,
                            uint64_t memory_limit = 0, device::DeviceOptions options = {});

// Opens a model like open_model() and loads it like load_on().
Result<LoadedModel> load_model(const std::string& path, const CompileFlags& flags,
                               const std::string& device_name, uint64_t memory_limit = 0,
                               device::DeviceOptions options = {});

}  // namespace millrace::cli
