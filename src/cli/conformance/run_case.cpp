// A data set is checked against the declarations of the model before it is run. Files belong to the
// declared tensors by their order, and declared tensors to those of the archive by their name.
#include "cli/conformance/run_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/unique_fd.h"
#include "cli/conformance/model_facts.h"
#include "cli/conformance/tensor_file.h"
#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "lowering/operators/element_types.h"
#include "millrace/millrace.hpp"
#include "tensor/tensor_shape.h"

namespace millrace::cli {
namespace {

using compiler::ElementsInFile;
using ::onnx::TensorProto;

// The memory that the model's tensors are bound to in one job, in the order of the model.
struct Memory {
  std::vector<Buffer> buffers;
  std::vector<TensorArg> args;
  std::vector<TensorShape> shapes;  // of open tensors; inputs: from the files; outputs: by the job
};

struct LoadedCase {
  ModelFacts facts;
  Device device;
  Model model;
};

// Writes the archive to a file in memory, which has a path under /proc, and loads it from there.
Result<Model> load_archive(const graph::CompiledModel& compiled, const Device& device) {
  const std::vector<std::byte> bytes = model::archive_bytes(graph::encode(compiled));
  if (bytes.empty()) return internal_error("the model's structure is too large for an archive");
  const UniqueFd file(::memfd_create("millrace-conformance", MFD_CLOEXEC));
  if (!file) return io_error("make a file in memory", errno);
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) return io_error("write the archive to memory", errno);
  return device.load(path);
}

Result<LoadedCase> load_case(const TestCase& test, const graph::CompiledModel& compiled) {
  MILLRACE_ASSIGN_OR_RETURN(ModelFacts facts, read_model_facts(test.model_path()));
  MILLRACE_ASSIGN_OR_RETURN(Device device, Device::open("cpu", {.lanes = 1}));
  MILLRACE_ASSIGN_OR_RETURN(Model model, load_archive(compiled, device));
  return LoadedCase{std::move(facts), std::move(device), std::move(model)};
}

// Reads the input or the output files of a data set, in the order of the model's declarations.
Result<std::vector<ElementsInFile>> read_files(const std::filesystem::path& data_set,
                                               const std::string& prefix,
                                               const std::vector<DeclaredTensor>& declared) {
  const size_t count = count_tensors(data_set, prefix);
  if (count != declared.size())
    return Status(StatusCode::kNotFound,
                  fmt::format("{} has {} files {}*.pb, but the model declares {} tensors",
                              data_set.string(), count, prefix, declared.size()));
  std::vector<ElementsInFile> files;
  for (size_t i = 0; i < count; ++i) {
    const auto path = data_set / fmt::format("{}{}.pb", prefix, i);
    MILLRACE_ASSIGN_OR_RETURN(ElementsInFile file, read_tensor_file(path));
    // The generator of the tests uses NumPy, which has no BFLOAT16: it stores their bits as UINT16.
    if (declared[i].onnx_type == TensorProto::BFLOAT16 && file.onnx_type == TensorProto::UINT16)
      file.onnx_type = TensorProto::BFLOAT16;
    files.push_back(std::move(file));
  }
  return files;
}

// Returns the file of the declared tensor with the same name.
Result<const ElementsInFile*> file_of(const TensorInfo& tensor,
                                      const std::vector<DeclaredTensor>& declared,
                                      const std::vector<ElementsInFile>& files) {
  const auto found = std::ranges::find(declared, tensor.name, &DeclaredTensor::name);
  if (found != declared.end()) return &files[static_cast<size_t>(found - declared.begin())];
  return internal_error(
      fmt::format("the archive has a tensor '{}' that the model does not declare", tensor.name));
}

// Whether a single element stands for all that the model declares: the data sets of some CastLike
// cases have the operand "like" in this form.
bool is_repeated(const ElementsInFile& file) {
  return file.shape == graph::Dims{1};
}

// Requirement: the file's shape has at most TensorShape::kMaxRank dimensions.
TensorShape shape_of(const ElementsInFile& file) {
  return tensor::shape_of({file.shape.begin(), file.shape.end()});
}

Status wrong_shape(const TensorInfo& tensor, const std::string& shape, const ElementsInFile& file) {
  return Status(StatusCode::kInvalidArgument,
                fmt::format("the shape of '{}' is {}, expected [{}]", tensor.name, shape,
                            fmt::join(file.shape, ",")));
}

// Whether the view can have the file's shape. Open dimensions match any size.
bool can_have(const ViewInfo& view, const ElementsInFile& file) {
  if (!view.is_open) return std::ranges::equal(view.shape, file.shape);
  return file.shape.size() <= TensorShape::kMaxRank &&
         (view.shape.empty() || tensor::fits(shape_of(file), view.shape));
}

Status check_shape(const TensorInfo& tensor, const ElementsInFile& file, bool is_input) {
  if (can_have(tensor.cpu, file)) return {};
  if (is_input && !tensor.cpu.is_open && is_repeated(file)) return {};
  return wrong_shape(tensor, tensor::to_string(tensor.cpu.shape), file);
}

Status check_type(const TensorInfo& tensor, const ElementsInFile& file) {
  MILLRACE_ASSIGN_OR_RETURN(const DataType type, lowering::boundary_type(file.onnx_type));
  if (tensor.cpu.type == type) return {};
  return Status(StatusCode::kInvalidArgument,
                fmt::format("the type of '{}' is {}, expected {}", tensor.name,
                            to_string(tensor.cpu.type), to_string(type)));
}

Status check_declarations(std::span<const TensorInfo> tensors,
                          const std::vector<DeclaredTensor>& declared,
                          const std::vector<ElementsInFile>& files, bool are_inputs) {
  if (tensors.size() != declared.size())
    return internal_error(fmt::format("the archive has {} tensors where the model declares {}",
                                      tensors.size(), declared.size()));
  for (const TensorInfo& tensor : tensors) {
    MILLRACE_ASSIGN_OR_RETURN(const ElementsInFile* file, file_of(tensor, declared, files));
    MILLRACE_RETURN_IF_ERROR(check_type(tensor, *file));
    MILLRACE_RETURN_IF_ERROR(check_shape(tensor, *file, are_inputs));
  }
  return {};
}

// Allocates memory for the tensors; an open one has as many bytes as its file. Every byte is 0xff,
// so that elements are NaN, -1 or an invalid boolean: an output that the job does not write hardly
// looks correct by chance.
Result<Memory> allocate(std::span<const TensorInfo> tensors,
                        const std::vector<DeclaredTensor>& declared,
                        const std::vector<ElementsInFile>& files) {
  constexpr int kNothingComputed = 0xff;
  Memory memory;
  memory.shapes.resize(tensors.size());
  for (const TensorInfo& tensor : tensors) {
    MILLRACE_ASSIGN_OR_RETURN(const ElementsInFile* file, file_of(tensor, declared, files));
    const size_t bytes = tensor.cpu.is_open ? file->bytes.size() : tensor.cpu.bytes;
    MILLRACE_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(std::max<size_t>(bytes, 1)));
    std::memset(buffer.data(), kNothingComputed, buffer.size());
    TensorArg& arg = memory.args.emplace_back(buffer);
    if (tensor.cpu.is_open) arg.shape = &memory.shapes[memory.buffers.size()];
    memory.buffers.push_back(std::move(buffer));
  }
  return memory;
}

