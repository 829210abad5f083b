# Joins the device headers into the one text that every compiler takes, and writes its SHA-256 beside it:
# cmake -DOUTPUT=<file> -P amalgamate.cmake
# The order matters: no header includes another one.
set(SAGE_DEVICE_HEADERS
  params.hpp tiles.hpp alternatives.hpp platform.hpp rounding.hpp amd.hpp copy.hpp rdna.hpp gfx12.hpp gfx11.hpp gfx9.hpp ptx.hpp nvidia_tiles.hpp
  nvidia_rows.hpp nvidia.hpp hopper.hpp attention_room.hpp attention_store.hpp attention.hpp prologue.hpp nvidia_prologue.hpp kernels.hpp)

if(CMAKE_SCRIPT_MODE_FILE)
  if(NOT OUTPUT)
    message(FATAL_ERROR "OUTPUT is not set")
  endif()
  set(text "// One text for clang, hipcc, hipRTC, comgr and nvcc. Generated from kernels/device; SPDX-License-Identifier: Apache-2.0\n")
  foreach(header IN LISTS SAGE_DEVICE_HEADERS)
    file(READ ${CMAKE_CURRENT_LIST_DIR}/${header} part)
    if(part MATCHES "#[ \t]*include")
      message(FATAL_ERROR "${header} has an #include; the device text must stand alone")
    endif()
    string(APPEND text "// ---- ${header}\n${part}")
  endforeach()
  file(WRITE ${OUTPUT} "${text}")
  # Its digest, so that nobody has to compute it at every start.
  file(SHA256 ${OUTPUT} digest)
  file(WRITE ${OUTPUT}.sha256 "${digest}")
endif()
