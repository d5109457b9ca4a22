#include "core/buffer.h"

#include <string>

#include "core/instance.h"
#include "core/raise.h"

namespace millrace::python {
namespace {

Buffer allocate(size_t bytes, const std::string& source) {
  if (source == "default") return take(Buffer::allocate(bytes));
  if (source == "memfd") return take(Buffer::allocate(bytes, SharedMemory::kMemfd));
  if (source == "udmabuf") return take(Buffer::allocate(bytes, SharedMemory::kUdmabuf));
  if (source == "dma_heap") return take(Buffer::allocate(bytes, SharedMemory::kDmaHeap));
  raise(invalid_argument("source is \"" + source + "\", not default, memfd, udmabuf or dma_heap"));
}

py::buffer_info info_of(const Buffer& buffer) {
  return {buffer.data(),
          1,
          py::format_descriptor<uint8_t>::format(),
          1,
          {static_cast<py::ssize_t>(buffer.size())},
          {1},
          !buffer.writable()};
}

// The array refers to the buffer object, by the buffer protocol.
py::object array_over(const py::object& self, const py::object& dtype, const py::object& shape) {
  const py::object array = py::module_::import("numpy").attr("frombuffer")(self, dtype);
  return shape.is_none() ? array : array.attr("reshape")(shape);
}

py::object dlpack_of(const py::object& self, const py::kwargs& options) {
  return array_over(self, py::str("uint8"), py::none()).attr("__dlpack__")(**options);
}

}  // namespace

const Buffer* buffer_in(PyObject* object) noexcept {
  return instance_of<Buffer>(object);
}

void define_buffer(py::module_& module) {
  py::class_<Buffer> defined(
      module, "Buffer", py::buffer_protocol(),
      "Page-aligned memory that host and device share, and that can be exported as a file\n"
      "descriptor.\n\n"
      "It may be an input or an output of a job instead of an array: it then holds the bytes of "
      "the\n"
      "tensor. It supports the buffer protocol and DLPack as a sequence of bytes.");
  remember_class<Buffer>(defined);
  defined
      .def(py::init(&allocate), py::arg("bytes"), py::arg("source") = "default",
           "Allocates `bytes` zero bytes.\n\n"
           "`source` is \"memfd\", \"udmabuf\" or \"dma_heap\"; \"default\" is the environment\n"
           "variable MILLRACE_SHARED_MEMORY or, without it, memfd. InvalidArgument for no bytes,\n"
           "OutOfMemory, Unsupported if the process may not use the source.")
      .def_static(
          "import_fd", [](int fd, size_t bytes) { return take(Buffer::import_fd(fd, bytes)); },
          py::arg("fd"), py::arg("bytes"),
          "Maps the first `bytes` bytes of the file behind a descriptor, which stays the caller's.")
      .def(
          "export_fd", [](const Buffer& self) { return take(self.export_fd()); },
          "Returns a new descriptor of the memory, which the caller closes. Unsupported for "
          "slices.")
      .def(
          "slice",
          [](const Buffer& self, size_t offset, size_t bytes) {
            return take(self.slice(offset, bytes));
          },
          py::arg("offset"), py::arg("bytes"),
          "Returns a buffer for `bytes` bytes from `offset` on, which shares the memory.")
      .def("array", &array_over, py::arg("dtype"), py::arg("shape") = py::none(),
           "Returns an array over the memory, without a copy, which keeps the memory alive.")
      .def(
          "sync_for_device", [](const Buffer& self) { check(self.sync_for_device()); },
          "Makes what the host wrote visible to the device. Needed for DMA-BUFs only.")
      .def(
          "sync_for_host", [](const Buffer& self) { check(self.sync_for_host()); },
          "Makes what the device wrote visible to the host. Needed for DMA-BUFs only.")
      .def_property_readonly("size", &Buffer::size, "The number of bytes.")
      .def_property_readonly("writable", &Buffer::writable,
                             "False if the imported descriptor was opened read-only.")
      .def_property_readonly("device_address", &Buffer::device_address,
                             "The address under which the device sees the memory.")
      .def("__len__", &Buffer::size)
      .def("__dlpack__", &dlpack_of)
      .def("__dlpack_device__", [](const Buffer&) { return py::make_tuple(1, 0); })
      .def("__repr__",
           [](const Buffer& self) {
             return "<millrace.Buffer of " + std::to_string(self.size()) + " bytes>";
           })
      .def_buffer(&info_of);
}

}  // namespace millrace::python