// Copies the files into the memory of the inputs, and sets the shapes of open ones.
Status fill(Memory& memory, std::span<const TensorInfo> tensors,
            const std::vector<DeclaredTensor>& declared, const std::vector<ElementsInFile>& files) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const ElementsInFile* file, file_of(tensors[i], declared, files));
    if (tensors[i].cpu.is_open) memory.shapes[i] = shape_of(*file);
    if (file->bytes.empty()) continue;
    std::byte* const data = memory.buffers[i].data();
    const size_t bytes = tensors[i].cpu.is_open ? file->bytes.size() : tensors[i].cpu.bytes;
    for (size_t at = 0; at < bytes; at += file->bytes.size())
      std::ranges::copy(file->bytes, data + at);
  }
  return {};
}

// Compares the shape that the job stated for an open output with that of the file.
Status check_output_shape(const TensorInfo& tensor, const TensorShape& stated,
                          const ElementsInFile& file) {
  const std::vector<uint32_t> expected(file.shape.begin(), file.shape.end());
  if (!tensor.cpu.is_open || tensor::fits(stated, expected)) return {};
  return wrong_shape(tensor, tensor::to_string(stated), file);
}

void note_difference(const TensorInfo& tensor, size_t elements, const ElementComparison& comparison,
                     Outcome& outcome) {
  outcome.error.add(comparison.error);
  if (!comparison.first) return;
  outcome.verdict = Verdict::kFail;
  if (!outcome.reason.empty()) outcome.reason += '\n';
  outcome.reason +=
      fmt::format("output '{}': {} of {} elements are wrong ({}); element {} is {}, expected {}",
                  tensor.name, comparison.wrong, elements, describe(comparison.error),
                  comparison.first->index, comparison.first->ours, comparison.first->expected);
}

