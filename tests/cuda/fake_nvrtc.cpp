// NVRTC without CUDA, for tests: PULLBACK_CUDA=driver=<fake driver>,nvrtc=<path of this library>.
//
// It compiles a text for the host with $CXX, FAKE_NVRTC_FLAGS and tests/cuda/shim.cpp
// (FAKE_NVRTC_SHIM, its path). The "cubin" is a shared library, which the fake driver loads.
// Libraries are kept in FAKE_NVRTC_CACHE, with the text beside each and with the headers.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>

namespace {

struct Program {
  std::string text, cubin;
  std::map<std::string, std::string> headers;
};

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

void write(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return 0;
}
int nvrtcGetSupportedArchs(int* list) {
  *list = 90;
  return 0;
}
int nvrtcCreateProgram(void** program, const char* text, const char*, int headers,
                       const char* const* texts, const char* const* names) {
  auto* const out = new Program{text, {}, {}};
  for (int i = 0; i < headers; ++i) out->headers[names[i]] = texts[i];
  *program = out;
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return 0;
}
int nvrtcCompileProgram(void* handle, int, const char* const*) {
  auto* const program = static_cast<Program*>(handle);
  const std::filesystem::path cache = variable("FAKE_NVRTC_CACHE", "/tmp/fake_nvrtc");
  std::string all = program->text;
  for (const auto& [name, content] : program->headers) all += content;
  const std::string key = std::to_string(std::hash<std::string>()(all));
  const std::filesystem::path library = cache / (key + ".so");
  if (!std::filesystem::exists(library)) {
    const std::string own = key + "." + std::to_string(getpid());
    const std::filesystem::path include = cache / "include";
    if (!std::filesystem::exists(include)) {
      for (const auto& [name, content] : program->headers) write(include / name, content);
    }
    write(cache / (key + ".cpp"), program->text);
    const std::filesystem::path made = cache / (own + ".so");
    // Overflow of signed numbers ends the program: it is undefined in a kernel.
    const std::string command =
        variable("CXX", "c++") +
        " -std=c++20 -O1 -ffp-contract=off -fsanitize=signed-integer-overflow,bounds"
        " -fsanitize-undefined-trap-on-error -w -shared -fPIC " +
        variable("FAKE_NVRTC_FLAGS", "") + " -I '" + include.string() + "' -DKERNEL_TEXT='\"" +
        (cache / (key + ".cpp")).string() + "\"' -o '" + made.string() + "' '" +
        variable("FAKE_NVRTC_SHIM", "shim.cpp") + "'";
    const int status = std::system(command.c_str());
    if (status != 0) return 6;  // NVRTC_ERROR_COMPILATION
    std::filesystem::rename(made, library);
  }
  program->cubin = library.string();
  return 0;
}
int nvrtcGetCUBINSize(void* program, size_t* size) {
  *size = static_cast<Program*>(program)->cubin.size() + 1;
  return 0;
}
int nvrtcGetCUBIN(void* program, char* cubin) {
  const std::string& from = static_cast<Program*>(program)->cubin;
  from.copy(cubin, from.size());
  cubin[from.size()] = 0;
  return 0;
}

}  // extern "C"
