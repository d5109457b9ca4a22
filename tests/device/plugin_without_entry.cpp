// A library that is no device plugin.
extern "C" int millrace_test_nothing() {
  return 0;
}
