# Writes a C++ source with the texts of headers, without comments:
#   cmake -DROOT=<folder> -DHEADERS=<names below it, separated by |> -DOUT=<file> -P embed_headers.cmake
string(REPLACE "|" ";" headers "${HEADERS}")
# NVRTC has no standard headers; the prelude declares what they are included for.
set(names "    \"cstddef\",\n    \"cstdint\",\n")
set(texts "    \"\",\n    \"\",\n")
foreach(header IN LISTS headers)
  file(READ "${ROOT}/${header}" content)
  string(REGEX REPLACE "//[^\n]*" "" content "${content}")
  string(REGEX REPLACE "\n[ \n]*\n" "\n" content "${content}")
  string(APPEND names "    \"${header}\",\n")
  string(APPEND texts "    R\"__header(${content})__header\",\n")
endforeach()
file(WRITE "${OUT}" "#include \"backend/cuda/device_headers.h\"

namespace pullback::cuda {

const char* const kHeaderNames[] = {
${names}};
const char* const kHeaderTexts[] = {
${texts}};
const int kHeaders = sizeof kHeaderNames / sizeof *kHeaderNames;

}  // namespace pullback::cuda
")