Status compare_outputs(const LoadedCase& loaded, const Memory& outputs,
                       const std::vector<ElementsInFile>& expected, Outcome& outcome) {
  const auto tensors = loaded.model.outputs();
  for (size_t i = 0; i < tensors.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const ElementsInFile* file,
                              file_of(tensors[i], loaded.facts.outputs, expected));
    MILLRACE_RETURN_IF_ERROR(check_output_shape(tensors[i], outputs.shapes[i], *file));
    const std::span<const std::byte> ours(outputs.buffers[i].data(), file->bytes.size());
    MILLRACE_ASSIGN_OR_RETURN(const ElementComparison comparison,
                              compare_elements(file->onnx_type, ours, file->bytes));
    note_difference(tensors[i], file->bytes.size() / size_of(tensors[i].cpu.type), comparison,
                    outcome);
  }
  return {};
}

Status run_data_set(LoadedCase& loaded, const std::filesystem::path& data_set, Outcome& outcome) {
  const ModelFacts& facts = loaded.facts;
  MILLRACE_ASSIGN_OR_RETURN(const auto given, read_files(data_set, "input_", facts.inputs));
  MILLRACE_ASSIGN_OR_RETURN(const auto expected, read_files(data_set, "output_", facts.outputs));
  MILLRACE_RETURN_IF_ERROR(check_declarations(loaded.model.inputs(), facts.inputs, given, true));
  MILLRACE_RETURN_IF_ERROR(
      check_declarations(loaded.model.outputs(), facts.outputs, expected, false));
  MILLRACE_ASSIGN_OR_RETURN(Memory inputs, allocate(loaded.model.inputs(), facts.inputs, given));
  MILLRACE_ASSIGN_OR_RETURN(const Memory outputs,
                            allocate(loaded.model.outputs(), facts.outputs, expected));
  MILLRACE_RETURN_IF_ERROR(fill(inputs, loaded.model.inputs(), facts.inputs, given));
  MILLRACE_ASSIGN_OR_RETURN(Unit unit, loaded.device.create_unit());
  MILLRACE_RETURN_IF_ERROR(
      unit.execute(loaded.model, {.inputs = inputs.args, .outputs = outputs.args}));
  return compare_outputs(loaded, outputs, expected, outcome);
}

Status run_data_sets(const TestCase& test, const graph::CompiledModel& compiled, Outcome& outcome) {
  MILLRACE_ASSIGN_OR_RETURN(LoadedCase loaded, load_case(test, compiled));
  MILLRACE_ASSIGN_OR_RETURN(const auto data_sets, find_data_sets(test));
  if (data_sets.empty())
    return {StatusCode::kNotFound, fmt::format("{} has no test_data_set_*", test.folder.string())};
  outcome.verdict = Verdict::kPass;
  for (const auto& data_set : data_sets)
    MILLRACE_RETURN_IF_ERROR(run_data_set(loaded, data_set, outcome));
  return {};
}

// Removes paths of the case's files from a reason: the name of the case is printed beside it.
std::string without_folder(std::string reason, const TestCase& test) {
  for (const std::string& prefix : {test.model_path() + ": ", test.folder.string() + "/"})
    for (size_t at = reason.find(prefix); at != std::string::npos; at = reason.find(prefix, at))
      reason.erase(at, prefix.size());
  return reason;
}

}  // namespace

Outcome run_case(const TestCase& test) {
  const Result<graph::CompiledModel> compiled = compiler::compile(test.model_path(), {});
  Outcome outcome;
  const Status status = compiled.ok() ? run_data_sets(test, *compiled, outcome) : compiled.status();
  if (status.ok()) return outcome;
  const bool refused = !compiled.ok() && status.code() == StatusCode::kUnsupported;
  outcome.verdict = refused ? Verdict::kUnsupported : Verdict::kFail;
  outcome.reason = without_folder(status.message(), test);
  return outcome;
}

}  // namespace millrace::cli
