// Taylor mode: derivatives y', y'', … along a path of the xs. The terms of a node are computed by
// one of:
//
//   linear      term k is the operation itself of the terms k, as a tangent is (Tangent::Self)
//   a product   by the rule of Leibniz; a quotient the same, solved for its last term
//   any other   term k is term k - 1 of its tangent, which the forward pass makes of this one node
//               from placeholders: nodes of the value of x', whose terms are those of x from the
//               second on
//
// So only the tangent of a node is needed, by its row or by a transposed rule. The nodes of a
// tangent are ordinary nodes, and equal ones are merged (graph/common_subexpressions.h): the
// tangent of sin makes a cos, and the tangent of that finds the sin. Then n terms cost n²/2
// products for each product, whereas tangents of tangents would cost 2ⁿ. Rows whose slopes do not
// recur (pow with an exponent that is not a small integer, derivatives with an order) cost n times
// more.
//
// Terms are computed on demand, each once, with a stack of demands, so a tangent is only as long as
// needed. A term that is null, as after the last derivative of a polynomial, makes all later ones
// null. Structural zeros are those of the first term: entries that do not change there never
// change.
//
// The terms are derivatives, not Taylor coefficients, so linear operations and placeholders need no
// factor, and derivatives of polynomials with integer coefficients are integers.

#include "grad/taylor.h"

#include <unordered_map>

#include "grad/adjoint.h"
#include "grad/forward.h"
#include "grad/zeros/forward_masks.h"
#include "graph/make.h"
#include "graph/operation.h"
#include "graph/runtime.h"
#include "graph/walk.h"
#include "ops/expr.h"

namespace pullback {
namespace {

enum class Way : uint8_t { Linear, Multiply, Square, Matmul, Divide, ByTangent };

Way way_of(const Node* node, const Connectivity::BackwardEdges& edges) {
  if (edges.rule || edges.of_output()) return Way::ByTangent;
  switch (node->op) {
    case Op::add:
    case Op::subtract:
    case Op::negative:
    case Op::difference:
    case Op::where:
    case Op::gate:  // its condition has no slope
    case Op::custom:
      return Way::Linear;
    case Op::multiply:
      return Way::Multiply;
    case Op::square:
      return Way::Square;
    case Op::divide:
      return Way::Divide;
    case Op::at_index:
      return has_parts(node) ? Way::Linear : Way::ByTangent;
    default:
      break;
  }
  const Tangent tangent = traits(node->op).tangent;
  return tangent == Tangent::Self      ? Way::Linear
         : tangent == Tangent::Product ? Way::Matmul
                                       : Way::ByTangent;
}

double binomial(size_t n, size_t k) {
  double out = 1;
  for (size_t i = 1; i <= k; ++i) out = out * static_cast<double>(n - k + i) / i;
  return out;
}

// Adds c times `term`.
void add_times(double c, const NodeRef& term, NodeRef* sum) {
  const NodeRef scaled = c == 1 ? term : NodeRef(Expr(c) * Expr(term));
  *sum = *sum ? NodeRef(Expr(*sum) + Expr(scaled)) : scaled;
}

class AlongPath {
 public:
  explicit AlongPath(const PathRequest& request)
      : request_(request),
        first_{request.of, {}, {}},
        pass_(NodeTangents::of(first_)),
        graph_(pass_->graph()) {
    for (size_t k = 0; k < graph_.xs().size(); ++k) {
      const Source& x = graph_.xs()[k];
      if (x.node) tensors_[x.node.get()] = &request.terms[k];
      if (x.variable) variables_[x.variable] = &request.terms[k];
    }
    grow();
  }

