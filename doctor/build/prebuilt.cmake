# Code objects that are made together with the program, for users who have no compiler for their GPU: one a unit, as
# `sage-doctor build` would make them. Sets SAGE_PREBUILT_OBJECTS, empty where no clang of 19 or later is there.
set(SAGE_PREBUILT_TARGETS "" CACHE STRING "gfx targets whose code objects go into the program")
set(SAGE_PREBUILT_OBJECTS)
if(SAGE_PREBUILT_TARGETS)
  find_program(SAGE_DEVICE_CLANG NAMES clang++-22 clang++-21 clang++-20 clang++-19)
  if(NOT SAGE_DEVICE_CLANG)
    message(STATUS "No code objects go into the program: clang 19 or later was not found (package clang-19)")
    set(SAGE_PREBUILT_TARGETS "")
  endif()
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/device/tiles.hpp)

# The rows of the tile table, as X(64, F16, LONG, ...) under the table's name.
function(sage_units_of target result)
  set(tables_gfx12 GFX12_F16 GFX12_FP8)
  set(tables_gfx11 GFX11_F16)
  set(tables_gfx90a GFX9_F16)
  set(tables_gfx942 GFX9_F16 GFX9_FP8)
  if(target MATCHES "^gfx(12|11)")
    set(family gfx${CMAKE_MATCH_1})
  else()
    set(family ${target})
  endif()
  set(units sage_prologue)
  file(READ ${PROJECT_SOURCE_DIR}/kernels/device/tiles.hpp text)
  string(REGEX MATCHALL "define SAGE_TILES_[A-Z0-9_]+\\(X\\)|X\\([0-9]+, [A-Z0-9]+, [A-Z]+," tokens "${text}")
  set(table "")
  foreach(token IN LISTS tokens)
    if(token MATCHES "SAGE_TILES_([A-Z0-9_]+)\\(X\\)")
      set(table ${CMAKE_MATCH_1})
    elseif(token MATCHES "X\\(([0-9]+), ([A-Z0-9]+), ([A-Z]+)," AND table IN_LIST tables_${family})
      list(APPEND units sage_attention_d${CMAKE_MATCH_1}_${CMAKE_MATCH_2}_${CMAKE_MATCH_3})
    endif()
  endforeach()
  list(LENGTH units count)
  if(count LESS 2)
    message(FATAL_ERROR "no tiles were found for ${target}: it has no kernels, or kernels/device/tiles.hpp has another form")
  endif()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

foreach(target IN LISTS SAGE_PREBUILT_TARGETS)
  execute_process(COMMAND ${SAGE_DEVICE_CLANG} --target=amdgcn-amd-amdhsa -mcpu=${target} -nogpulib -x c -fsyntax-only /dev/null
                  RESULT_VARIABLE unknown OUTPUT_QUIET ERROR_QUIET)
  if(NOT unknown EQUAL 0)
    message(STATUS "No code objects for ${target} go into the program: ${SAGE_DEVICE_CLANG} does not know it")
    continue()
  endif()
  sage_units_of(${target} units)
  foreach(unit IN LISTS units)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/embedded/${target}-${unit}.hsaco)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/embedded
      COMMAND ${SAGE_DEVICE_CLANG} -x hip --cuda-device-only --offload-arch=${target} -nogpulib -nogpuinc
              --no-gpu-bundle-output -std=c++17 -O3 -DSAGE_ONLY -DSAGE_PICK_${unit} -o ${object} ${SAGE_DEVICE_TEXT}
      DEPENDS ${SAGE_DEVICE_TEXT}
      VERBATIM)
    list(APPEND SAGE_PREBUILT_OBJECTS ${object})
  endforeach()
endforeach()
