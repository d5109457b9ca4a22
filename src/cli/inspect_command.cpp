// `millrace inspect`: prints either the JSON that describes a model, or a text made from it, and
// draws its graph.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/output_target.h"
#include "cli/commands.h"
#include "cli/inspect/description.h"
#include "cli/inspect/graph_drawing.h"
#include "cli/inspect/graphviz.h"
#include "cli/notes.h"
#include "cli/onnx_description.h"
#include "cli/print_escaped.h"
#include "cli/report/json_text.h"
#include "graph/archive/codec.h"
#include "io/file.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string shape_text(const Json& shape) {
  if (shape.is_null()) return "of any rank";
  std::vector<std::string> dims;
  for (const Json& dim : shape) dims.push_back(dim.is_null() ? "?" : dim.dump());
  return fmt::format("[{}]", fmt::join(dims, ","));
}

void print_view(const char* label, const Json& view) {
  print_escaped("    {}  {} {} {}", label, view["type"].get<std::string>(),
                view["layout"].get<std::string>(), shape_text(view["shape"]));
  if (view.contains("bytes")) print_escaped(" {} bytes", view["bytes"].get<size_t>());
  if (view.contains("order"))
    print_escaped(" order {{{}}}", fmt::join(view["order"].get<std::vector<uint32_t>>(), ","));
  if (view.contains("preprocess_colour_format"))
    print_escaped("  preprocess as {}", view["preprocess_colour_format"].get<std::string>());
  print_escaped("\n");
}

// Prints the options with which pictures can be fed to the model. Text that is meant to be copied
// is on a line of its own.
void print_pictures(const Json& pictures) {
  print_escaped("    pictures  millrace run ... {}\n", pictures["run_options"].get<std::string>());
  for (const auto& [key, view] : {std::pair("preprocess_cpu", "CPU"), {"preprocess_hw", "HW "}})
    if (pictures.contains(key))
      print_escaped("              PreProcess, {}: {}\n", view, pictures[key].dump());
  print_escaped("              assumed, since the model does not say: {}\n",
                fmt::join(pictures["assumed"].get<std::vector<std::string>>(), ", "));
}

std::string scale_and_zero_point(const Json& form) {
  return fmt::format("scale {} zero point {}", form["scale"].get<double>(),
                     form["zero_point"].get<int>());
}

void print_quantisation(const Json& quantisation) {
  print_escaped("    {}\n", scale_and_zero_point(quantisation));
  if (!quantisation.contains("model")) return;
  const Json& model = quantisation["model"];
  print_escaped("    requantised: the model's own is {} {}\n", model["type"].get<std::string>(),
                scale_and_zero_point(model));
}

void print_tensors(const char* title, const Json& tensors) {
  print_escaped("{}\n", title);
  for (const Json& tensor : tensors) {
    print_escaped("  {}\n", tensor["name"].get<std::string>());
    print_view("CPU", tensor["cpu"]);
    if (tensor.contains("hw"))
      print_view("HW ", tensor["hw"]);
    else
      print_escaped("    HW   none: {}\n", tensor["why_no_hw"].get<std::string>());
    print_quantisation(tensor["quantisation"]);
    if (tensor.contains("pictures")) print_pictures(tensor["pictures"]);
  }
}

void print_partitions(const Json& partitions) {
  print_escaped("partitions\n");
  for (const Json& partition : partitions) {
    std::vector<std::string> counts;
    for (const auto& [name, count] : partition["by_operator"].items())
      counts.push_back(fmt::format("{} {}", count.get<int>(), name));
    print_escaped("  {}  {} operators from number {}: {}\n", partition["kind"].get<std::string>(),
                  partition["operators"].get<int>(), partition["first_operator"].get<int>(),
                  fmt::join(counts, ", "));
  }
}

void print_other_precisions(const Json& nodes) {
  if (nodes.empty()) return;
  print_escaped("operators in another precision\n");
  for (const Json& node : nodes)
    print_escaped("  {}  {} \"{}\"\n", node["precision"].get<std::string>(),
                  node["operator"].get<std::string>(), node["node"].get<std::string>());
}

