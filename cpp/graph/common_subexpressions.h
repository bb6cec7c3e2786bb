// Common subexpressions: finds the nodes that apply the same operation to the same inputs.
//
// Series of derivatives become short by it: the derivative of sin makes a new cos, and the
// derivative of that finds the sin that exists. A node is numbered by the bytes of its operation,
// its attributes and the numbers of its inputs.
#pragma once

#include <string>
#include <unordered_map>

#include "graph/node.h"

namespace pullback {

class CommonSubexpressions {
 public:
  // Returns the number of an equal node if there is one; else stores `node` as `number`.
  // `number_of` returns the number of an input, or SIZE_MAX for an input that is equal only to
  // itself; such a node must stay alive.
  template <class NumberOf>
  size_t find_or_add(const Node* node, size_t number, NumberOf&& number_of) {
    if (!start_key(node)) return number;
    for (const Node* input : node->inputs()) {
      const size_t known = number_of(input);
      if (known == SIZE_MAX) {
        add('p', reinterpret_cast<uintptr_t>(input));
      } else {
        add('n', known);
      }
    }
    return numbers_.try_emplace(key_, number).first->second;
  }

 private:
  // Writes operation and attributes into key_; false if the node is equal to no other.
  bool start_key(const Node* node);
  template <class T>
  void add(char what, const T& bits) {
    key_.push_back(what);
    key_.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }

  std::string key_;
  std::unordered_map<std::string, size_t> numbers_;
};

}  // namespace pullback
