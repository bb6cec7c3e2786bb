// Closes bodies and makes loops and branches. Start at Closing.
//
// Closing visits the nodes below the roots once, oldest first, and finds those that depend on an
// argument. A node that does not is used from outside: a placeholder, which becomes an input of the
// body, takes its place. Numbers, and one number repeated, are copied instead, so that they
// are constants for the planner. A body shares no node with the graph around it, because both may
// be numbered (Node::index) at the same time. The scalar node of a callback becomes an input too,
// so that bodies which differ only in the callback have one plan.
//
// A body runs on the device of its loop or branch, so its nodes are on kAnyDevice.
#include "ops/body.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "graph/callback_origin.h"
#include "graph/graph_copy.h"
#include "graph/make.h"
#include "graph/rebuild.h"
#include "graph/walk.h"
#include "ops/batch_scope.h"
#include "ops/rule_in_body.h"

namespace pullback {
namespace {

constexpr uint64_t kPlaceholders = uint64_t{1} << 32;  // and copied constants of a body, at most

void replace_input(Node* node, size_t k, Node* with) {
  Node** slots = node->inputs_count > 3 ? node->rest.get() : node->in;
  Node* before = std::exchange(slots[k], with);
  add_user(with);
  --before->users;
  release(before);
}

void leave_devices(Node* node) {
  node->device_id = kAnyDevice.id;
  if (node->op == Op::transfer) node->attr.device = kAnyDevice.id;
}

}  // namespace

BodyNumbers::BodyNumbers() : placeholders_(reserve_seqs(kPlaceholders)) {}

class Closing {
 public:
  explicit Closing(BodyRequest request) : request_(std::move(request)) {}

  ClosedBody run() {
    auto& out = *(closed_.body = new Body);
    out.name = request_.name;
    next_ = request_.numbers.placeholders_;
    if (request_.derived_from) out.made = request_.derived_from->made;
    if (request_.with) {
      const auto& more = request_.with->made;
      out.made.insert(out.made.end(), more.begin(), more.end());
    }
    out.made.emplace_back(next_, next_seq());
    out.inputs = request_.arguments;
    for (const NodeRef& argument : request_.arguments) arguments_.insert(argument.get());
    share_constants();
    collect();
    for (Node* node : nodes_) {
      resolve(node);
      out.holds_rules |= inside_.contains(node) && (by_users_rule(node) || holds_rules(node));
    }
    out.roots = std::move(request_.roots);
    for (NodeRef& root : out.roots) {
      root = inside(inside_.contains(root.get()) ? root.get() : as_value(root).get());
    }
    connect_rules();
    // Last, after the recording has ended: the surrounding graph provides these draws.
    for (Node* draw : draws_) {
      out.inputs.emplace_back(draw);
      closed_.captured.push_back(draw_like(draw));
    }
    return std::move(closed_);
  }

 private:
  bool made_here(const Node* node) const { return closed_.body->owns(node); }
  bool is_boundary(const Node* node) const {
    return arguments_.contains(node) || node->op == Op::read || node->has_value() ||
           !made_here(node);
  }

  // A rule of the program may refer to a tensor that an input of the original body stands for.
  // Derivatives by that input must include this use.
  void share_constants() {
    if (!request_.derived_from) return;
    const auto& values = request_.values_of_last;
    const auto last = request_.arguments.end() - static_cast<ptrdiff_t>(values.size());
    const std::vector<NodeRef>& original = request_.derived_from->inputs;
    for (size_t k = 0; k < values.size(); ++k) {
      if (std::ranges::find(original, last[k]) == original.end()) continue;
      placeholders_[values[k].get()] = last[k];
    }
  }

