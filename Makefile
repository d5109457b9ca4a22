# A newcomer needs two commands, `make demo` and `make test`; the rest is CMake (see
# CMakePresets.json). Everything below build/ may be deleted at any time.
BUILD := build/release
PREFIX ?= /usr/local
SECONDS ?= 60
# This passes more options to cmake for the first configuration, such as -DMILLRACE_CCACHE=OFF.
CMAKE_ARGS ?=
# Packages for another processor: arm64, or nothing.
ARCH =
PACKAGE := $(or $(ARCH),package)

.PHONY: help setup configure build shipped demo test test-dma-buf test-debian13 fuzz bench lint install \
  install-neuron-prefix package-build package tarball test-packages check-abi docs clean
help:
	@echo 'make demo     build, compile the shipped network, run it asynchronously'
	@echo 'make test     build and run all tests'
	@echo 'make test-dma-buf  run the tests of DMA-BUFs in an emulated machine that has them'
	@echo 'make test-debian13  build on Debian 13, with oneDNN 3.x, and test the CPU device there'
	@echo 'make fuzz     run each fuzz target for SECONDS=$(SECONDS)'
	@echo 'make shipped  what install needs: libraries and programs, no tests'
	@echo 'make build    install what is missing and build everything, benchmarks too, into $(BUILD)'
	@echo 'make bench    build and run the benchmarks'
	@echo 'make lint     format, layers, links, clang-tidy'
	@echo 'make install  install into PREFIX=$(PREFIX) (DESTDIR is honoured)'
	@echo 'make install-neuron-prefix  libnrt.so.1 and its headers into PREFIX=/opt/aws/neuron'
	@echo '                            (FORCE=1 replaces another libnrt.so.1)'
	@echo 'make package  make Debian packages in build/ (ARCH=arm64: for arm64, on Debian 12, as root)'
	@echo 'make tarball  make a folder with everything, packed, in build/, for any place'
	@echo 'make test-packages  install the packages in a clean Debian 12, use and purge them'
	@echo 'make check-abi  compare the libraries with those of the last tag'
	@echo 'make docs     make a site of the documentation in build/docs/site'

setup:
	@scripts/setup.sh

$(BUILD)/build.ninja: CMakeLists.txt CMakePresets.json | setup
	@cmake --preset release $(CMAKE_ARGS) > $(BUILD)-configure.log 2>&1 || { cat $(BUILD)-configure.log; exit 1; }

configure: setup
	@mkdir -p build
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja

build: configure
	@cmake --build --preset release

# Libraries and programs; neither tests nor benchmarks.
shipped: configure
	@cmake --build --preset release --target shipped

demo: configure
	@cmake --build --preset release --target demo_programs
	@scripts/demo.sh $(BUILD)

test: configure
	@cmake --build --preset release --target shipped test_programs
	@ctest --preset release

# 77 is "skipped": the emulator or the kernel cannot be had here.
test-dma-buf: configure
	@cmake --build --preset release --target vart_dma_buf_test
	@scripts/test-dma-buf.sh $(BUILD) || test $$? -eq 77

# 77 is "skipped": not root, or no Debian 13 to be had.
test-debian13:
	@scripts/test-debian13.sh || test $$? -eq 77

fuzz: setup
	@scripts/fuzz.sh $(SECONDS)

bench: build
	@scripts/bench.sh $(BUILD)

lint: build
	@scripts/check_format.sh && scripts/check_layers.py && scripts/check_comments.py && scripts/check_links.py && \
	  scripts/check_messages.py && scripts/check_lint.sh $(BUILD)

install: shipped
	@cmake --install $(BUILD) --prefix $(PREFIX)
	@scripts/after_install.sh $(PREFIX)

install-neuron-prefix: PREFIX = /opt/aws/neuron
install-neuron-prefix: shipped
	@cmake --install $(BUILD) --component neuron-prefix --prefix $(PREFIX)

# A build of its own, as Debian has folders for libraries that `make install` does not use.
package-build: setup
	@mkdir -p build
	@$(if $(ARCH),scripts/make_$(ARCH)_root.sh,true)
	@cmake --preset $(PACKAGE) $(CMAKE_ARGS) > build/$(PACKAGE)-configure.log 2>&1 || { cat build/$(PACKAGE)-configure.log; exit 1; }
	@cmake --build --preset $(PACKAGE)

package: package-build
	@rm -f build/*.deb
	@cd build/$(PACKAGE) && cpack -B .. > cpack.log 2>&1 || { cat cpack.log; exit 1; }
	@ls build/*.deb

tarball: package-build
	@rm -f build/millrace-*.tar.gz
	@cd build/$(PACKAGE) && cpack -G TGZ -B .. > cpack.log 2>&1 || { cat cpack.log; exit 1; }
	@ls build/millrace-*.tar.gz

# 77 is "skipped": not root, or no Debian 12 to be had.
test-packages: package tarball
	@scripts/test-packages.sh || test $$? -eq 77

# 77 is "skipped": there is no tag.
check-abi: setup
	@scripts/check_abi.sh || test $$? -eq 77

docs: configure
	@scripts/setup.sh --docs
	@cmake --build --preset release --target millrace_python
	@/usr/bin/python3 scripts/site/make_site.py $(BUILD)

clean:
	rm -rf build
