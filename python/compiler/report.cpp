#include "report.h"

#include <pybind11/stl.h>

#include <cmath>
#include <optional>
#include <string>

namespace millrace::python {
namespace {

namespace py = pybind11;

std::optional<double> unless_nan(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

// Returns text of a model, which need not be UTF-8.
py::str text(const std::string& bytes) {
  return py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
      bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace"));
}

py::dict layer_dict(const cli::LayerRow& layer) {
  using namespace py::literals;
  return py::dict("name"_a = text(layer.name), "operator"_a = layer.operator_name,
                  "precision"_a = layer.precision, "is_kept"_a = layer.is_kept,
                  "snr_db"_a = unless_nan(layer.snr_db), "cosine"_a = unless_nan(layer.cosine),
                  "low"_a = layer.low, "high"_a = layer.high, "scale"_a = layer.scale,
                  "ms_before"_a = layer.ms_before, "ms_after"_a = layer.ms_after);
}

}  // namespace

py::dict report_dict(const cli::QuantisationReport& report,
                     const quantise::OutputAgreement& outputs) {
  using namespace py::literals;
  py::list layers, warnings;
  for (const cli::LayerRow& layer : report.layers) layers.append(layer_dict(layer));
  for (const std::string& warning : report.warnings) warnings.append(text(warning));
  return py::dict("precision"_a = report.precision, "method"_a = report.method,
                  "samples"_a = report.samples, "bytes_before"_a = report.bytes_before,
                  "bytes_after"_a = report.bytes_after, "ms_before"_a = report.ms_before,
                  "ms_after"_a = report.ms_after, "same_top1"_a = report.same_top1,
                  "mean_cosine"_a = outputs.mean_cosine, "worst_cosine"_a = outputs.worst_cosine,
                  "warnings"_a = warnings, "layers"_a = layers);
}

}  // namespace millrace::python
