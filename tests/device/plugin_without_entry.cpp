// A library that is not a device plugin.
extern "C" int millrace_test_nothing() {
  return 0;
}
