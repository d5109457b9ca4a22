#include "inputs.h"

#include "cli/inputs/input_files.h"
#include "cli/inputs/open_tensors.h"
#include "cli/model_source.h"

namespace millrace::python {

Result<cli::LoadedInputs> read_inputs(const InputArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(cli::check_shape_texts("--shape", arguments.shapes));
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions picture,
                            cli::picture_options(arguments.picture));
  MILLRACE_ASSIGN_OR_RETURN(const auto model, cli::open_model(arguments.model, {}));
  MILLRACE_ASSIGN_OR_RETURN(const cli::GivenShapes shapes,
                            cli::parse_shapes(*model, arguments.shapes));
  MILLRACE_ASSIGN_OR_RETURN(const auto files, cli::resolve_inputs(*model, arguments.inputs));
  return cli::load_inputs(*model, device::View::kCpu, files, shapes, picture);
}

}  // namespace millrace::python
