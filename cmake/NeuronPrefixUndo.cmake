# Runs after the component neuron-prefix is installed: prints how to remove it, and how to restore what
# it replaced.
set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(undo "    cd '${folder}'\n"
  "    rm -r lib/libnrt.so lib/libnrt.so.1 lib/libmillrace* include/nrt include/ndl\n")
foreach(name libnrt.so.1 libnrt.so)
  set(replaced "${folder}/lib/replaced-${name}")
  if(EXISTS "${replaced}" OR IS_SYMLINK "${replaced}")
    list(APPEND undo "    mv lib/replaced-${name} lib/${name}\n")
    set(headers "and install the package again whose headers were there.\n")
  endif()
endforeach()
string(CONCAT undo ${undo} ${headers})
message(NOTICE "To undo:\n${undo}")
