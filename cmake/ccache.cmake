# Compiles through ccache if it is installed and no other launcher is given.
find_program(PULLBACK_CCACHE ccache)
find_program(PULLBACK_ENV env)
mark_as_advanced(PULLBACK_CCACHE PULLBACK_ENV)
if(PULLBACK_CCACHE AND PULLBACK_ENV AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # With a precompiled header ccache hits only if it may ignore which macros the header defines. It
  # must compare the files that were read (depend mode), never the preprocessed text: this has no
  # comments, but a precompiled header identifies its files for `#pragma once` by all their bytes,
  # so after a change of a comment its cached copy would read such a file twice. Not by
  # `cmake -E env`: in an isolated build cmake has another path each time, and a command that changes
  # compiles everything again. Paths in the build folder are hashed relative to it, which may be a
  # new temporary one.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PULLBACK_ENV} CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_DEPEND=true CCACHE_BASEDIR=${CMAKE_BINARY_DIR}
      ${PULLBACK_CCACHE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()