  void connect_rules() {
    Ref<RuleInBody::Inputs> inputs;
    for (Node* node : nodes_) {
      if (!by_users_rule(node) || !inside_.contains(node)) continue;
      if (node->seq < request_.numbers.placeholders_) continue;  // has been, with another body
      if (!inputs) {
        inputs = new RuleInBody::Inputs;
        const auto own =
            closed_.body->inputs.end() - static_cast<ptrdiff_t>(closed_.captured.size());
        inputs->inputs.assign(own, closed_.body->inputs.end());
        inputs->outside = closed_.captured;
      }
      node->rule = new RuleInBody(node->rule, inputs);
    }
  }

  void collect() {
    walk(pointers(request_.roots), &nodes_, [&](const Node* node) {
      return is_boundary(node) ? std::span<Node* const>() : node->inputs();
    });
    for (Node* node : nodes_) held_.emplace_back(node);
  }

  // Decides whether a node is computed inside, and if so, replaces its inputs from outside.
  void resolve(Node* node) {
    if (arguments_.contains(node)) {
      inside_.insert(node);
      return;
    }
    // An older draw was made once, outside: an operation of only such draws is captured.
    if (is_draw(node) && made_here(node)) {
      draws_.push_back(node);
      inside_.insert(node);
      return;
    }
    if (is_callback(node)) return;  // taken with the operation that calls it
    if (node->op == Op::scalar) {
      if (made_here(node) || node->flags & kConstant) constants_.insert(node);
      return;
    }
    if (is_boundary(node) || node->op == Op::argument) return;
    const auto inputs = node->inputs();
    // An operation that can fail stays inside, since the body may not run. So does one with a rule
    // of the program, which is called for the cotangent of each iteration: it may be nonlinear.
    bool depends = request_.all_inside || traits(node->op).fails != Fails::Never ||
                   inputs.empty() || is_operation(node->op) || by_users_rule(node);
    bool constant = is_elementwise(node->op) || traits(node->op).kind == OpKind::View;
    for (const Node* input : inputs) {
      depends |= inside_.contains(input);
      constant &= constants_.contains(input);
    }
    if (node->op == Op::output) depends = inside_.contains(inputs[0]);
    if (!depends) {
      if (constant && !node->rule) constants_.insert(node);
      return;
    }
    inside_.insert(node);
    if (node->seq < request_.numbers.placeholders_) {
      copy_unless_closed(node);
      return;
    }
    node->flags |= kTracked | kTraced;
    leave_devices(node);
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (is_draw(inputs[k]) && !inside_.contains(inputs[k])) {
        fail(ErrorKind::Runtime, name_of(node->op),
             ": its random numbers were drawn before a loop or branch that evaluates it, and it "
             "depends on their state; draw tensors outside, and use them inside");
      }
      const NodeRef with = inside(inputs[k]);
      if (with != inputs[k]) replace_input(node, k, with.get());
    }
  }

  // True for a constant of the body from which this one is derived: a copy that closing made.
  bool is_closed_constant(const Node* node) const {
    const auto owns = [&](const Body* body) {
      return body && std::ranges::any_of(body->made, [&](const auto& range) {
               return range.first <= node->seq && node->seq < range.first + kPlaceholders;
             });
    };
    return constants_.contains(node) && (owns(request_.derived_from) || owns(request_.with));
  }

  // For a node of the body from which this one is derived. One that only a rule refers to was not
  // closed with that body: its inputs may be outside. It may be part of other derived bodies too.
  void copy_unless_closed(Node* node) {
    std::vector<NodeRef> inputs;
    bool closed = true;
    for (Node* input : node->inputs()) {
      inputs.push_back(is_closed_constant(input) ? NodeRef(input) : inside(input));
      closed &= inputs.back() == input;
    }
    if (closed) return;
    NodeRef copy = copy_node(node, pointers(inputs));
    copy->flags |= kTracked | kTraced;
    leave_devices(copy.get());
    copy->seq = next_++;
    copies_[node] = std::move(copy);
  }

  // The node inside that has the value of a node.
  NodeRef inside(Node* node) {
    if (const auto copy = copies_.find(node); copy != copies_.end()) return copy->second;
    return inside_.contains(node) ? NodeRef(node) : taken(node);
  }

