// The gamma family is scalar and compiled once, not for each instruction set: see special/gamma.h.
#pragma once

#include "backend/cpu/special/gamma.h"

namespace pullback {
namespace {
namespace m {

using special::beta;
using special::betaln;
using special::digamma;
using special::gamma;
using special::gamma_nth;
using special::gammaln;
using special::gammasgn;
using special::polygamma;
using special::polygamma_gap;
using special::rgamma;
using special::rgamma_nth;

}  // namespace m
}  // namespace
}  // namespace pullback
