// The headers that kernel texts include, as text in the library: NVRTC reads no files. CMake writes
// their definitions (cmake/embed_headers.cmake).
#pragma once

namespace pullback::cuda {

extern const char* const kHeaderNames[];
extern const char* const kHeaderTexts[];
extern const int kHeaders;

}  // namespace pullback::cuda