  std::vector<Terms> run() {
    std::vector<Terms> out;
    for (const NodeRef& y : request_.of.ys) {
      const size_t at = graph_.position(y.get());
      demand(at, request_.order);
      Terms& terms = out.emplace_back();
      for (size_t k = 1; k <= request_.order; ++k) {
        terms.push_back(with_history(term(at, k)));
      }
    }
    return out;
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  struct Series {
    Terms terms;                 // the known terms
    FactoredMask nonzero;        // of all terms
    size_t shifted = kNone;      // of a placeholder: the node whose first term it is
    size_t tangent = kNone;      // number of the first term, if later ones are its terms
    size_t placeholder = kNone;  // number of the placeholder for the first term
  };

  // Resizes the tables after the graph has grown.
  void grow() {
    const size_t begin = series_.size();
    series_.resize(graph_.nodes().size());
    for (size_t i = begin; i < series_.size(); ++i) {
      if (graph_.is_x(i)) seed(i);
    }
  }

  void seed(size_t i) {
    const Node* x = graph_.nodes()[i];
    const auto found = tensors_.find(x);
    const Terms& given = found != tensors_.end() ? *found->second : *variables_.at(x->variable);
    Terms& terms = series_[i].terms;
    terms = given;
    terms.resize(request_.order);
    size_t last = terms.size();
    while (last > 0 && terms[last - 1] == nullptr) --last;
    for (size_t k = 0; k < last; ++k) {  // null before it would end the series
      if (terms[k] == nullptr) terms[k] = zeros(x->shape, x->dtype);
    }
  }

  bool moves(size_t i) const { return graph_.live(i) && !graph_.stopped(graph_.nodes()[i]); }
  bool knows(size_t i, size_t k) const { return !moves(i) || series_[i].terms.size() >= k; }

  // Term k of node i, which must be known.
  NodeRef term(size_t i, size_t k) const {
    if (k == 0) return NodeRef(graph_.nodes()[i]);
    return moves(i) ? series_[i].terms[k - 1] : nullptr;
  }
  NodeRef term_of(const Node* node, size_t input, size_t k) {
    if (k == 0) return NodeRef(node->in[input]);
    const size_t at = number(node->in[input], node);
    return at == kNone ? nullptr : term(at, k);
  }

  size_t number(const Node* input, const Node* node) {
    return graph_.feeds(input, node) ? graph_.position(input) : kNone;
  }

  void demand(size_t at, size_t order) {
    want(at, order);
    while (!wanted_.empty()) {
      const auto [i, k] = wanted_.back();
      const size_t before = wanted_.size();
      if (!knows(i, k)) want_before(i, k);
      if (wanted_.size() > before) continue;
      wanted_.pop_back();
      if (knows(i, k)) continue;
      NodeRef value = compute(i, k);
      if (runtime.check_numbers && value) runtime.check_numbers(value.get(), graph_.nodes()[i]);
      series_[i].terms.push_back(std::move(value));
    }
  }

  void want(size_t i, size_t k) {
    if (!knows(i, k)) wanted_.emplace_back(i, k);
  }

  // Pushes the terms that must be known before term k of node i.
  void want_before(size_t i, size_t k) {
    const Series& series = series_[i];
    if (series.terms.size() + 1 < k) return want(i, k - 1);
    if (series.shifted != kNone) return want(series.shifted, k + 1);
    const Node* node = graph_.nodes()[i];
    const Connectivity::BackwardEdges edges = graph_.backward_edges(node);
    if (k > 1 && way_of(node, edges) == Way::ByTangent) {
      if (series.terms[0] == nullptr) return;
      if (series.tangent == kNone) {
        const size_t tangent = pass_->extend(series.terms[0], i);
        grow();
        series_[i].tangent = tangent;
      }
      return want(series_[i].tangent, k - 1);
    }
    for (const Node* input : edges.inputs) {
      const size_t at = number(input, node);
      if (at != kNone) want(at, k);
    }
  }

  NodeRef compute(size_t i, size_t k) {
    if (series_[i].shifted != kNone) return term(series_[i].shifted, k + 1);
    const Node* node = graph_.nodes()[i];
    const Connectivity::BackwardEdges edges = graph_.backward_edges(node);
    const Way way = way_of(node, edges);
    if (k == 1 || way == Way::Linear) return by_tangent(i, node, edges, k, way == Way::ByTangent);
    if (way == Way::ByTangent) {
      return series_[i].terms[0] ? term(series_[i].tangent, k - 1) : nullptr;
    }
    NodeRef value = way == Way::Divide ? quotient(i, node, k) : product(node, way, k);
    if (value == nullptr) return nullptr;
    value = broadcast_to(value, node->shape);
    return way == Way::Matmul ? value : dense_of(value, united_mask(node), false);
  }

  // True wherever any operand changes.
  FactoredMask united_mask(const Node* node) {
    std::vector<FactoredMask> all;
    for (const Node* input : node->inputs()) {
      const size_t at = number(input, node);
      if (at != kNone && term(at, 1)) all.push_back(series_[at].nonzero);
    }
    return unite(all);
  }

  // The tangent of a node for the terms k of its inputs, or for placeholders of these.
  NodeRef by_tangent(size_t i, const Node* node, const Connectivity::BackwardEdges& edges, size_t k,
                     bool from_placeholders) {
    std::vector<Adjoint> terms(edges.inputs.size());
    std::vector<Adjoint*> sent(edges.inputs.size());
    bool any = edges.of_output();  // it is known by now
    for (size_t j = 0; j < sent.size(); ++j) {
      const size_t at = number(edges.inputs[j], node);
      if (at == kNone) continue;
      NodeRef value = term(at, k);
      if (value == nullptr) continue;
      if (from_placeholders) value = placeholder(at);
      const Node* input = edges.inputs[j];
      terms[j].add({Cotangent::Value, value, nullptr, true}, input->shape, Zeros::Near,
                   series_[at].nonzero);
      sent[j] = &terms[j];
      any = true;
    }
    if (!any) return nullptr;
    Adjoint found = pass_->from(i, sent);
    if (found.kind() != Cotangent::Value) return nullptr;
    if (k == 1) series_[i].nonzero = found.nonzero();
    return found.dense();
  }

  NodeRef placeholder(size_t i) {
    if (series_[i].placeholder == kNone) {
      const NodeRef node = identity(series_[i].terms[0]);
      node->flags |= kTracked;
      const size_t at = pass_->add_leaf(node);
      grow();
      series_[at].shifted = i;
      series_[at].nonzero = series_[i].nonzero;
      series_[i].placeholder = at;
    }
    return NodeRef(graph_.nodes()[series_[i].placeholder]);
  }

  NodeRef product(const Node* node, Way way, size_t n) {
    const bool square =
        way == Way::Square ||
        (way == Way::Multiply && graph_.position(node->in[0]) == graph_.position(node->in[1]) &&
         graph_.feeds(node->in[0], node));
    NodeRef sum;
    for (size_t j = 0; j <= (square ? n / 2 : n); ++j) {
      const NodeRef a = term_of(node, 0, j);
      const NodeRef b = term_of(node, square ? 0 : 1, n - j);
      if (a == nullptr || b == nullptr) continue;
      const double c = binomial(n, j);
      if (way == Way::Matmul) {
        add_times(c, matmul(a, b), &sum);
      } else if (a == b) {
        add_times(c, formula::square(Expr(a)), &sum);
      } else {
        add_times(square && 2 * j < n ? 2 * c : c, Expr(a) * Expr(b), &sum);
      }
    }
    return sum;
  }

  // From a = y b: the term of a minus the known part of (y b), divided by b.
  NodeRef quotient(size_t i, const Node* node, size_t n) {
    NodeRef others;
    for (size_t j = 1; j <= n; ++j) {
      const NodeRef b = term_of(node, 1, j);
      const NodeRef y = term(i, n - j);
      if (b && y) add_times(binomial(n, j), Expr(b) * Expr(y), &others);
    }
    NodeRef left = term_of(node, 0, n);
    if (others) left = left ? Expr(left) - Expr(others) : -Expr(others);
    return left ? NodeRef(Expr(left) / Expr(node->in[1])) : nullptr;
  }

  const PathRequest& request_;
  const TangentRequest first_;
  const std::unique_ptr<NodeTangents> pass_;
  Connectivity& graph_;
  std::unordered_map<const Node*, const Terms*> tensors_;
  std::unordered_map<uint64_t, const Terms*> variables_;
  std::vector<Series> series_;
  std::vector<std::pair<size_t, size_t>> wanted_;  // term k of node i
};

}  // namespace

std::vector<Terms> along_path(const PathRequest& request) { return AlongPath(request).run(); }

}  // namespace pullback
