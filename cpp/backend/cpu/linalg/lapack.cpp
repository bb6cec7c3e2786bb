// Finds the routines by name in the library that blas.cpp loaded.
#include "backend/cpu/linalg/lapack.h"

#include <string>

namespace pullback {
namespace {

template <class T>
constexpr char kLetter = 's';
template <>
constexpr char kLetter<double> = 'd';
template <>
constexpr char kLetter<std::complex<float>> = 'c';
template <>
constexpr char kLetter<std::complex<double>> = 'z';

template <class T>
Lapack<T> find() {
  Lapack<T> out;
  const auto get = [](auto* function, const std::string& name) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(blas_symbol(name));
  };
  const std::string letter(1, kLetter<T>);
  const auto work = [&](const char* name) { return "LAPACKE_" + letter + name + "_work"; };
  constexpr bool complex = Lapack<T>::kComplex;
  get(&out.trsm, "cblas_" + letter + "trsm");
  get(&out.potrf, work("potrf"));
  get(&out.getrf, work("getrf"));
  get(&out.geqrf, work("geqrf"));
  get(&out.orgqr, work(complex ? "ungqr" : "orgqr"));
  get(&out.gesdd, work("gesdd"));
  get(&out.heevd, work(complex ? "heevd" : "syevd"));
  get(&out.geev, work("geev"));
  get(&out.gemm, "cblas_" + letter + "gemm");
  get(&out.gesv, work("gesv"));
  get(&out.gbsv, work("gbsv"));
  get(&out.gtsv, work("gtsv"));
  get(&out.gees, work("gees"));
  get(&out.trsyl, work("trsyl"));
  return out;
}

}  // namespace

template <class T>
const Lapack<T>* lapack() {
  static const Lapack<T> found = find<T>();
  const bool whole = found.trsm && found.potrf && found.getrf && found.geqrf && found.orgqr &&
                     found.gesdd && found.heevd && found.geev && found.gemm && found.gesv &&
                     found.gbsv && found.gtsv && found.gees && found.trsyl;
  return whole ? &found : nullptr;
}

template const Lapack<float>* lapack();
template const Lapack<double>* lapack();
template const Lapack<std::complex<float>>* lapack();
template const Lapack<std::complex<double>>* lapack();

}  // namespace pullback
