#include "cli/compile/outputs.h"

#include <filesystem>
#include <span>
#include <system_error>

#include "base/files/output_target.h"
#include "io/file.h"

namespace millrace::cli {
namespace {

// Whether two paths lead to the same existing file.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error);
}

}  // namespace

bool same_place(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::weakly_canonical(a, error) == std::filesystem::weakly_canonical(b, error);
}

model::ArchiveForm form_of(const CompileArguments& arguments) {
  return arguments.format == "dir" ? model::ArchiveForm::kDirectory : model::ArchiveForm::kFile;
}

Status check_outputs(const CompileArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(model::check_archive_target(arguments.output, form_of(arguments)));
  MILLRACE_RETURN_IF_ERROR(form_of(arguments) == model::ArchiveForm::kFile
                               ? check_output(arguments.output)
                               : check_output_folder(arguments.output));
  return check_further_outputs(arguments);
}

Status check_further_outputs(const CompileArguments& arguments) {
  const std::string& report = arguments.calibration.report;
  MILLRACE_RETURN_IF_ERROR(check_output_folder(arguments.dump_passes));
  for (const std::string& other : {arguments.emit_qdq, report})
    MILLRACE_RETURN_IF_ERROR(check_output(other));
  for (const std::string& output : {arguments.output, arguments.emit_qdq, report})
    if (!arguments.onnx.content && same_file(arguments.onnx.path, output))
      return invalid_argument(output + " is the model itself: choose another output");
  for (const std::string& other : {arguments.emit_qdq, report})
    if (!other.empty() && same_place(other, arguments.output))
      return invalid_argument(other + " is the archive itself: choose another output");
  return {};
}

Status write_report(const QuantisationReport& report, const std::string& page) {
  if (page.empty()) return {};
  const std::string html = quantisation_html(report);
  return io::write_file(page, std::as_bytes(std::span(html)));
}

}  // namespace millrace::cli