  // The node that takes the place of `node`, which is outside.
  NodeRef taken(Node* node) {
    NodeRef& placeholder = placeholders_[node];
    if (placeholder) return placeholder;
    if (constants_.contains(node)) {
      std::vector<NodeRef> inputs;
      for (Node* input : node->inputs()) inputs.push_back(taken(input));
      NodeRef copy = copy_node(node, pointers(inputs));
      leave_devices(copy.get());
      copy->seq = next_++;
      return placeholders_[node] = copy;  // the reference may be invalid by now
    }
    placeholder = is_callback(node) ? copy_node(node, {}) : make_argument(node->dtype, node->shape);
    placeholder->flags |= node->flags & kWeak;
    placeholder->seq = next_++;
    closed_.body->inputs.push_back(placeholder);
    closed_.captured.emplace_back(node);
    return placeholder;
  }

  BodyRequest request_;
  ClosedBody closed_;
  uint64_t next_ = 0;
  std::vector<Node*> nodes_;
  std::vector<NodeRef> held_;  // keeps nodes_ alive, so that a new node cannot have the address of
                               // a replaced one
  std::vector<Node*> draws_;
  std::unordered_set<const Node*> arguments_;
  std::unordered_set<const Node*> inside_;     // depends on an argument, or must be inside
  std::unordered_set<const Node*> constants_;  // numbers, and one number repeated
  std::unordered_map<const Node*, NodeRef> placeholders_;
  std::unordered_map<const Node*, NodeRef> copies_;  // see copy_unless_closed
};

ClosedBody close_body(BodyRequest request) { return Closing(std::move(request)).run(); }

TensorType stacked(const Node* entry, int64_t count) {
  Shape shape;
  shape.append(count);
  for (int64_t n : entry->shape) shape.append(n);
  return {entry->dtype, shape};
}

namespace {

TensorType type_of(const Node* node) { return {node->dtype, node->shape}; }

// Flags of the inputs of the body that its roots depend on, and of all carries. A rule of the
// program may refer to any argument; but a loop is not replayed only because of that.
std::vector<uint8_t> inputs_in_use(const LoopRequest& request) {
  const Body& body = *request.body.body;
  const bool all = body.holds_rules && !request.replayed.body;
  const size_t kept =
      all ? body.inputs.size() - request.body.captured : static_cast<size_t>(request.form.carries);
  std::vector<Node*> reached;
  walk(pointers(body.roots), &reached, [](const Node* node) { return node->inputs(); });
  const std::unordered_set<const Node*> in_use(reached.begin(), reached.end());
  std::vector<uint8_t> out;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    out.push_back(i < kept || in_use.contains(body.inputs[i].get()));
  }
  return out;
}

// Merges the inputs of several bodies; a tensor that several use is listed once.
class Inputs {
 public:
  int32_t add(const NodeRef& input) {
    const auto [at, fresh] = places_.try_emplace(input.get(), static_cast<int32_t>(all.size()));
    if (fresh) all.push_back(input);
    return at->second;
  }
  int32_t add_own(const NodeRef& input) {
    all.push_back(input);
    return static_cast<int32_t>(all.size()) - 1;
  }
  std::vector<NodeRef> all;

 private:
  std::unordered_map<const Node*, int32_t> places_;
};

NodeRef make_operation(Op op, std::span<Node* const> inputs, const Ref<Operation>& operation) {
  NodeRef node = make_node(op, DType::Bool, {}, inputs);
  node->operation = operation;
  if (BatchScope::active() && std::ranges::any_of(inputs, is_draw)) node->flags |= kTraced;
  return node;
}

}  // namespace

