# A room is one folder of src/, one static library, one test program made of its *_test.cc files, and one fuzz program for
# each of its *_fuzz.cc files.
find_package(GTest REQUIRED)

# Reads the table: room_names in its order, and uses_ROOM for each.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/rooms.table)
file(STRINGS ${CMAKE_SOURCE_DIR}/cmake/rooms.table room_lines REGEX "^[a-z]")
foreach(line ${room_lines})
  string(REGEX MATCH "^([a-z]+) *:(.*)$" _ "${line}")
  list(APPEND room_names ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "[a-z]+" uses_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# Read once per build instead of once per source. Sources include what they use all the same: the header check compiles
# without it.
set(precompiled <algorithm> <array> <atomic> <cstdint> <cstdlib> <cstring> <fmt/format.h> <functional> <limits> <map>
  <memory> <mutex> <optional> <span> <string> <string_view> <utility> <vector>)

# sorrel_precompile(TARGET KIND [HEADERS...]): the first target of a kind makes the headers, the others of that kind
# (compiled with the same options) take them from it.
function(sorrel_precompile target kind)
  get_property(maker GLOBAL PROPERTY precompiled_${kind})
  if(maker)
    target_precompile_headers(${target} REUSE_FROM ${maker})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY precompiled_${kind} ${target})
  endif()
endfunction()

# Tests take what all of them include; those of a room with a harness take that, and all it includes, as well.
function(sorrel_precompile_test room)
  set(harness ${CMAKE_SOURCE_DIR}/src/${room}/test_harness.h)
  if(EXISTS ${harness})
    target_precompile_headers(${room}_test PRIVATE ${precompiled} <gtest/gtest.h> ${harness})
  else()
    sorrel_precompile(${room}_test test ${precompiled} <gtest/gtest.h>)
  endif()
endfunction()

# Under sanitizers several sources are compiled as one, which takes half as long. It needs names that differ within a
# room, also in anonymous namespaces; the catalog's tables are all named alike.
function(sorrel_together target room)
  if(SORREL_SANITIZE AND NOT room STREQUAL catalog)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  endif()
endfunction()

function(sorrel_room room)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|/main|/[a-z_]+_main)\\.cc$")
  if(NOT sources)
    return()
  endif()
  add_library(sorrel_${room} STATIC ${sources})
  target_include_directories(sorrel_${room} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(sorrel_${room} PRIVATE ${lto_compile})
  target_link_libraries(sorrel_${room} PUBLIC fmt::fmt Threads::Threads)
  sorrel_precompile(sorrel_${room} room ${precompiled})
  sorrel_together(sorrel_${room} ${room})
  foreach(used base ${uses_${room}})
    if(TARGET sorrel_${used} AND NOT used STREQUAL room)
      target_link_libraries(sorrel_${room} PUBLIC sorrel_${used})
    endif()
  endforeach()
  if(SORREL_FUZZ)
    sorrel_fuzzers(${room} ${fuzzers})
  endif()
  if(tests AND NOT SORREL_LTO)
    add_executable(${room}_test ${tests})
    target_link_libraries(${room}_test PRIVATE sorrel_${room} GTest::gtest_main)
    # The library under test is as optimised as ever; the test around it only has to compile fast, unless what it tests
    # lies in headers.
    if(room STREQUAL structs)
      target_compile_options(${room}_test PRIVATE -O1)
    else()
      target_compile_options(${room}_test PRIVATE -O0)
      sorrel_precompile_test(${room})
      sorrel_together(${room}_test ${room})
    endif()
    add_test(NAME ${room} COMMAND ${room}_test)
  endif()
endfunction()

function(sorrel_fuzzers room)
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE sorrel_${room})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  endforeach()
endfunction()

# A program whose main file is not written yet is left out, so that the rooms below it can be built and tested alone.
function(sorrel_program name main room)
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${main})
    return()
  endif()
  add_executable(${name} ${CMAKE_SOURCE_DIR}/${main})
  target_compile_options(${name} PRIVATE ${lto_compile})
  target_link_options(${name} PRIVATE ${lto_link})
  target_link_libraries(${name} PRIVATE sorrel_${room})
  if(NOT SORREL_SANITIZE)
    target_link_libraries(${name} PRIVATE jemalloc)
  endif()
endfunction()
