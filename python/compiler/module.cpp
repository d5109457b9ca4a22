// The extension module `millrace._compiler`: the work of the commands of `millrace` on models, for
// compiler.py, which checks arguments and makes objects of the results. Nothing here prints. The
// GIL is released while a model is compiled or runs. Failures raise Failure(code, message).
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive_file.h"
#include "arguments.h"
#include "cli/compare/compare_models.h"
#include "cli/compile/compile_model.h"
#include "cli/compile/outputs.h"
#include "cli/compile/summary.h"
#include "cli/evaluate/evaluate_models.h"
#include "cli/explain/explain_model.h"
#include "cli/inspect/description.h"
#include "cli/report/json_text.h"
#include "cli/tune/tune_model.h"
#include "core/main_thread.h"
#include "core/without_gil.h"
#include "graph/archive/codec.h"
#include "inputs.h"
#include "model/archive_writer.h"
#include "report.h"

namespace millrace::python {
namespace {

namespace py = pybind11;

// The exception of this module, as it is thrown from C++.
struct Failure {
  Status status;
};

void set_failure(PyObject* type, const Status& status) {
  const std::string& message = status.message();
  const auto text = py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
      message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace"));
  PyErr_SetObject(type, py::make_tuple(std::string(to_string(status.code())), text).ptr());
}

// Does the work without the GIL. Throws Failure.
template <class Work>
auto released(const Work& work) {
  std::optional<decltype(work())> result;
  std::exception_ptr error;
  without_gil([&] {
    try {
      result.emplace(work());
    } catch (...) {
      error = std::current_exception();
    }
    return 0;
  });
  if (error) std::rethrow_exception(error);
  if (!result->ok()) throw Failure{result->status()};
  return **std::move(result);
}

// Does the work of a command that takes the arguments, as released() does.
template <class Arguments, class Work>
auto checked(Status (*check)(const Arguments&), const Work& work, const Arguments& arguments) {
  return released([&]() -> decltype(work(arguments)) {
    MILLRACE_RETURN_IF_ERROR(check(arguments));
    return work(arguments);
  });
}

py::list texts(const std::vector<std::string>& lines) {
  py::list list;
  for (const std::string& line : lines)
    list.append(py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
        line.data(), static_cast<Py_ssize_t>(line.size()), "backslashreplace")));
  return list;
}

struct Made {
  std::optional<cli::QuantisationReport> report;
  quantise::OutputAgreement outputs;
  std::vector<std::string> messages;
};

// Writes the archive to `descriptor` or, if that is negative, to the output of the arguments.
Status write_result(const cli::CompiledArchive& compiled, const cli::CompileArguments& arguments,
                    int descriptor) {
  if (descriptor >= 0) return write_archive_to(descriptor, compiled.model, compiled.columns);
  return model::write_archive(graph::encode(compiled.model, compiled.columns), arguments.output,
                              cli::form_of(arguments));
}

Result<Made> make_archive(const cli::CompileArguments& arguments, int descriptor) {
  MILLRACE_RETURN_IF_ERROR(cli::check_compile(arguments));
  MILLRACE_RETURN_IF_ERROR(descriptor >= 0 ? cli::check_further_outputs(arguments)
                                           : cli::check_outputs(arguments));
  Made made;
  const auto take_note = [&](const std::string& line) { made.messages.push_back(line); };
  MILLRACE_ASSIGN_OR_RETURN(cli::CompiledArchive compiled,
                            cli::compile_model(arguments, take_note));
  MILLRACE_RETURN_IF_ERROR(write_result(compiled, arguments, descriptor));
  const std::string name = descriptor >= 0 ? compiled.model.name : arguments.output;
  for (std::string& line : cli::summary_lines(compiled, name))
    made.messages.push_back(std::move(line));
  if (compiled.report)
    MILLRACE_RETURN_IF_ERROR(cli::write_report(*compiled.report, arguments.calibration.report));
  made.report = std::move(compiled.report);
  made.outputs = compiled.outputs;
  return made;
}

