# Warnings, sanitizers and speed, in one place.
option(SORREL_LTO "Link-time optimisation of the programs" OFF)
option(SORREL_NO_LATCHES "Leave latches and the gate out (only to measure what they cost)" OFF)
option(SORREL_FUZZ "Build the fuzz targets (src/*/*_fuzz.cc) as well; needs clang" OFF)
set(SORREL_SANITIZE "" CACHE STRING "Sanitizers, as given to -fsanitize=")

find_program(CCACHE ccache)
if(CCACHE)
  # Without this ccache passes by everything that uses precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
add_compile_options(-Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers -fno-rtti)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlap and overflow in every inlined "text" + std::string and in fmt, and under sanitizers not what is
  # initialised.
  add_compile_options(-Wshadow -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-array-bounds)
  if(SORREL_SANITIZE)
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
  add_compile_options(-Werror) # The law is g++'s opinion; clang, used for sanitizers and fuzzing, has others.
endif()

if(SORREL_FUZZ AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "SORREL_FUZZ needs clang: cmake --preset asan")
endif()
if(SORREL_SANITIZE)
  set(sanitize -fsanitize=${SORREL_SANITIZE})
  if(SORREL_FUZZ)
    list(APPEND sanitize -fsanitize=fuzzer-no-link) # Every object counts its edges, so that one build serves all.
  endif()
  add_compile_options(${sanitize} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(${sanitize})
else()
  add_compile_definitions(SORREL_JEMALLOC=1)
endif()
if(SORREL_NO_LATCHES)
  add_compile_definitions(SORREL_NO_LATCHES=1)
endif()

# Programs are optimised as a whole. Objects carry nothing but what that needs: machine code beside it would make a build
# take half as long again. So nothing else is linked from them, and unit tests belong to the other builds.
if(SORREL_LTO)
  set(lto_compile -flto=auto)
  set(lto_link -flto=auto -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-array-bounds)
endif()