void print_profiles(const Json& profiles, const std::string& hw_quantisation) {
  if (profiles.empty()) return;
  print_escaped("profiles, with HW views of quantised tensors in the {}'s form\n", hw_quantisation);
  for (const Json& profile : profiles) {
    print_escaped("  {}", profile["name"].get<std::string>());
    for (const auto& [name, shape] : profile["inputs"].items())
      print_escaped("  {} {}", name, shape_text(shape));
    print_escaped("\n");
  }
}

void print_text(const Json& model) {
  const bool dynamic = model["dynamic"].get<bool>();
  const auto columns = model["columns"].get<uint32_t>();
  print_escaped("{}  {}  batch {}{}{}\n", model["name"].get<std::string>(),
                model["precision"].get<std::string>(), model["batch_size"].get<int>(),
                columns == graph::kColumnsOfAUnit ? "" : fmt::format("  {} columns", columns),
                dynamic ? "  dynamic: each job sets the shapes" : "");
  print_tensors("inputs", model["inputs"]);
  print_tensors("outputs", model["outputs"]);
  if (!dynamic) print_partitions(model["partitions"]);
  if (!dynamic) print_other_precisions(model["other_precisions"]);
  print_escaped("operators\n");
  for (const auto& [name, count] : model["operators"].items())
    print_escaped("  {:<20} {}\n", name, count.get<int>());
  if (dynamic)
    return print_profiles(model["profiles"], model["hw_quantisation"].get<std::string>());
  const Json& plan = model["memory_plan"];
  print_escaped("memory plan\n  {} values in {} bytes ({} without reuse)\n", plan["values"].size(),
                plan["arena_bytes"].get<uint64_t>(), plan["bytes_without_reuse"].get<uint64_t>());
}

// The suffixes of the files for a graph. Graphviz draws all but those in its own language.
constexpr std::string_view kDot = ".dot", kPictures[] = {".svg", ".png", ".pdf"};

// Writes the graph to the file of --graph, if there is one.
Status write_graph(const std::string& path, const DrawnGraph& graph) {
  if (path.empty()) return {};
  const std::string text = dot_text(graph);
  if (path.ends_with(kDot)) return io::write_file(path, std::as_bytes(std::span(text)));
  MILLRACE_ASSIGN_OR_RETURN(const auto picture,
                            drawn_by_graphviz(text, path.substr(path.rfind('.') + 1)));
  return io::write_file(path, picture);
}

// Shows what the file of a model declares that cannot be compiled, and why it cannot.
Status inspect_uncompiled(const InspectArguments& arguments, const Status& reason) {
  MILLRACE_ASSIGN_OR_RETURN(Json description, describe_onnx(arguments.model));
  description["not_compiled"] = reason.message();
  if (!arguments.graph.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(const DrawnGraph drawn, drawn_onnx(arguments.model));
    MILLRACE_RETURN_IF_ERROR(write_graph(arguments.graph, drawn));
  }
  if (arguments.json)
    print_escaped_lines(json_lines(description));
  else
    print_onnx(description);
  print_note("the file is shown as it is, since it does not compile: " + reason.message());
  return {};
}

}  // namespace

Status check_inspect(const InspectArguments& arguments) {
  const auto ends_so = [&](std::string_view suffix) { return arguments.graph.ends_with(suffix); };
  if (!arguments.graph.empty() && !ends_so(kDot) && std::ranges::none_of(kPictures, ends_so))
    return invalid_argument(fmt::format("--graph {}: the name must end with {}, or with {}",
                                        arguments.graph, kDot, fmt::join(kPictures, ", ")));
  return check_flags(arguments.model, arguments.flags);
}

Status run_inspect(const InspectArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_output(arguments.graph));
  const auto model = open_model(arguments.model, arguments.flags);
  if (model.status().code() == StatusCode::kUnsupported && arguments.model.ends_with(".onnx"))
    return inspect_uncompiled(arguments, model.status());
  if (!model.ok()) return model.status();
  MILLRACE_ASSIGN_OR_RETURN(const Json description, describe_opened(**model, arguments.model));
  MILLRACE_RETURN_IF_ERROR(write_graph(arguments.graph, drawn_graph(**model)));
  if (arguments.json)
    print_escaped_lines(json_lines(description));
  else
    print_text(description);
  return {};
}

}  // namespace millrace::cli