// Compiles `content`, an ONNX file in memory, or if that is None the file that the options name.
py::tuple compile(const py::dict& options, const std::optional<py::buffer>& content,
                  int descriptor) {
  cli::CompileArguments arguments = compile_arguments(options);
  std::optional<py::buffer_info> held;
  if (content) {
    held = content->request();
    if (PyBuffer_IsContiguous(held->view(), 'C') == 0)
      throw py::value_error("model: the bytes must be contiguous");
    arguments.onnx.content = std::string_view(static_cast<const char*>(held->ptr),
                                              static_cast<size_t>(held->size * held->itemsize));
  }
  const Made made = released([&] { return make_archive(arguments, descriptor); });
  const py::object report =
      made.report ? py::object(report_dict(*made.report, made.outputs)) : py::object(py::none());
  return py::make_tuple(texts(made.messages), report);
}

std::string describe(const std::string& path) {
  return cli::json_line(released([&] { return cli::describe_model(path, {}); }));
}

std::string explain(const py::dict& options) {
  return cli::json_line(
      checked(cli::check_explain, cli::explain_model, explain_arguments(options)));
}

std::string compare(const py::dict& options) {
  return cli::layers_json(
      checked(cli::check_compare, cli::compare_models, compare_arguments(options)));
}

std::string evaluate(const py::dict& options) {
  const cli::EvaluatedModels models =
      checked(cli::check_evaluate, cli::evaluate_models, evaluate_arguments(options));
  return cli::evaluation_json(models.report, models.evaluation);
}

// Returns (record, convolutions, usual milliseconds, tuned milliseconds).
py::tuple tune(const py::dict& options) {
  const cli::Tuning tuning = checked(cli::check_tune, cli::tune_model, tune_arguments(options));
  return py::make_tuple(py::bytes(tuning.record), tuning.convolutions, tuning.usual_ms,
                        tuning.tuned_ms);
}

// Returns a list of (name, type, shape of a frame, bytes of all frames).
py::list inputs(const py::dict& options) {
  const InputArguments arguments = input_arguments(options);
  const cli::LoadedInputs loaded = released([&] { return read_inputs(arguments); });
  py::list list;
  for (size_t i = 0; i < loaded.boundaries.size(); ++i) {
    const tensor::TensorDesc& cpu = loaded.boundaries[i].cpu;
    const auto* const data = reinterpret_cast<const char*>(loaded.bytes[i].data());
    list.append(py::make_tuple(cpu.name, std::string(to_string(cpu.type)), cpu.shape,
                               py::bytearray(data, loaded.bytes[i].size())));
  }
  return list;
}

}  // namespace
}  // namespace millrace::python

PYBIND11_MODULE(_compiler, module) {
  namespace py = pybind11;
  namespace native = millrace::python;
  module.doc() = "The compiler of Millrace; millrace.compiler is its interface.";
  native::track_main_thread();
  static PyObject* failure = nullptr;
  failure = PyErr_NewExceptionWithDoc("millrace._compiler.Failure",
                                      "A failure with the arguments (code, message).",
                                      PyExc_RuntimeError, nullptr);
  module.attr("Failure") = py::reinterpret_borrow<py::object>(failure);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const native::Failure& caught) {
      native::set_failure(failure, caught.status);
    }
  });
  module.def("compile", &native::compile, py::arg("options"), py::arg("content"),
             py::arg("descriptor"));
  module.def("describe", &native::describe, py::arg("path"));
  module.def("explain", &native::explain, py::arg("options"));
  module.def("compare", &native::compare, py::arg("options"));
  module.def("evaluate", &native::evaluate, py::arg("options"));
  module.def("tune", &native::tune, py::arg("options"));
  module.def("inputs", &native::inputs, py::arg("options"));
}
