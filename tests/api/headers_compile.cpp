// A client of the native API, compiled with nothing but the public headers in sight.
#include <millrace/millrace.hpp>

namespace {

millrace::Status run_once(const std::string& path) {
  millrace::Result<millrace::Device> device = millrace::Device::open();
  if (!device.ok()) return device.status();
  const millrace::Result<millrace::Model> model = device->load(path);
  if (!model.ok()) return model.status();
  millrace::Result<millrace::Unit> unit = device->create_unit({.name = "one", .depth = 1});
  if (!unit.ok()) return unit.status();
  const float numbers[4] = {};
  const millrace::TensorArg input{std::span(numbers)};
  const millrace::Result<millrace::Buffer> output = millrace::Buffer::allocate(4);
  const millrace::TensorArg outputs[] = {*output};
  return unit->execute(*model, {.inputs = {&input, 1}, .outputs = outputs});
}

}  // namespace

millrace::Status use_millrace(const std::string& path) {
  return run_once(path);
}
