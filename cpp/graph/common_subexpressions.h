// CommonSubexpressions: which nodes are made as another one is, of the same inputs. Series of
// derivatives close by it: the slope of sin makes a new cos, and the slope of that is the sin that
// is there.
#pragma once

#include <string>
#include <unordered_map>

#include "graph/node.h"

namespace pullback {

class CommonSubexpressions {
 public:
  // The number of the node that is known to be as `node` is; `number`, from now on, where there is
  // none. `number_of` says which node an input is; SIZE_MAX: itself, who must stay alive.
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
  // Writes what a node is beside its inputs into key_; false for one that is like no other.
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
