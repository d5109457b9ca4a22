// The names of directory and files are those that the vendor documents: input_dump_<random number>_
// h_nn_<id of the execution>, with <name of the input>.bin for each input.
#include "nrt/requests/input_dump.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/cancellation.h"
#include "base/log.h"
#include "memory/host_access.h"
#include "model/files/output_file.h"
#include "model/files/temporary_output.h"
#include "nrt/terms/status.h"

namespace millrace::nrt {
namespace {

// The bytes that are written between two checks whether the request is asked to stop.
constexpr size_t kPiece = size_t{1} << 20;
constexpr int kAttempts = 16;

bool is_portable(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         c == '-' || c == '.';
}

// A name that is no portable file name is replaced by the input's number, with a sign that portable
// names do not have.
std::string file_name_of(const std::string& input, size_t index) {
  constexpr size_t kLongest = 200;
  const bool usable = !input.empty() && input.size() <= kLongest && input.front() != '.' &&
                      std::ranges::all_of(input, is_portable);
  return usable ? fmt::format("{}.bin", input) : fmt::format("#{}.bin", index);
}

uint32_t random_number() noexcept {
  uint32_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) number = 0;
  return number >> 1;
}

Result<std::string> make_dump_directory(uint64_t execution) {
  std::error_code ignored;  // then the path stays relative
  const std::filesystem::path here = std::filesystem::current_path(ignored);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string path =
        here / fmt::format("input_dump_{}_h_nn_{}", random_number() + attempt, execution);
    if (model::make_directory(path)) return path;
    if (errno != EEXIST) return io_error(fmt::format("cannot create {}", path), errno);
  }
  return Status(StatusCode::kIoError, "all names for the directory are taken");
}

Status write_frame(const runtime::TensorBinding& frame, size_t bytes, const model::Sink& sink,
                   queue::RunControl& control) {
  return memory::with_access(frame.access, memory::Access::kRead, [&] {
    const std::span whole(static_cast<const std::byte*>(frame.data), bytes);
    for (size_t at = 0; at < bytes; at += kPiece) {
      control.begin_step(control.position().step);  // progress for the watchdog
      if (control.stop_requested()) return control.stop_status();
      MILLRACE_RETURN_IF_ERROR(sink(whole.subspan(at, std::min(kPiece, bytes - at))));
    }
    return Status();
  });
}

Status write_input(const FailedExecution& failed, size_t index, const std::string& path,
                   queue::RunControl& control) {
  const std::vector<ModelTensor>& tensors = failed.model.inputs();
  MILLRACE_ASSIGN_OR_RETURN(model::TemporaryFile file, model::TemporaryFile::create(path));
  MILLRACE_RETURN_IF_ERROR(file.fill([&](const model::Sink& sink) {
    for (uint32_t frame = 0; frame < failed.model.frames(); ++frame)
      MILLRACE_RETURN_IF_ERROR(write_frame(failed.inputs[frame * tensors.size() + index],
                                           tensors[index].frame_bytes, sink, control));
    return Status();
  }));
  return file.commit();
}

Result<std::string> write_dump(const FailedExecution& failed, queue::RunControl& control) {
  const CancellationOff whole;
  MILLRACE_ASSIGN_OR_RETURN(std::string directory, make_dump_directory(failed.id));
  const std::vector<ModelTensor>& tensors = failed.model.inputs();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string path = directory + "/" + file_name_of(tensors[i].name, i);
    if (Status written = write_input(failed, i, path, control); !written.ok())
      return written.with_context(path);
  }
  const std::string& name = failed.model.name();
  MILLRACE_RETURN_IF_ERROR(
      model::write_whole_file(directory + "/model_name.txt", std::as_bytes(std::span(name))));
  return directory;
}

}  // namespace

void dump_inputs(const FailedExecution& failed, queue::RunControl& control) noexcept {
  if (control.stop_requested()) return;
  try {
    const Result<std::string> directory = write_dump(failed, control);
    if (directory.ok())
      log_format(LogLevel::kWarning, "nrt",
                 "the inputs of an execution of model \"{}\" that failed with {} are in {}",
                 failed.model.name(), name_of(failed.status), *directory);
    else
      log_format(LogLevel::kWarning, "nrt", "NEURON_RT_DBG_DUMP_INPUTS_ON_ERR: no inputs: {}",
                 directory.status().message());
  } catch (const std::exception&) {
    log(LogLevel::kWarning, "nrt", "NEURON_RT_DBG_DUMP_INPUTS_ON_ERR: no inputs: out of memory");
  }
}

}  // namespace millrace::nrt
