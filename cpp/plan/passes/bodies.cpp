// Bodies are planned like traced functions: their numbers are constants. A snapshot numbers leaves
// in the order of their first use, so the key also contains which input each leaf is, and the
// integers.
#include "plan/passes/bodies.h"

#include <cstring>
#include <string_view>
#include <unordered_map>

#include "plan/passes/cache.h"
#include "plan/passes/snapshot.h"

namespace pullback {
namespace {

struct KeptKey : Body::Planned {
  std::vector<unsigned char> bytes;
};

template <class T>
void append(const T& value, std::vector<unsigned char>* out) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
  out->insert(out->end(), bytes, bytes + sizeof value);
}

Snapshot snapshot_of(const Body& body, std::span<const uint8_t> wanted) {
  std::vector<Node*> roots;
  for (size_t k = 0; k < body.roots.size(); ++k) {
    if (wanted[k]) roots.push_back(body.roots[k].get());
  }
  // A body has no device (ops/body.cpp). It is planned for the host, and compiled anew for a step
  // that runs there from another device (plan/one_step.h).
  return take_snapshot(roots, true, {}, kHost);
}

// Maps arguments, numbers and results of the plan to the body's inputs and roots.
BodyPlan bind_inputs(const Body& body, std::span<const uint8_t> wanted, const Snapshot& snapshot) {
  std::unordered_map<const Node*, int32_t> input_at, result_at;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    input_at[body.inputs[i].get()] = static_cast<int32_t>(i);
  }
  for (size_t k = 0; k < snapshot.outputs.size(); ++k) {
    result_at[snapshot.nodes[snapshot.outputs[k]]] = static_cast<int32_t>(k);
  }
  BodyPlan out;
  for (uint32_t i : snapshot.arguments) {
    out.arguments.push_back({input_at.at(snapshot.nodes[i])});
  }
  for (uint32_t i : snapshot.scalars) {
    const Node* scalar = snapshot.nodes[i];
    const auto found = input_at.find(scalar);
    if (found == input_at.end()) {
      out.numbers.push_back(scalar->scalar);
    } else {
      const bool seed = (scalar->flags & kSeed) != 0;
      out.numbers.push_back(BodyPlan::ScalarInput{found->second, seed});
    }
  }
  for (size_t k = 0; k < body.roots.size(); ++k) {
    out.results.emplace_back();
    if (wanted[k]) out.results.back() = result_at.at(body.roots[k].get());
  }
  return out;
}

}  // namespace

std::span<const unsigned char> key_of(Body* body) {
  if (!body->planned) {
    const std::vector<uint8_t> all(body->roots.size(), 1);
    const Snapshot snapshot = snapshot_of(*body, all);
    const BodyPlan bound = bind_inputs(*body, all, snapshot);
    auto key = std::make_unique<KeptKey>();
    key->bytes = snapshot.key;
    const auto put = [&](const auto& value) { append(value, &key->bytes); };
    for (const InputSource& argument : bound.arguments) put(argument.number);
    for (const auto& number : bound.numbers) {
      const auto* input = std::get_if<BodyPlan::ScalarInput>(&number);
      put(input ? input->input : -1);
      put(input ? int64_t{input->seed} : std::get<Scalar>(number).i);
    }
    for (const auto& result : bound.results) put(result.value_or(-1));  // all are wanted
    put(static_cast<uint32_t>(bound.arguments.size()));
    put(static_cast<uint32_t>(bound.numbers.size()));
    put(static_cast<uint32_t>(bound.results.size()));
    body->planned = std::move(key);
  }
  return static_cast<const KeptKey*>(body->planned.get())->bytes;
}

// Each list is followed by its length, so the key can be divided unambiguously from its end.
std::vector<unsigned char> key_of(const Operation& operation) {
  std::vector<unsigned char> out;
  for (size_t b = 0; b < operation.bodies.size(); ++b) {
    const auto key = key_of(operation.bodies[b].get());
    out.insert(out.end(), key.begin(), key.end());
    append(static_cast<uint64_t>(key.size()), &out);
    for (const InputSource& source : operation.inputs[b]) {
      append(source.number, &out);
      append(source.residual, &out);
    }
    append(static_cast<uint32_t>(operation.inputs[b].size()), &out);
  }
  append(static_cast<uint32_t>(operation.bodies.size()), &out);
  const LoopForm& form = operation.loop;
  for (const int64_t number :
       {int64_t{form.carries}, int64_t{form.stacked_in}, int64_t{form.stacked_out}, form.trips,
        int64_t{form.reversed}, form.memory, static_cast<int64_t>(form.end)}) {
    append(number, &out);
  }
  for (const int32_t carry : operation.residuals) append(carry, &out);
  append(static_cast<uint32_t>(operation.residuals.size()), &out);
  const RoutineForm& matrix = operation.form;
  for (const int number : {static_cast<int>(matrix.routine), static_cast<int>(matrix.lower),
                           static_cast<int>(matrix.unit), static_cast<int>(matrix.transposition),
                           static_cast<int>(matrix.full), static_cast<int>(matrix.is_complex),
                           static_cast<int>(matrix.backwards), static_cast<int>(matrix.causal),
                           static_cast<int>(matrix.masked), static_cast<int>(matrix.dropped)}) {
    append(static_cast<uint8_t>(number), &out);
  }
  const std::string_view who = matrix.who ? matrix.who : "";  // errors of the plan contain it
  out.insert(out.end(), who.begin(), who.end());
  append(static_cast<uint32_t>(who.size()), &out);
  for (const int64_t number : {matrix.m, matrix.n, matrix.k, matrix.below, operation.batch,
                               matrix.fourier.points, int64_t{matrix.fourier.backward}}) {
    append(number, &out);
  }
  for (const double number : {matrix.fourier.factor, matrix.fourier.ends}) append(number, &out);
  return out;
}

BodyPlan plan_of(const Body& body, std::span<const uint8_t> wanted,
                 std::span<const InputSource> sources) {
  const Snapshot snapshot = snapshot_of(body, wanted);
  BodyPlan out = bind_inputs(body, wanted, snapshot);
  out.plan = find_plan(snapshot);
  for (InputSource& argument : out.arguments) argument = sources[argument.number];
  for (auto& number : out.numbers) {
    if (auto* input = std::get_if<BodyPlan::ScalarInput>(&number)) {
      input->input = sources[input->input].number;
    }
  }
  return out;
}

}  // namespace pullback
