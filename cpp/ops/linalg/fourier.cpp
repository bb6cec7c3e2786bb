// The builder of Fourier transforms and their cotangents.
#include "ops/linalg/fourier.h"

#include "base/error.h"
#include "ops/body.h"
#include "ops/linalg/linalg.h"

namespace pullback {
namespace {

// Transforms matrices [batch…, m, n] along m.
NodeRef transformed(const NodeRef& x, DType dtype, int64_t length, const FourierForm& form,
                    const char* who) {
  RoutineForm matrix{Routine::fourier};
  matrix.fourier = form;
  matrix.who = who;
  Shape shape = x->shape;
  shape[shape.rank - 2] = length;
  return output_of(make_routine(matrix, std::span(&x, 1), {{dtype, shape}}), 0);
}

}  // namespace

NodeRef fourier(const NodeRef& x, int64_t axis, Spectrum spectrum, const FourierForm& form,
                const char* who) {
  const int64_t half = form.points / 2 + 1;
  const int64_t given = spectrum == Spectrum::RealFrom ? half : form.points;
  const int64_t length = spectrum == Spectrum::HalfOf ? half : form.points;
  if (form.points < 1 || x->shape[axis] != given ||
      is_complex(x->dtype) != (spectrum != Spectrum::HalfOf)) {
    fail(ErrorKind::Value, who, ": expected an input for ", form.points, " points along axis ",
         axis, ", got ", x->dtype, " of shape ", x->shape);
  }
  int64_t before = 1, after = 1;
  for (int64_t d = 0; d < x->shape.rank; ++d) (d < axis ? before : after) *= x->shape[d];
  if (given) after /= given;
  Shape shape = x->shape;
  shape[axis] = length;
  DType dtype = x->dtype;
  if (spectrum == Spectrum::HalfOf) {
    dtype = dtype == DType::Float32 ? DType::Complex64 : DType::Complex128;
  } else if (spectrum == Spectrum::RealFrom) {
    dtype = traits(dtype).compute;
  }
  const NodeRef columns = reshape(x, {before, given, after});
  return reshape(transformed(columns, dtype, length, form, who), shape);
}

// For y = f e F x with the numbers f (the factor) and e (the ends), the cotangent of x is f F* e g.
// A half spectrum represents its mirror image too: the adjoint from a half to real numbers is f/2
// times the real transform of e g, with the ends counted twice, and conversely.
NodeRef fourier_cotangent(const NodeRef& operation, const NodeRef& g) {
  const RoutineForm& matrix = operation->operation->form;
  const Node* x = operation->in[0];
  FourierForm form = matrix.fourier;
  form.backward = !form.backward;
  if (!is_complex(x->dtype)) {
    form.factor /= 2;
    form.ends *= 2;
  } else if (!is_complex(operation->operation->outputs[0].dtype)) {
    form.factor *= 2;
    form.ends /= 2;
  }
  return transformed(g, x->dtype, x->shape[x->shape.rank - 2], form, matrix.who);
}

}  // namespace pullback
