#include "arguments.h"

#include <pybind11/stl.h>

#include <set>
#include <string>

namespace millrace::python {
namespace {

namespace py = pybind11;

// Takes options out of a dict, and refuses those that nobody has asked for.
class Options {
 public:
  explicit Options(const py::dict& options) : options_(options) {}

  template <class T>
  void read(const char* name, T& member) {
    known_.insert(name);
    if (options_.contains(name)) member = convert<T>(name, py::object(options_[name]));
  }

  void finish() const {
    for (const auto& [name, value] : options_)
      if (!known_.contains(py::cast<std::string>(name)))
        throw py::type_error("there is no option " + py::cast<std::string>(name));
  }

 private:
  template <class T>
  static T convert(const char* name, const py::handle& value) {
    try {
      return py::cast<T>(value);
    } catch (const py::cast_error&) {
      throw py::type_error(std::string(name) + ": a value of type " +
                           py::cast<std::string>(py::str(py::type::of(value).attr("__name__"))) +
                           " does not fit");
    }
  }

  py::dict options_;
  std::set<std::string> known_;
};

void read_flags(Options& options, cli::CompileFlags& flags) {
  options.read("given", flags.given);
  options.read("batch", flags.batch);
  options.read("precision", flags.precision);
  options.read("hw_layouts", flags.hw_layouts);
  options.read("hw_quantisation", flags.hw_quantisation);
  options.read("input_shapes", flags.input_shapes);
  options.read("cpu_operators", flags.cpu_operators);
  options.read("full_precision", flags.full_precision);
  options.read("reference", flags.reference);
}

void read_pictures(Options& options, cli::PictureFlags& picture) {
  options.read("mean", picture.mean);
  options.read("scale", picture.scale);
  options.read("deviation", picture.deviation);
  options.read("normalise", picture.normalise);
  options.read("order", picture.order);
  options.read("resize", picture.resize);
  options.read("short_side", picture.short_side);
}

void read_calibration(Options& options, cli::CalibrationFlags& flags) {
  options.read("data", flags.data);
  options.read("samples", flags.samples);
  options.read("method", flags.method);
  options.read("keep", flags.keep);
  options.read("accuracy_target", flags.accuracy_target);
  options.read("quantise_outputs", flags.quantise_outputs);
  options.read("power_of_two_scales", flags.power_of_two_scales);
  options.read("no_equalisation", flags.no_equalisation);
  options.read("no_bias_correction", flags.no_bias_correction);
  options.read("report", flags.report);
  read_pictures(options, flags.picture);
}

}  // namespace

cli::CompileArguments compile_arguments(const py::dict& options) {
  cli::CompileArguments arguments;
  Options reader(options);
  reader.read("model", arguments.onnx.path);
  reader.read("output", arguments.output);
  reader.read("format", arguments.format);
  reader.read("config", arguments.config);
  reader.read("profiles", arguments.profiles);
  reader.read("dump_passes", arguments.dump_passes);
  reader.read("emit_qdq", arguments.emit_qdq);
  read_calibration(reader, arguments.calibration);
  read_flags(reader, arguments.flags);
  reader.finish();
  return arguments;
}

cli::CompareArguments compare_arguments(const py::dict& options) {
  cli::CompareArguments arguments;
  Options reader(options);
  reader.read("model", arguments.model);
  reader.read("other", arguments.other);
  reader.read("reference", arguments.reference);
  reader.read("inputs", arguments.inputs);
  reader.read("shapes", arguments.shapes);
  reader.read("threshold", arguments.threshold);
  reader.read("device", arguments.device);
  read_pictures(reader, arguments.picture);
  reader.finish();
  return arguments;
}

cli::EvaluateArguments evaluate_arguments(const py::dict& options) {
  cli::EvaluateArguments arguments;
  Options reader(options);
  reader.read("model", arguments.model);
  reader.read("against", arguments.against);
  reader.read("data", arguments.data);
  reader.read("labels", arguments.labels);
  reader.read("classes", arguments.classes);
  reader.read("output", arguments.output);
  reader.read("top", arguments.top);
  reader.read("limit", arguments.limit);
  reader.read("shapes", arguments.shapes);
  reader.read("device", arguments.device);
  read_pictures(reader, arguments.picture);
  reader.finish();
  return arguments;
}

cli::ExplainArguments explain_arguments(const py::dict& options) {
  cli::ExplainArguments arguments;
  Options reader(options);
  reader.read("model", arguments.model);
  reader.read("profile", arguments.profile);
  reader.read("runs", arguments.runs);
  reader.read("shapes", arguments.shapes);
  reader.read("device", arguments.device);
  reader.finish();
  return arguments;
}

cli::TuneArguments tune_arguments(const py::dict& options) {
  cli::TuneArguments arguments;
  Options reader(options);
  reader.read("model", arguments.model);
  reader.read("record", arguments.record);
  reader.read("shapes", arguments.shapes);
  reader.read("runs", arguments.runs);
  reader.finish();
  return arguments;
}

InputArguments input_arguments(const py::dict& options) {
  InputArguments arguments;
  Options reader(options);
  reader.read("model", arguments.model);
  reader.read("inputs", arguments.inputs);
  reader.read("shapes", arguments.shapes);
  read_pictures(reader, arguments.picture);
  reader.finish();
  return arguments;
}

}  // namespace millrace::python
