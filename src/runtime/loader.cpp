#include "runtime/loader.h"

#include <fmt/format.h>

#include <utility>

#include "device/registry.h"
#include "graph/archive_codec.h"
#include "model/archive.h"

namespace millrace::runtime {

Result<LoadedProgram> load_program(const std::string& path, const std::string& device_name) {
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const model::Archive> archive,
                            model::Archive::open(path));
  Result<graph::CompiledModel> model = graph::decode(archive);
  if (!model.ok()) return model.status().with_context(path);
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<device::Device> device,
                            device::open_device(device_name));
  Result<std::shared_ptr<const device::Program>> program =
      device->load(std::make_shared<const graph::CompiledModel>(*std::move(model)));
  if (!program.ok()) return program.status().with_context(path);
  return LoadedProgram{std::move(device), *std::move(program)};
}

}  // namespace millrace::runtime