NodeRef make_loop(LoopRequest request) {
  LoopForm& form = request.form;
  Body& body = *request.body.body;
  const auto carries = static_cast<size_t>(form.carries);
  const auto stacked_end = carries + static_cast<size_t>(form.stacked_in);
  const std::vector<uint8_t> in_use = inputs_in_use(request);
  Ref<Operation> operation(new Operation);
  Inputs inputs;
  std::vector<InputSource> sources;
  std::vector<NodeRef> kept;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    const bool along = i >= carries && i < stacked_end;
    if (!in_use[i]) {
      form.stacked_in -= along;
      continue;
    }
    kept.push_back(body.inputs[i]);
    if (along && request.replayed.body) {
      sources.push_back({static_cast<int32_t>(operation->residuals.size()), true});
      operation->residuals.push_back(request.residuals[i - carries]);
    } else {
      sources.push_back({i < stacked_end ? inputs.add_own(request.body.inputs[i])
                                         : inputs.add(request.body.inputs[i])});
    }
  }
  body.inputs = std::move(kept);
  operation->bodies.push_back(request.body.body);
  operation->inputs.push_back(std::move(sources));
  if (request.condition.body) {
    const Ref<Body>& body = request.condition.body;
    const std::vector<NodeRef>& constants = request.condition.inputs;
    auto& condition = operation->inputs.emplace_back();
    for (size_t i = 0; i < body->inputs.size() - constants.size(); ++i) {
      condition.push_back({static_cast<int32_t>(i)});
    }
    for (const NodeRef& constant : constants) condition.push_back({inputs.add(constant)});
    operation->bodies.push_back(body);
  }
  if (operation->replays()) {
    auto& replayed = operation->inputs.emplace_back();
    const size_t carries = request.replayed.body->roots.size();
    for (const NodeRef& input : request.replayed.inputs) {
      replayed.push_back({replayed.size() < carries ? inputs.add_own(input) : inputs.add(input)});
    }
    operation->bodies.push_back(request.replayed.body);
    operation->cotangents_of = std::move(request.cotangents_of);
  }
  if (request.count) inputs.add_own(request.count);
  operation->loop = form;
  for (size_t k = 0; k < body.roots.size(); ++k) {
    const Node* root = body.roots[k].get();
    operation->outputs.push_back(k < carries ? type_of(root) : stacked(root, form.trips));
  }
  operation->outputs.push_back({DType::Int64, {}});
  for (size_t k = 0; k < carries && form.has_trips(); ++k) {
    operation->outputs.push_back(stacked(body.roots[k].get(), form.trips));
  }
  return make_operation(Op::loop, pointers(inputs.all), operation);
}

BoundBody DerivedLoop::close(const Body& of, const BodyNumbers& numbers, LoopForm* form,
                             const Body* with) {
  form->carries = static_cast<int32_t>(carries.size());
  form->stacked_in = static_cast<int32_t>(scanned.size());
  form->stacked_out = static_cast<int32_t>(stacked_roots.size());
  BodyRequest closing{of.name, std::move(carries), std::move(next_carries), numbers, false, &of,
                      with};
  append(&closing.arguments, scanned);
  append(&closing.arguments, constants);
  closing.values_of_last = constant_values;
  append(&closing.roots, stacked_roots);
  append(&initial_carries, scanned_values);
  append(&initial_carries, constant_values);
  return close_body(std::move(closing)).bind_to(std::move(initial_carries));
}

NodeRef make_branch(const NodeRef& index, std::span<const BoundBody> choices) {
  Ref<Operation> operation(new Operation);
  Inputs inputs;
  inputs.add_own(index);
  for (const BoundBody& choice : choices) {
    operation->bodies.push_back(choice.body);
    auto& sources = operation->inputs.emplace_back();
    for (const NodeRef& input : choice.inputs) sources.push_back({inputs.add(input)});
  }
  for (const NodeRef& root : choices[0].body->roots) {
    operation->outputs.push_back(type_of(root.get()));
  }
  return make_operation(Op::branch, pointers(inputs.all), operation);
}

NodeRef output_of(const NodeRef& operation, size_t k) {
  const TensorType& type = operation->operation->outputs[k];
  NodeRef out = make_node(Op::output, type.dtype, type.shape, pointers({&operation, 1}));
  out->output = static_cast<uint32_t>(k);
  return out;
}

}  // namespace pullback
