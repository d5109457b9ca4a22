// A client of the installed native API.
#include <iostream>
#include <millrace/millrace.hpp>

int main() {
  const auto device = millrace::Device::open();
  std::cout << (device.ok() ? "opened" : device.status().message()) << "\n";
  return device.ok() ? 0 : 1;
}
