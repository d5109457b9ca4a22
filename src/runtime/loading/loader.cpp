// Loading needs more stack than the calling thread may have (with_stack), and runs in the default
// floating-point environment. The checksums of the constants are compared meanwhile
// (verification.h); a mismatch takes precedence over other errors, which may follow from it.
#include "runtime/loading/loader.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/cancellation.h"
#include "base/float_environment.h"
#include "base/process/stack.h"
#include "device/registry.h"
#include "graph/archive/codec.h"
#include "memory/buffer.h"
#include "model/archive.h"
#include "record/record.h"
#include "runtime/loading/memory_limit.h"
#include "runtime/loading/recorded_model.h"
#include "runtime/loading/static_model.h"
#include "runtime/loading/vendor_boundary.h"
#include "runtime/loading/verification.h"

namespace millrace::runtime {

namespace {

// Adds the path to the status, unless the archive is in memory and has none.
Status named(const Status& status, const std::string& path) {
  return path.empty() ? status : status.with_context(path);
}

// A model whose constants are being verified.
struct OpenedModel {
  std::string path;
  std::shared_ptr<const graph::CompiledModel> model;
  uint32_t columns;
  std::unique_ptr<Verification> verification;
};

Result<OpenedModel> decode(const std::shared_ptr<const model::Archive>& archive) {
  Result<graph::CompiledModel> model = graph::decode_unverified(archive);
  if (!model.ok()) return named(model.status(), archive->path());
  MILLRACE_ASSIGN_OR_RETURN(const uint32_t columns, graph::columns_of(*archive));
  return OpenedModel{archive->path(),
                     std::make_shared<const graph::CompiledModel>(*std::move(model)), columns,
                     std::make_unique<Verification>(archive)};
}

Result<OpenedModel> read_model(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const model::Archive> archive,
                            model::Archive::open(path));
  return decode(archive);
}

// Converts the model for a face whose API supports static shapes only, or to the named profile.
Result<std::shared_ptr<const graph::CompiledModel>> as_static(
    std::shared_ptr<const graph::CompiledModel> model, const device::Device& device,
    const std::string& path, std::string_view profile) {
  Result<std::shared_ptr<const graph::CompiledModel>> made =
      static_model(std::move(model), device.capabilities(), profile);
  if (!made.ok()) return named(made.status(), path);
  return made;
}

Result<OpenedModel> copy_model(std::span<const std::byte> bytes) {
  if (bytes.empty()) return corrupt_data("the archive is empty");
  MILLRACE_ASSIGN_OR_RETURN(const memory::Buffer copy,
                            memory::Buffer::allocate(bytes.size(), memory::BufferKind::kHeap));
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const model::Archive> archive,
                            model::Archive::from_memory({copy.data(), copy.size()}, copy.owner()));
  return decode(archive);
}

// Loads the model with `load`, then waits for the verification of its constants. Corrupt constants
// are reported instead of any other failure, which may follow from them.
template <class Load>
std::invoke_result_t<Load> verified(const OpenedModel& opened, const Load& load) {
  std::invoke_result_t<Load> loaded = load();
  MILLRACE_RETURN_IF_ERROR(named(opened.verification->finish(), opened.path));
  return loaded;
}

Result<std::shared_ptr<const graph::CompiledModel>> for_vendors(const OpenedModel& opened,
                                                                const device::Device& device,
                                                                std::string_view profile = {}) {
  MILLRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const graph::CompiledModel> model,
                            as_static(opened.model, device, opened.path, profile));
  MILLRACE_RETURN_IF_ERROR(named(check_vendor_boundary(*model), opened.path));
  return model;
}

Result<std::shared_ptr<const device::Program>> load_on(
    device::Device& device, std::shared_ptr<const graph::CompiledModel> model,
    const std::string& path, uint64_t limit = 0,
    std::shared_ptr<ranks::Communicator> communicator = nullptr) {
  Result<std::shared_ptr<const device::Program>> program =
      load_within(limit, device, std::move(model), std::move(communicator));
  if (!program.ok()) return named(program.status(), path);
  return program;
}

}  // namespace

Result<std::shared_ptr<const device::Program>> load_program(const std::string& path,
                                                            device::Device& device,
                                                            uint64_t memory_limit,
                                                            std::string_view profile) {
  const CancellationOff whole;
  const DefaultFloatEnvironment floats;
  return with_stack([&]() -> Result<std::shared_ptr<const device::Program>> {
    MILLRACE_ASSIGN_OR_RETURN(const OpenedModel opened, read_model(path));
    return verified(opened, [&]() -> Result<std::shared_ptr<const device::Program>> {
      std::shared_ptr<const graph::CompiledModel> model = opened.model;
      if (!profile.empty()) {
        MILLRACE_ASSIGN_OR_RETURN(model, as_static(std::move(model), device, path, profile));
      }
      MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const device::Program> program,
                                load_on(device, std::move(model), path, memory_limit));
      if (record::on()) [[unlikely]]
        record_model(*program, {*opened.model, path}, profile);
      return program;
    });
  });
}

Result<std::shared_ptr<const device::Program>> load_program(
    std::span<const std::byte> archive, device::Device& device,
    std::shared_ptr<ranks::Communicator> communicator) {
  const CancellationOff whole;
  const DefaultFloatEnvironment floats;
  return with_stack([&]() -> Result<std::shared_ptr<const device::Program>> {
    MILLRACE_ASSIGN_OR_RETURN(const OpenedModel opened, copy_model(archive));
    return verified(opened, [&]() -> Result<std::shared_ptr<const device::Program>> {
      MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const graph::CompiledModel> model,
                                for_vendors(opened, device));
      const bool is_of_rank = communicator != nullptr;
      MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const device::Program> program,
                                load_on(device, std::move(model), "", 0, std::move(communicator)));
      if (record::on()) [[unlikely]] {
        // A rank's jobs cannot be run again without the other ranks.
        if (is_of_rank)
          record::forget_model(&program->model());
        else
          record_static_model(*program, {*opened.model, "", archive}, "");
      }
      return program;
    });
  });
}

Result<LoadedProgram> load_program(const std::string& path,
                                   const std::optional<std::string>& device_name,
                                   std::string_view profile) {
  const CancellationOff whole;
  const DefaultFloatEnvironment floats;
  return with_stack([&]() -> Result<LoadedProgram> {
    MILLRACE_ASSIGN_OR_RETURN(const OpenedModel opened, read_model(path));
    return verified(opened, [&]() -> Result<LoadedProgram> {
      MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<device::Device> device,
                                device::open_device_of_program(device_name));
      MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const graph::CompiledModel> model,
                                for_vendors(opened, *device, profile));
      MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const device::Program> program,
                                load_on(*device, std::move(model), path));
      if (record::on()) [[unlikely]]
        record_static_model(*program, {*opened.model, path}, profile);
      return LoadedProgram{std::move(device), std::move(program), opened.columns};
    });
  });
}

}  // namespace millrace::runtime
